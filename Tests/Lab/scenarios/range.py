"""Out of range, and back."""

from __future__ import annotations

from functools import partial

from guest.lab import Lab
from lab.scenario import SLOW, STRANGER, Scenario


def _away(lab: Lab, seconds: float, times: int, fault: str) -> None:
    lab.start()
    lab.record("left")
    for _ in range(times):
        lab.undisturbed()
        lab.away("left", seconds, fault)
    lab.undisturbed()


SCENARIOS = [
    Scenario(1, "away-5s", "out of range for 5 s", [partial(_away, seconds=5, times=4, fault="away 5 s")]),
    Scenario(1, "away-60s", "out of range for 60 s", [partial(_away, seconds=60, times=2, fault="away 60 s")]),
    Scenario(
        1,
        "away-1h",
        "out of range for 1 h",
        [partial(_away, seconds=3600, times=1, fault="away 1 h")],
        headsets=(SLOW, STRANGER),
        time_error_seconds=0.15,
    ),
]
