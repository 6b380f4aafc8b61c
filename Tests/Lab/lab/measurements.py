"""What a scenario measures with the host's clock, for the report: latencies of notifications, and processor time."""

from __future__ import annotations

import enum
import json
from dataclasses import asdict, dataclass
from pathlib import Path


class Reader(enum.Enum):
    """Who receives the notifications."""

    EEGSYNC = "eegsync"
    # floor/reader.c, on a descriptor of the same kind.
    BARE = "bare C reader"


@dataclass(frozen=True)
class Measurement:
    """Figures of one reader on one route, by their names."""

    # What was sent, such as "256 notifications/s of 42 bytes".
    sent: str
    # `bluez` or `kernel`, as in the configuration.
    route: str
    reader: Reader
    # Seconds: p50, p95, p99. Or processors for 1,000 notifications/s, by the name of the program.
    seconds: dict[str, float] | None = None
    processors: dict[str, float] | None = None

    def append_to(self, path: Path) -> None:
        """Adds it to a file of JSON lines."""
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**asdict(self), "reader": self.reader.name}) + "\n")


def read_measurements(path: Path) -> list[Measurement]:
    """All measurements of a file; none where it does not exist."""
    if not path.exists():
        return []
    entries = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [Measurement(**{**entry, "reader": Reader[entry["reader"]]}) for entry in entries]


def percentile(ascending: list[float], percent: float) -> float:
    """The smallest value that at least so many percent of the values do not exceed."""
    rank = max(1, -(-len(ascending) * percent // 100))
    return ascending[int(rank) - 1]
