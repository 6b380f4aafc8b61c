"""Firmware of a NeuroSky MindWave Mobile over Bluetooth Classic: the ThinkGear serial stream, which begins with the link.

Source: NeuroSky's page "ThinkGear communications protocol".
"""

from __future__ import annotations

import struct
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .clock import SamplingClock
from .firmware import Appearance, Firmware, Link, Notification, Service
from .journal import Journal
from .kind import Kind, Specimen
from .mindwave import POWERS, MindWavePlan
from .waveform import Waveform, boot_identifier

if TYPE_CHECKING:
    from .description import HeadsetDescription

# Where a firmware names the characteristic that it notifies, this one names its serial port.
SERIAL_PORT = "serial port"
_FREQUENCY = 512.0


def frame(payload: bytes) -> bytes:
    """AA AA, the length, the payload, its inverted sum."""
    return b"\xaa\xaa" + bytes([len(payload)]) + payload + bytes([sum(payload) & 0xFF ^ 0xFF])


def raw_frame(sample: int) -> bytes:
    """Code 80: a raw sample."""
    return frame(b"\x80\x02" + struct.pack(">h", sample))


def power_frame(poor_signal: int, attention: int, meditation: int, powers: tuple[int, ...]) -> bytes:
    """Codes 02, 83, 04, 05: once a second."""
    bands = b"".join(power.to_bytes(3, "big") for power in powers)
    return frame(bytes([0x02, poor_signal, 0x83, len(bands)]) + bands + bytes([0x04, attention, 0x05, meditation]))


class RecordedStream:
    """Bytes that were read from a real headset's serial port, again and again; what `Waveform` is for invented samples."""

    def __init__(self, path: str) -> None:
        self._bytes = Path(path).read_bytes()
        self._samples: list[int] = []
        # Where the frame of each sample begins; what lies between two of them belongs to the first.
        self._starts: list[int] = []
        self._read()

    def __len__(self) -> int:
        return len(self._samples)

    def _read(self) -> None:
        """The frames of raw samples; everything else is left where it is."""
        place = 0
        while (place := self._bytes.find(b"\xaa\xaa\x04\x80\x02", place)) >= 0 and place + 8 <= len(self._bytes):
            payload = self._bytes[place + 3 : place + 7]
            if sum(payload) & 0xFF ^ 0xFF == self._bytes[place + 7]:
                self._samples += struct.unpack(">h", payload[2:])
                self._starts.append(place)
                place += 8
            else:
                place += 1

    def sent(self, index: int, count: int) -> bytes:
        """The bytes of some samples, with all that the headset sent between them."""
        out = []
        for number in range(index, index + count):
            place = number % len(self)
            end = self._starts[place + 1] if place + 1 < len(self) else len(self._bytes)
            out.append(self._bytes[self._starts[place] : end])
        return b"".join(out)

    def rows(self, index: int, count: int) -> list[tuple[int, ...]]:
        """Of which `samples` makes what was sent, as of `Waveform`'s values."""
        return [(self._samples[number % len(self)] << 4,) for number in range(index, index + count)]


@lru_cache(maxsize=1)
def recorded_stream(path: str) -> RecordedStream:
    """A recording, read once."""
    return RecordedStream(path)


def samples(rows: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The samples that stand for the 16-bit values of `Waveform`: the module's converter has 12 bits."""
    return [(row[0] >> 4,) for row in rows]


class ThinkGearFirmware(Firmware):
    """Each link is a boot of its own in the journal. Samples are the 16-bit values of `Waveform`, divided by 16; with
    `recording`, a file's bytes are sent instead, each link from where the last one had ended.
    """

    def __init__(self, name: str, journal: Journal, plan: MindWavePlan, recording: str | None = None) -> None:
        super().__init__(name, journal)
        self.plan = plan
        self._recording = recorded_stream(recording) if recording else None
        self._recording_path = recording
        # The first sample of this link in the recording.
        self._first = 0
        self.starts = 0
        self.boot = 0
        self._clock: SamplingClock | None = None
        self._waveform = Waveform(plan.seed, 0, 0, 1)
        self._position = 0

    def database(self) -> tuple[Service, ...]:
        return ()

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, ())

    def power_off(self, now: int) -> None:
        self.disconnected(now)

    def connected(self, link: Link, now: int) -> None:
        super().connected(link, now)
        self.begin(now)

    def begin(self, now: int) -> None:
        """Begins to send; nothing where it does so already."""
        if self._clock is not None:
            return
        self.boot = boot_identifier(self.plan.seed, self.starts)
        self._clock = SamplingClock(now, _FREQUENCY, self.plan.crystal_ppm)
        self._waveform = Waveform(self.plan.seed, self.boot, 0, 1)
        self._position = 0
        clock: dict[str, Any] = {"began": now, "microhertz": self._clock.microhertz, "channels": 1, "first": self._first}
        if self._recording_path is not None:
            clock["recording"] = self._recording_path
        self.journal.note("boot", now, boot=self.boot, number=self.starts, seed=self.plan.seed, clocks=[clock])
        self.journal.note("samplingBegan", now, boot=self.boot, positions=[0])
        self.starts += 1

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        if self._clock is not None:
            self.journal.note("samplingEnded", now, boot=self.boot, positions=[self._position])
            if self._recording is not None:
                self._first += self._position
        self._clock = None

    def state(self) -> dict[str, Any]:
        return {"starts": self.starts, "boot": self.boot, "ends": [self._position] if self._clock is not None else []}

    def resume(self, state: dict[str, Any], now: int) -> None:
        """It has stopped with its link; what it sent after the last save is not known and not told."""
        self.starts = state["starts"]
        if state["ends"]:
            self.journal.note("samplingEnded", now, boot=state["boot"], positions=state["ends"])

    def next_turn(self, now: int) -> int | None:
        if self._clock is None or self.link is None:
            return None
        # 15 frames at a time: 120 bytes fill a packet.
        return self._clock.time(self._position + 14)

    def turn(self, now: int) -> list[Notification]:
        if self._clock is None:
            return []
        end = self._clock.position(now)
        if self._recording is not None:
            value = self._recording.sent(self._first + self._position, end - self._position)
            self._position = end
            return self.notifications(value)
        out = []
        rows = samples(self._waveform.rows(self._position, end - self._position))
        for position, row in enumerate(rows, self._position):
            out.append(raw_frame(row[0]))
            if position % 512 == 511:
                out.append(power_frame(self.plan.poor_signal, 50, 60, POWERS))
        self._position = end
        return self.notifications(b"".join(out))

    def notifications(self, value: bytes) -> list[Notification]:
        """How bytes of the stream go out: a serial port takes any number at once."""
        return [Notification(SERIAL_PORT, value)]

    def statistics(self, now: int) -> dict[str, object]:
        return {"streaming": self._clock is not None, "starts": self.starts, "boot": self.boot, "position": self._position}


def _made(headset: HeadsetDescription, journal: Journal) -> Firmware:
    details = dict(headset.details)
    recording = details.pop("recording", None)
    return ThinkGearFirmware(headset.name, journal, MindWavePlan(headset.seed, **details), recording)


# Its scenarios are those of serial ports: `scenarios.serial_port`.
KINDS = (
    Kind(
        "thinkgear",
        "thinkgear",
        _made,
        number=22,
        specimens=(Specimen("MindWaveMobile-0001", "20:68:9D:00:00:01", 41),),
        is_serial=True,
        values=lambda stream: samples,
    ),
)
