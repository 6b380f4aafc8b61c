"""All kinds of headsets: those that the files of this folder have in their `KINDS`."""

from __future__ import annotations

import importlib
from functools import cache
from pathlib import Path

from .kind import Kind


@cache
def kinds() -> dict[str, Kind]:
    """By name, in the order of the documentation's table."""
    # Only they are loaded: the others need the radio, which whoever asks may not have.
    files = [path for path in sorted(Path(__file__).parent.glob("*.py")) if "\nKINDS = " in path.read_text(encoding="utf-8")]
    found: list[Kind] = []
    for path in files:
        found += importlib.import_module(f".{path.stem}", __package__).KINDS
    found.sort(key=lambda kind: (kind.number, kind.name))
    if len({kind.name for kind in found}) < len(found):
        raise ValueError("two kinds of headsets have one name")
    return {kind.name: kind for kind in found}


def kind_named(name: str) -> Kind:
    """One kind; raises ValueError where there is none of the name."""
    if name not in kinds():
        raise ValueError(f"no such kind: {name}; there are {', '.join(sorted(kinds()))}")
    return kinds()[name]
