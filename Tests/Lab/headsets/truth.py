"""Reads a journal back: which samples a headset took, when, and with what values."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .clock import SamplingClock
from .thinkgear import RecordedStream, recorded_stream
from .waveform import Waveform

# Three weeks at 500 Hz.
_COUNTABLE = 10**9


@dataclass
class TrueStream:
    """One stream of one boot. A position counts sampling periods; the headset sends index = first + position mod 2^32."""

    first: int
    clock: SamplingClock
    waveform: Waveform | RecordedStream
    # Positions from ... up to but not including ...; None: sampling went on when the journal ended.
    runs: list[tuple[int, int | None]] = field(default_factory=list)
    # (place, cycle): positions whose remainder by `cycle` is `place` are sampled, but never sent.
    unsent: tuple[int, int] | None = None

    def index(self, position: int) -> int:
        """The index of a position, as it is sent."""
        return (self.first + position) & 0xFFFF_FFFF

    def sampled(self, until: int) -> list[tuple[int, int]]:
        """The positions that were sampled for sending before an instant: ranges from ... up to but not including ... ."""
        newest = self.clock.position(until)
        ranges = [(start, newest if end is None else min(end, newest)) for start, end in self.runs]
        # Without an end and with an `until` beyond all time there is nothing to count.
        if self.unsent is not None and all(end - start < _COUNTABLE for start, end in ranges):
            ranges = [part for start, end in ranges for part in _without(start, end, *self.unsent)]
        return [(start, end) for start, end in ranges if start < end]

    def rows(self, position: int, count: int) -> list[tuple[int, ...]]:
        """The values of `count` positions: int16 of `Waveform`; a kind's own integers follow from them."""
        return self.waveform.rows(self.index(position), count)


@dataclass
class TrueBoot:
    """What a headset did under one boot identifier (without one: between two starts of streaming)."""

    identifier: int
    number: int
    began: int
    streams: list[TrueStream]


@dataclass
class Truth:
    """A whole journal."""

    boots: list[TrueBoot] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)

    def boot(self, identifier: int) -> TrueBoot | None:
        """The boot with an identifier."""
        return next((boot for boot in self.boots if boot.identifier == identifier), None)

    def times(self, event: str) -> list[int]:
        """When an event happened, in nanoseconds of the headsets' time."""
        return [int(entry["time"]) for entry in self.events if entry["event"] == event]


def read_journal(path: Path) -> Truth:
    """Reads a journal; a last line that is not complete is left out, since the machine may have been killed."""
    truth = Truth()
    for entry in _lines(path):
        truth.events.append(entry)
        match entry["event"]:
            case "boot":
                truth.boots.append(_boot(entry))
            case "samplingBegan":
                for stream, position in _positions(truth, entry):
                    stream.runs.append((position, None))
            case "samplingEnded":
                for stream, position in _positions(truth, entry):
                    if stream.runs:
                        stream.runs[-1] = (stream.runs[-1][0], position)
    return truth


def _without(start: int, end: int, place: int, cycle: int) -> Iterator[tuple[int, int]]:
    """A range without the positions at one place of each cycle."""
    left_out = start + (place - start) % cycle
    while left_out < end:
        yield start, left_out
        start = left_out + 1
        left_out += cycle
    yield start, end


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def _boot(entry: dict[str, Any]) -> TrueBoot:
    streams = []
    for number, clock in enumerate(entry["clocks"]):
        sampling = SamplingClock(clock["began"], 1.0)
        sampling.microhertz = clock["microhertz"]
        waveform: Waveform | RecordedStream = Waveform(entry["seed"], entry["boot"], number, clock["channels"])
        if "recording" in clock:
            waveform = recorded_stream(clock["recording"])
        unsent = tuple(clock["unsent"]) if "unsent" in clock else None
        streams.append(TrueStream(clock["first"], sampling, waveform, unsent=unsent))
    return TrueBoot(entry["boot"], entry["number"], entry["time"], streams)


def _positions(truth: Truth, entry: dict[str, Any]) -> Iterator[tuple[TrueStream, int]]:
    boot = truth.boot(entry["boot"])
    if boot is not None:
        yield from zip(boot.streams, entry["positions"], strict=True)
