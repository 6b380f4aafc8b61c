"""Firmware of a NeuroSky MindWave Mobile over Bluetooth Classic: the ThinkGear serial stream, which begins with the link.

Source: NeuroSky's page "ThinkGear communications protocol".
"""

from __future__ import annotations

import struct
from typing import Any

from .clock import SamplingClock
from .firmware import Appearance, Firmware, Link, Notification, Service
from .journal import Journal
from .mindwave import POWERS, MindWavePlan
from .waveform import Waveform, boot_identifier

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


class ThinkGearFirmware(Firmware):
    """Each link is a boot of its own in the journal. Samples are the 16-bit values of `Waveform`, divided by 16."""

    def __init__(self, name: str, journal: Journal, plan: MindWavePlan) -> None:
        super().__init__(name, journal)
        self.plan = plan
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
        self.boot = boot_identifier(self.plan.seed, self.starts)
        self._clock = SamplingClock(now, _FREQUENCY, self.plan.crystal_ppm)
        self._waveform = Waveform(self.plan.seed, self.boot, 0, 1)
        self._position = 0
        clock = {"first": 0, "began": now, "microhertz": self._clock.microhertz, "channels": 1}
        self.journal.note("boot", now, boot=self.boot, number=self.starts, seed=self.plan.seed, clocks=[clock])
        self.journal.note("samplingBegan", now, boot=self.boot, positions=[0])
        self.starts += 1

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        if self._clock is not None:
            self.journal.note("samplingEnded", now, boot=self.boot, positions=[self._position])
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
        out = []
        for position, row in enumerate(self._waveform.rows(self._position, end - self._position), self._position):
            out.append(raw_frame(row[0] >> 4))
            if position % 512 == 511:
                out.append(power_frame(self.plan.poor_signal, 50, 60, POWERS))
        self._position = end
        return [Notification(SERIAL_PORT, b"".join(out))]

    def statistics(self, now: int) -> dict[str, object]:
        return {"streaming": self._clock is not None, "starts": self.starts, "boot": self.boot, "position": self._position}


