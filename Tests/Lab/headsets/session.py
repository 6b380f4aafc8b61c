"""What headsets without memory have in common: they sample from a start to a stop, and each start is a boot in the journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .clock import SamplingClock
from .firmware import Firmware
from .journal import Journal
from .waveform import Waveform, boot_identifier


@dataclass(frozen=True)
class SessionStream:
    """A stream of such a headset; the first one paces the packets."""

    frequency: float
    channels: int


class SessionFirmware(Firmware):
    """Keeps clocks, waveforms and journal of the present session; `position` is the first packet that was not sent."""

    def __init__(self, name: str, journal: Journal, seed: int, crystal_ppm: float) -> None:
        super().__init__(name, journal)
        self.seed = seed
        self.crystal_ppm = crystal_ppm
        self.starts = 0
        self.boot = 0
        self.position = 0
        self.clocks: list[SamplingClock] = []
        self.waveforms: list[Waveform] = []
        self._turn_due: int | None = None

    @property
    def is_streaming(self) -> bool:
        """True between start and stop."""
        return bool(self.clocks)

    @property
    def clock(self) -> SamplingClock | None:
        """That of the first stream, which paces the packets; none between two sessions."""
        return self.clocks[0] if self.clocks else None

    def positions(self) -> list[int]:
        """By stream: the first position that was not sent."""
        raise NotImplementedError

    def begin(
        self, now: int, streams: list[SessionStream], firsts: list[int] | None = None, begins: list[int] | None = None
    ) -> None:
        """Starts a session; `firsts` are the indexes of the streams' positions 0, which are 0 unless given.

        `begins`: when their positions 0 are taken, where that is not now.
        """
        self.end(now)
        self.boot = boot_identifier(self.seed, self.starts)
        begins = begins or [now] * len(streams)
        self.clocks = [
            SamplingClock(at, stream.frequency, self.crystal_ppm) for at, stream in zip(begins, streams, strict=True)
        ]
        self.waveforms = [Waveform(self.seed, self.boot, place, stream.channels) for place, stream in enumerate(streams)]
        self.position = 0
        firsts = firsts or [0] * len(streams)
        notes = [
            {"first": first, "began": clock.began, "microhertz": clock.microhertz, "channels": stream.channels}
            for first, clock, stream in zip(firsts, self.clocks, streams, strict=True)
        ]
        self.journal.note("boot", now, boot=self.boot, number=self.starts, seed=self.seed, clocks=notes)
        self.journal.note("samplingBegan", now, boot=self.boot, positions=[0] * len(streams))
        self.starts += 1

    def end(self, now: int) -> None:
        """Ends the session, if there is one; samples that were taken but not sent are gone."""
        if self.clocks:
            self.journal.note("samplingEnded", now, boot=self.boot, positions=self.positions())
        self.clocks = []

    def power_off(self, now: int) -> None:
        self.end(now)
        self.link = None

    def state(self) -> dict[str, Any]:
        return {"starts": self.starts, "boot": self.boot, "ends": self.positions() if self.is_streaming else []}

    def resume(self, state: dict[str, Any], now: int) -> None:
        """It was switched off meanwhile; what it sent after the last save is not known and not told."""
        self.starts = int(state["starts"])
        if state["ends"]:
            self.journal.note("samplingEnded", now, boot=state["boot"], positions=state["ends"])
        self.power_on(now)

    def has_work(self) -> bool:
        """True where the next turn of the radio sends something."""
        return self.is_streaming

    def arm(self, now: int) -> None:
        """Asks for the next turn of the radio, if there is a link and something to send."""
        if self.link is None or not self.has_work():
            self._turn_due = None
        elif self._turn_due is None:
            self._turn_due = now + self.link.interval

    def turned(self, now: int) -> None:
        """A turn is over."""
        self._turn_due = None
        self.arm(now)

    def next_turn(self, now: int) -> int | None:
        return self._turn_due

    def statistics(self, now: int) -> dict[str, Any]:
        return {"streaming": self.is_streaming, "starts": self.starts, "boot": self.boot, "position": self.position}
