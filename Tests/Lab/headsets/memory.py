"""The memory of one stream of a headset with the Buffered EEG service."""

from __future__ import annotations

from dataclasses import dataclass, field

from .buffered_messages import GapReason

# Indexes are compared by the sign of their difference modulo 2^32.
CAPACITY_MAXIMUM = 2**31 - 1


@dataclass
class Run:
    """Positions at which samples were taken without a pause; `end` is None while sampling goes on."""

    start: int
    end: int | None = None


@dataclass
class RingMemory:
    """Which positions are held. A ring: the newest sample takes the place of the oldest one.

    The values need no place, since they are a function of the position. What is here is exactly what a ring knows: how far
    it was overwritten, how far it was acknowledged, and what was lost between the two.
    """

    capacity: int
    runs: list[Run] = field(default_factory=list)
    floor: int = 0
    acknowledged: int = 0
    lost: int = 0

    def __post_init__(self) -> None:
        self.capacity = max(1, min(self.capacity, CAPACITY_MAXIMUM))

    def begin(self, position: int) -> None:
        """Sampling begins at a position."""
        self.runs.append(Run(position))

    def stop(self, position: int) -> None:
        """Sampling ends before a position."""
        if self.runs and self.runs[-1].end is None:
            self.runs[-1].end = position

    def settle(self, end: int) -> int:
        """Overwrites what is too old when everything before `end` was taken; tells how many samples were lost by it."""
        floor = end - self.capacity
        if floor <= self.floor:
            return 0
        start = max(self.floor, self.acknowledged)
        lost = 0
        for run in self.runs:
            stop = floor if run.end is None else min(run.end, floor)
            lost += max(0, stop - max(run.start, start))
        self.floor = floor
        self.lost += lost
        return lost

    def acknowledge(self, position: int) -> None:
        """Forgets everything before a position."""
        self.acknowledged = max(self.acknowledged, position)

    def oldest(self, end: int) -> int:
        """The first position held; `end` where memory is empty."""
        kept = max(self.floor, self.acknowledged)
        for run in self.runs:
            if (end if run.end is None else run.end) > kept:
                return min(max(kept, run.start), end)
        return end

    def content(self, position: int, end: int) -> tuple[int, GapReason | None]:
        """How far from `position` (below `end`) memory is of one kind, and why it has no samples there, if so."""
        kept = max(self.floor, self.acknowledged)
        if position < kept:
            return min(kept, end), GapReason.OVERWRITTEN
        for run in self.runs:
            if position < run.start:
                return min(run.start, end), GapReason.NOT_SAMPLED
            if run.end is None or position < run.end:
                return (end if run.end is None else min(run.end, end)), None
        return end, GapReason.NOT_SAMPLED
