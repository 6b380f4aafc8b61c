"""Time as the lab counts it."""

from __future__ import annotations

import time

NANOSECONDS = 1_000_000_000
# Frequencies are kept in whole microhertz, so that sample times are exact integers on every machine.
_MICROHERTZ = 1_000_000
_PERIODS = NANOSECONDS * _MICROHERTZ


# The headsets' time less CLOCK_BOOTTIME; not 0 only where they outlive the machine, see `headsets.state`.
_shift = 0


def boottime() -> int:
    """CLOCK_BOOTTIME in nanoseconds: the clock of eegsync's time map."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def now() -> int:
    """The headsets' time in nanoseconds: CLOCK_BOOTTIME of the first machine, going on over all later ones."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) + _shift


def shift() -> int:
    """What is to be added to this machine's CLOCK_BOOTTIME to have the headsets' time."""
    return _shift


def go_on_from(instant: int) -> None:
    """Sets the headsets' time."""
    global _shift  # noqa: PLW0603, time is one for all headsets
    _shift = instant - boottime()


class SamplingClock:
    """A crystal: which sampling period it is at an instant. Position 0 is at `began`."""

    def __init__(self, began: int, frequency: float, crystal_ppm: float = 0.0) -> None:
        self.began = began
        self.microhertz = round(frequency * (1 + crystal_ppm * 1e-6) * _MICROHERTZ)

    def position(self, instant: int) -> int:
        """How many sampling periods have begun at an instant: the position of the next sample."""
        if instant < self.began:
            return 0
        return (instant - self.began) * self.microhertz // _PERIODS + 1

    def time(self, position: int) -> int:
        """When the sample at a position was taken: the first nanosecond at which `position(instant)` exceeds it."""
        return self.began - (-position * _PERIODS) // self.microhertz
