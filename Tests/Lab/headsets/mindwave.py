"""Firmware of a NeuroSky MindWave Mobile 2 over Bluetooth Low Energy: a handshake starts raw samples without any counter.

Source: NeuroSky's SDKs for Apple's and Android's systems.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from .clock import NANOSECONDS, SamplingClock
from .firmware import NOTIFY, WRITE, Appearance, Characteristic, Firmware, Notification, Service
from .journal import Journal
from .kind import Kind, Rows, Specimen, Values
from .waveform import Waveform, boot_identifier


def _uuid(number: int) -> str:
    return f"039a{number:04x}-2c94-11e3-9e06-0002a5d5c51b"


SERVICE, ESENSE, RAW, HANDSHAKE = _uuid(0xFFF0), _uuid(0xFFF8), _uuid(0xFFF4), _uuid(0xFFA0)

SAMPLES_PER_PACKET = 10
_FREQUENCY = 512.0
_PACKET_LENGTH = 20
# Band powers, delta first, of no particular person.
POWERS = (800_000, 90_000, 30_000, 25_000, 20_000, 15_000, 9000, 4000)


class Command(IntEnum):
    """What a handshake asks for."""

    START_RAW = 0x15
    STOP_RAW = 0x16
    START_ESENSE = 0x17
    STOP_ESENSE = 0x18
    NOTCH_50_HZ = 0x1B
    NOTCH_60_HZ = 0x1C


def handshake(command: int) -> bytes:
    """What a host writes: 77 01, the command, zeros, and the inverted sum of all bytes after the first."""
    body = bytes([0x01, command]).ljust(18, b"\0")
    return b"\x77" + body + bytes([sum(body) & 0xFF ^ 0xFF])


def handshake_command(written: bytes) -> int | None:
    """The command of a handshake; None where it is none."""
    if len(written) != _PACKET_LENGTH or written != handshake(written[2]):
        return None
    return written[2]


def raw_packet(samples: tuple[int, ...]) -> bytes:
    """Ten samples of 16 bits, highest byte first."""
    return struct.pack(">10h", *samples)


def esense_packets(poor_signal: int, attention: int, meditation: int, powers: tuple[int, ...]) -> list[bytes]:
    """Signal quality, attention and meditation, and the power of eight bands, delta first."""
    first = bytearray(_PACKET_LENGTH)
    first[0], first[6], first[8], first[10] = 0xEA, poor_signal, attention, meditation
    packets = [bytes(first)]
    for code, four in ((0xEB, powers[:4]), (0xEC, powers[4:])):
        packet = bytearray(_PACKET_LENGTH)
        packet[0] = code
        for place, power in zip((5, 9, 13, 17), four, strict=True):
            packet[place : place + 3] = power.to_bytes(3, "big")
        packets.append(bytes(packet))
    return packets


@dataclass(frozen=True)
class MindWavePlan:
    """What one headset is like."""

    seed: int
    crystal_ppm: float = 12.0
    # 0 is good, 200 is off the head.
    poor_signal: int = 0


class MindWaveFirmware(Firmware):
    """Each start of raw samples is a boot of its own in the journal. Samples are `raw_samples` of `Waveform`'s values."""

    shows_serial = True

    def __init__(self, name: str, journal: Journal, plan: MindWavePlan) -> None:
        super().__init__(name, journal)
        self.plan = plan
        self.starts = 0
        self.boot = 0
        self._clock: SamplingClock | None = None
        self._waveform = Waveform(plan.seed, 0, 0, 1)
        self._packets = 0
        self._esense_due: int | None = None

    def database(self) -> tuple[Service, ...]:
        notify = frozenset({NOTIFY})
        handshake_characteristic = Characteristic(HANDSHAKE, frozenset({WRITE}))
        return (Service(SERVICE, (Characteristic(ESENSE, notify), Characteristic(RAW, notify), handshake_characteristic)),)

    def device_information(self) -> dict[str, bytes]:
        return {"2A29": b"NeuroSky", "2A24": b"MindWave Mobile 2", "2A26": b"1.0", "2A27": b"1.0"}

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, (SERVICE,))

    # Power and link

    def power_off(self, now: int) -> None:
        self.disconnected(now)

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        self._stop(now)
        self._esense_due = None

    def state(self) -> dict[str, Any]:
        return {"starts": self.starts, "boot": self.boot, "ends": self._ends()}

    def resume(self, state: dict[str, Any], now: int) -> None:
        """It has stopped with its link; what it sent after the last save is not known and not told."""
        self.starts = state["starts"]
        if state["ends"]:
            self.journal.note("samplingEnded", now, boot=state["boot"], positions=state["ends"])

    def _ends(self) -> list[int]:
        return [self._packets * SAMPLES_PER_PACKET] if self._clock is not None else []

    def _start(self, now: int) -> None:
        if self._clock is not None:
            return
        self.boot = boot_identifier(self.plan.seed, self.starts)
        self._clock = SamplingClock(now, _FREQUENCY, self.plan.crystal_ppm)
        self._waveform = Waveform(self.plan.seed, self.boot, 0, 1)
        self._packets = 0
        clock = {"first": 0, "began": now, "microhertz": self._clock.microhertz, "channels": 1}
        self.journal.note("boot", now, boot=self.boot, number=self.starts, seed=self.plan.seed, clocks=[clock])
        self.journal.note("samplingBegan", now, boot=self.boot, positions=[0])
        self.starts += 1

    def _stop(self, now: int) -> None:
        if self._clock is not None:
            # Samples that did not fill a packet are gone.
            self.journal.note("samplingEnded", now, boot=self.boot, positions=self._ends())
        self._clock = None

    # Commands

    def write(self, uuid: str, value: bytes, now: int) -> None:
        match handshake_command(value) if uuid == HANDSHAKE else None:
            case Command.START_RAW:
                self._start(now)
            case Command.STOP_RAW:
                self._stop(now)
            case Command.START_ESENSE:
                self._esense_due = now + NANOSECONDS
            case Command.STOP_ESENSE:
                self._esense_due = None

    # Sending

    def next_turn(self, now: int) -> int | None:
        if self.link is None:
            return None
        due = [self._esense_due] if self._esense_due is not None else []
        if self._clock is not None:
            due.append(self._clock.time((self._packets + 1) * SAMPLES_PER_PACKET - 1))
        return min(due, default=None)

    def turn(self, now: int) -> list[Notification]:
        out = []
        if self._clock is not None:
            while self._clock.position(now) >= (self._packets + 1) * SAMPLES_PER_PACKET:
                rows = self._waveform.rows(self._packets * SAMPLES_PER_PACKET, SAMPLES_PER_PACKET)
                out.append(Notification(RAW, raw_packet(raw_samples(rows))))
                self._packets += 1
        if self._esense_due is not None and now >= self._esense_due:
            self._esense_due += NANOSECONDS
            packets = esense_packets(self.plan.poor_signal, 50, 60, POWERS)
            out += [Notification(ESENSE, packet) for packet in packets]
        return out

    def statistics(self, now: int) -> dict[str, object]:
        return {"streaming": self._clock is not None, "starts": self.starts, "boot": self.boot, "packets": self._packets}


def raw_samples(rows: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The samples that stand for the 16-bit values of `Waveform`: the module's converter has 12 bits."""
    return tuple(row[0] >> 4 for row in rows)


def _values(stream: str) -> Values:
    def single(rows: Rows) -> Rows:
        return [(sample,) for sample in raw_samples(rows)]

    return single


KINDS = (
    Kind(
        "mindwave",
        "mindwave",
        lambda headset, journal: MindWaveFirmware(headset.name, journal, MindWavePlan(headset.seed, **headset.details)),
        number=35,
        specimens=(Specimen("MindWave Mobile", "C0:68:9E:00:00:01", 51, scenario="mindwave", title="MindWave Mobile 2"),),
        other=Specimen("MindWave Mobile+", "C0:68:9E:00:06:66", 5166),
        values=_values,
        scenarios=("bluetoothd",),
    ),
)
