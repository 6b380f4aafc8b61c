"""What a scenario notes while it runs: each fault, when the headset was available again, when samples came."""

from __future__ import annotations

import enum
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.measurements import percentile

NANOSECONDS = 1_000_000_000


class Goal(enum.Enum):
    """How soon samples must flow again: (median, 95th percentile) in seconds. The gate of 10 s holds for all."""

    # bluetoothd and the adapter kept running, however long the headset was away.
    RADIO = (0.4, 1.0)
    # bluetoothd, the adapter or the radio switch came back.
    SYSTEM = (1.5, 1.5)
    # The daemon was killed and restarted at once, on the link that survived.
    PROCESS = (0.5, 0.5)
    # Without bluetoothd, with the handles of an earlier link; and without.
    WARM = (0.25, 0.5)
    COLD = (1.0, 1.0)
    # No other goal than the gate.
    GATE = (10.0, 10.0)


GATE_SECONDS = 10.0
# The first samples of a recording, which is a return like every other one.
RECORD_START = "record start"


@dataclass(frozen=True)
class Mark:
    """A fault and what came after it; instants are CLOCK_BOOTTIME nanoseconds of boot number `boot` of the machine."""

    headset: str
    fault: str
    goal: Goal
    available: int
    first_sample: int | None
    boot: int = 0
    lost: int | None = None
    layer: str | None = None
    # `bluez` or `kernel`: how a headset of Low Energy was reached.
    route: str = "bluez"

    @property
    def latency(self) -> float | None:
        """Seconds from available to the first sample; None where there was none."""
        return None if self.first_sample is None else (self.first_sample - self.available) / NANOSECONDS

    def append_to(self, path: Path) -> None:
        """Adds it to a file of JSON lines."""
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**asdict(self), "goal": self.goal.name}) + "\n")


class Verdict:
    """How the returns after one kind of fault compare with their goal."""

    def __init__(self, marks: list[Mark]) -> None:
        self.latencies = sorted(mark.latency for mark in marks if mark.latency is not None)
        # Infinite where the headset did not always return.
        self.median = self.most = self.longest = float("inf")
        if self.latencies:
            self.median, self.most = percentile(self.latencies, 50), percentile(self.latencies, 95)
        if self.latencies and len(self.latencies) == len(marks):
            self.longest = self.latencies[-1]
        self._goal = marks[0].goal.value

    @property
    def is_met(self) -> bool:
        return self.longest < float("inf") and self.median <= self._goal[0] and self.most <= self._goal[1]

    @property
    def wanted(self) -> str:
        """The goal in words."""
        median, most = self._goal
        return f"≤ {median:g} s" if median == most else f"p50 ≤ {median:g} s, p95 ≤ {most:g} s"


def by_fault(marks: list[Mark]) -> dict[str, list[Mark]]:
    """The marks of each kind of fault, in the order in which the kinds first appeared."""
    groups: dict[str, list[Mark]] = {}
    for mark in marks:
        groups.setdefault(mark.fault, []).append(mark)
    return groups


def read_marks(path: Path) -> list[Mark]:
    """All marks of a file; none where it does not exist."""
    if not path.exists():
        return []
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Mark(**{**entry, "goal": Goal[entry["goal"]]}) for entry in entries]
