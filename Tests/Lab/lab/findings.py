"""What the checks found in what a scenario left."""

from __future__ import annotations

from dataclasses import dataclass, field

from lab.marks import Mark
from lab.measurements import Measurement


@dataclass
class Findings:
    """Problems, and the figures for the report."""

    problems: list[str] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    # Seconds from the moment when a headset went out of range to the moment when eegsync noticed.
    losses_noticed: list[float] = field(default_factory=list)
    rows: int = 0
    gaps: int = 0
    missing: int = 0
    recovered: int = 0
    # Rows of the first stream of headsets without memory that are missing beyond those that were due during outages.
    lost_beyond_outages: int | None = None
    # Lines for a person, and figures for the report.
    figures: list[str] = field(default_factory=list)
    measurements: list[Measurement] = field(default_factory=list)
    # The largest difference between a sample's stored time and when it was taken.
    time_error_seconds: float = 0.0

    def problem(self, text: str) -> None:
        """Notes a broken promise."""
        self.problems.append(text)

    def add(self, other: Findings) -> None:
        """Takes over what another check found."""
        self.problems += other.problems
        self.marks += other.marks
        self.losses_noticed += other.losses_noticed
        self.rows += other.rows
        self.gaps += other.gaps
        self.missing += other.missing
        self.recovered += other.recovered
        self.figures += other.figures
        self.measurements += other.measurements
        if other.lost_beyond_outages is not None:
            self.lost_beyond_outages = (self.lost_beyond_outages or 0) + other.lost_beyond_outages
        self.time_error_seconds = max(self.time_error_seconds, other.time_error_seconds)
