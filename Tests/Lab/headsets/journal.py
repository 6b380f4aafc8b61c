"""What a headset did, as a file of JSON lines: the truth that a checker compares with what was stored.

Each line has `time` (nanoseconds, CLOCK_BOOTTIME unless there is `machineBooted`) and `event`. Samples are not listed one by
one. They follow exactly from

    boot            boot, number, seed, clocks: one {first, began, microhertz, channels} for each stream
    samplingBegan   boot, positions: the first position sampled, for each stream
    samplingEnded   boot, positions: the position after the last one, for each stream

by `headsets.clock` (position <-> time), `headsets.waveform` (values) and index = first + position modulo 2^32. A boot without
`samplingEnded` was sampling when the file ended. `unsent` [place, cycle] of a clock: positions whose remainder by `cycle` is
`place` never leave the headset. `headsets.truth` reads it all back.

Headsets that outlive the machine (`headsets.state`) log `machineBooted` at each start. Its `shift` is what is to be added to
that machine's CLOCK_BOOTTIME to have the headsets' time, in which all lines of the file are.

The other events: poweredOff, advertising (mode, address), silent (no longer advertises), vanished, returned, available (from
now on a central could connect: in range and advertising), connected, subscribed (uuid, on; requests: how many packets the
machine had sent on the link by then), disconnected (reason), written
(uuid, value; only with `"verbose": true`), condition (of a Buffered EEG headset), acknowledged (stream, position; at most one
a second), read (stream, first, end), overrun (stream, lost since power-on; at most one a second), lost, duplicated, stalled,
rotated (address), paired.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TextIO

from .clock import now


class Journal:
    """Appends to a headset's file; each line is written out at once, since the machine may be killed at any time."""

    def __init__(self, path: Path | None) -> None:
        self._file: TextIO | None = path.open("a", encoding="utf-8", buffering=1) if path is not None else None
        self.last: dict[str, int] = {}
        self.counts: dict[str, int] = {}

    def note(self, event: str, time: int | None = None, **fields: object) -> None:
        """Writes one line; without `time` it is now."""
        instant = now() if time is None else time
        self.last[event] = instant
        self.counts[event] = self.counts.get(event, 0) + 1
        if self._file is not None:
            self._file.write(json.dumps({"time": instant, "event": event, **fields}, separators=(",", ":")) + "\n")
