"""The machine's clock. It is simulated: waiting costs no time."""

from __future__ import annotations

import select
import time
from collections.abc import Callable
from typing import TypeVar

NANOSECONDS = 1_000_000_000
# How often a condition is looked at. Each look costs real time, the pause between two does not.
_STEP_SECONDS = 0.01

_Found = TypeVar("_Found")


def now() -> int:
    """CLOCK_BOOTTIME in nanoseconds."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def let_pass(seconds: float) -> None:
    """Lets simulated time pass."""
    if seconds > 0:
        select.select([], [], [], seconds)


def wait_for(condition: Callable[[], _Found | None], seconds: float, step: float = _STEP_SECONDS) -> _Found | None:
    """What a condition returns as soon as that is neither None nor False; None where time runs out."""
    end = now() + round(seconds * NANOSECONDS)
    while True:
        found = condition()
        if found is not None and found is not False:
            return found
        if now() >= end:
            return None
        let_pass(step)
