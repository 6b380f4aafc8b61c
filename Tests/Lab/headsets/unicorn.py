"""Firmware of a g.tec Unicorn Hybrid Black over Bluetooth Classic: frames of 45 bytes with a counter, from start to stop.

Source: unicorn2lsl and FieldTrip's reader, whose places agree; g.tec's Android example for the checksum of commands.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from .firmware import Appearance, Notification, Service
from .journal import Journal
from .kind import Kind, Specimen
from .session import SessionFirmware, SessionStream
from .thinkgear import SERIAL_PORT

START, STOP = 0x61, 0x63
ACKNOWLEDGEMENT = b"\0\0\0"
FREQUENCY = 250.0
_STREAMS = [SessionStream(FREQUENCY, 8), SessionStream(FREQUENCY, 3), SessionStream(FREQUENCY, 3)]


def checksum(data: bytes) -> int:
    """CRC-16 with the polynomial 1021 and preset 0."""
    register = 0
    for byte in data:
        register ^= byte << 8
        for _ in range(8):
            register = (register << 1 ^ (0x1021 if register & 0x8000 else 0)) & 0xFFFF
    return register


def command(code: int) -> bytes:
    """What a host writes: the code and its checksum, highest byte first."""
    return bytes([code]) + checksum(bytes([code])).to_bytes(2, "big")


def frame(battery: int, eeg: tuple[int, ...], motion: tuple[int, ...], counter: int) -> bytes:
    """One instant: C0 00, battery in fifteenths, 8 channels, 3 + 3 axes, counter, 0D 0A."""
    samples = b"".join((value & 0xFF_FFFF).to_bytes(3, "big") for value in eeg)
    return b"\xc0\0" + bytes([battery & 0x0F]) + samples + struct.pack("<6hI", *motion, counter & 0xFFFF_FFFF) + b"\r\n"


@dataclass(frozen=True)
class UnicornPlan:
    """What one headset is like."""

    seed: int
    crystal_ppm: float = 12.0
    battery: int = 12
    first_counter: int = 0


class UnicornFirmware(SessionFirmware):
    """Streams 0 ... 2 are EEG, accelerometer and gyroscope: the 16-bit values of `Waveform` as they are."""

    def __init__(self, name: str, journal: Journal, plan: UnicornPlan) -> None:
        super().__init__(name, journal, plan.seed, plan.crystal_ppm)
        self.plan = plan
        self._answers = b""

    def database(self) -> tuple[Service, ...]:
        return ()

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, ())

    def positions(self) -> list[int]:
        return [self.position] * len(_STREAMS)

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        self.end(now)
        self._answers = b""
        self._turn_due = None

    def write(self, uuid: str, value: bytes, now: int) -> None:
        if value not in (command(START), command(STOP)):
            return
        if value[0] == START:
            self.begin(now, _STREAMS, [self.plan.first_counter] * len(_STREAMS))
        else:
            self.end(now)
        self._answers += ACKNOWLEDGEMENT
        self.arm(now)

    def has_work(self) -> bool:
        return self.is_streaming or bool(self._answers)

    def turn(self, now: int) -> list[Notification]:
        out, self._answers = self._answers, b""
        if self.clock is not None:
            end = self.clock.position(now)
            first, count = self.plan.first_counter + self.position, end - self.position
            rows = zip(*(waveform.rows(first, count) for waveform in self.waveforms), strict=True)
            for counter, (eeg, acceleration, rotation) in enumerate(rows, first):
                out += frame(self.plan.battery, eeg, acceleration + rotation, counter)
            self.position = end
        self.turned(now)
        return [Notification(SERIAL_PORT, out)] if out else []


KINDS = (
    Kind(
        "unicorn",
        "unicorn",
        lambda headset, journal: UnicornFirmware(headset.name, journal, UnicornPlan(headset.seed, **headset.details)),
        number=32,
        specimens=(Specimen("UN-2021-0001", "60:B6:47:00:00:01", 61, scenario="unicorn", title="Unicorn"),),
        is_serial=True,
    ),
)
