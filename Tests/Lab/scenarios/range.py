"""Out of range, and back."""

from __future__ import annotations

from functools import partial

from guest.lab import Lab
from lab.scenario import RARE_STRANGER, SLOW, Scenario, Step, through


def away(seconds: float, times: int) -> Step:
    """Out of range for so long, so many times."""
    length = f"{seconds:.0f} s" if seconds < 3600 else f"{seconds / 3600:.0f} h"
    return through(partial(Lab.away, name="left", seconds=seconds, fault=f"away {length}"), times)


SCENARIOS = [
    Scenario(1, "away-5s", "out of range for 5 s", [away(5, times=4)]),
    Scenario(1, "away-60s", "out of range for 60 s", [away(60, times=2)]),
    Scenario(
        1,
        "away-1h",
        "out of range for 1 h",
        [away(3600, times=1)],
        headsets=(SLOW, RARE_STRANGER),
        time_error_seconds=0.15,
    ),
]
