"""Which scenarios are performed."""

from __future__ import annotations

from collections.abc import Sequence

from lab.scenario import Scenario

# What the name of a scenario begins with that is performed without bluetoothd, where there is one with it.
KERNEL = "kernel-"


def chosen(scenarios: Sequence[Scenario], words: Sequence[str], *, with_long: bool) -> list[Scenario]:
    """Those that the words name: by number, name or beginning of a name; without words all that do not take minutes.

    Raises LookupError for a word that names none.
    """
    if not words:
        return [scenario for scenario in scenarios if with_long or not scenario.is_long]
    found: list[Scenario] = []
    for word in words:
        named = [s for s in scenarios if s.name == word or str(s.number) == word]
        named = named or [s for s in scenarios if s.name.startswith(word)]
        if not named:
            raise LookupError(f"there is no scenario {word}; --list shows them")
        found += [scenario for scenario in named if scenario not in found]
    return found


def one_route(scenarios: Sequence[Scenario], seed: int) -> list[Scenario]:
    """Of those that are performed with and without bluetoothd, every second one with it and the others without.

    The next seed takes the other half. All others stay.
    """
    names = {scenario.name for scenario in scenarios}
    pairs = [s.name for s in scenarios if not s.name.startswith(KERNEL) and KERNEL + s.name in names]
    left_out = {name if (place + seed) % 2 else KERNEL + name for place, name in enumerate(pairs)}
    return [scenario for scenario in scenarios if scenario.name not in left_out]


def share(scenarios: Sequence[Scenario], parts: int, seed: int) -> list[Scenario]:
    """One of so many equal parts. Of seeds in a row every two take the same, which `one_route` then makes both routes of."""
    return list(scenarios[seed // 2 % parts :: parts])
