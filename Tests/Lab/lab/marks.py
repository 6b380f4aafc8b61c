"""What a scenario notes while it runs: each fault, when the headset was available again, when samples came."""

from __future__ import annotations

import enum
import json
from dataclasses import asdict, dataclass
from pathlib import Path

NANOSECONDS = 1_000_000_000


class Goal(enum.Enum):
    """How soon samples must flow again: (median, 95th percentile) in seconds. The gate of 10 s holds for all."""

    # bluetoothd and the adapter kept running, however long the headset was away.
    RADIO = (0.4, 1.0)
    # bluetoothd, the adapter or the radio switch came back.
    SYSTEM = (1.5, 1.5)
    # The daemon was killed and restarted at once, on the link that survived.
    PROCESS = (0.5, 0.5)
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

    @property
    def latency(self) -> float | None:
        """Seconds from available to the first sample; None where there was none."""
        return None if self.first_sample is None else (self.first_sample - self.available) / NANOSECONDS

    def append_to(self, path: Path) -> None:
        """Adds it to a file of JSON lines."""
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**asdict(self), "goal": self.goal.name}) + "\n")


def read_marks(path: Path) -> list[Mark]:
    """All marks of a file; none where it does not exist."""
    if not path.exists():
        return []
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Mark(**{**entry, "goal": Goal[entry["goal"]]}) for entry in entries]
