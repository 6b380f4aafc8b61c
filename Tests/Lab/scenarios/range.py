"""Out of range, and back."""

from __future__ import annotations

from functools import partial

from guest.lab import Lab
from lab.marks import Goal
from lab.scenario import RARE_STRANGER, SLOW, Scenario


def away(lab: Lab, seconds: float, times: int, fault: str | None = None, is_paged: bool = False) -> None:
    """Out of range, and back. A headset that is paged answers once it has noticed itself that its old link is gone."""
    lab.start()
    lab.record("left")
    fault = fault or f"away {seconds:.0f} s"
    for _ in range(times):
        lab.undisturbed()
        if is_paged:
            lost = lab.tell("vanish", "left")
            lab.pass_time(seconds)
            lab.expect_return("left", lab.tell("return", "left"), fault, Goal.GATE, lost, advertising=True)
        else:
            lab.away("left", seconds, fault)
    lab.undisturbed()


SCENARIOS = [
    Scenario(1, "away-5s", "out of range for 5 s", [partial(away, seconds=5, times=4)]),
    Scenario(1, "away-60s", "out of range for 60 s", [partial(away, seconds=60, times=2)]),
    Scenario(
        1,
        "away-1h",
        "out of range for 1 h",
        [partial(away, seconds=3600, times=1, fault="away 1 h")],
        headsets=(SLOW, RARE_STRANGER),
        time_error_seconds=0.15,
    ),
]
