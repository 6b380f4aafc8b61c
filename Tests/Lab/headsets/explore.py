"""Firmware of a Mentalab Explore: packets with the headset's own time, as long as somebody listens.

Source: Mentalab's explorepy 4 and its test files.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from .clock import NANOSECONDS
from .firmware import NOTIFY, WRITE, WRITE_WITHOUT_RESPONSE, Appearance, Characteristic, Notification, Service
from .journal import Journal
from .kind import Kind, Rows, Specimen, Values
from .session import SessionFirmware, SessionStream

_TAIL = "b5a3-f393-e0a9-e50e24dcca9e"
TRAILER = b"\xaf\xbe\xad\xde"
TICKS = 100_000
ORIENTATION, ENVIRONMENT, INFORMATION = 13, 19, 98
RECEIVED, STATUS, PUSH_MARKER = 192, 193, 194
# By channels: the kind of a packet of one instant.
PACKET_KINDS = {8: 151, 16: 153, 32: 152}
_FREQUENCY, _MOTION_FREQUENCY = 250, 20
_COMMANDS = (0xA1, 0xA6, 0xA7)


def uuids(nordic: bool) -> tuple[str, str, str]:
    """Service, characteristic for commands, characteristic for packets."""
    first = "6e40000" if nordic else "fffe000"
    return (f"{first}1-{_TAIL}", f"{first}2-{_TAIL}", f"{first}3-{_TAIL}")


def packet(kind: int, number: int, ticks: int, content: bytes) -> bytes:
    """Kind, number, length from the time on, time, content, trailer."""
    return struct.pack("<BBHI", kind, number & 0xFF, len(content) + 8, ticks & 0xFFFF_FFFF) + content + TRAILER


def eeg_content(row: Sequence[int]) -> bytes:
    """One instant: 24 bits, highest byte first, each eight channels in reverse."""
    return b"".join((row[place ^ 7] & 0xFF_FFFF).to_bytes(3, "big") for place in range(len(row)))


def command(code: int, argument: int = 0) -> bytes:
    """What a host writes: a command of two bytes."""
    return struct.pack("<BBHIBB", 0xA0, 0, 10, 0, code, argument) + TRAILER


@dataclass(frozen=True)
class ExplorePlan:
    """What one headset is like."""

    seed: int
    crystal_ppm: float = 12.0
    # 8, 16 or 32.
    channels: int = 8
    # True where it has Nordic's UART service in place of its own.
    nordic: bool = False


class ExploreFirmware(SessionFirmware):
    """Streams 0 ... 2 are accelerometer, gyroscope, magnetometer; 3 the environment; from 4 on the banks of the EEG.

    They are the 16-bit values of `Waveform` as they are; of the environment, see `surroundings`.
    """

    def __init__(self, name: str, journal: Journal, plan: ExplorePlan) -> None:
        super().__init__(name, journal, plan.seed, plan.crystal_ppm)
        self.plan = plan
        self.service, self.command, self.data = uuids(plan.nordic)
        self._powered = 0
        self._firsts: list[int] = []
        self._motions = 0
        self._surroundings = 0
        self._answers: list[bytes] = []
        self._number = 0

    def database(self) -> tuple[Service, ...]:
        commands = Characteristic(self.command, frozenset({WRITE, WRITE_WITHOUT_RESPONSE}))
        return (Service(self.service, (commands, Characteristic(self.data, frozenset({NOTIFY})))),)

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, () if self.plan.nordic else (self.service,))

    def power_on(self, now: int) -> None:
        self._powered = now

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        self.end(now)
        self._answers = []
        self._turn_due = None

    @property
    def _banks(self) -> int:
        return self.plan.channels // 8

    def positions(self) -> list[int]:
        return [self._motions] * 3 + [self._surroundings] + [self.position] * self._banks

    def _own_time(self, now: int) -> int:
        """Nanoseconds on the headset's clock."""
        return 123_450_000 + now - self._powered

    def _ticks(self, now: int) -> int:
        return self._own_time(now) * TICKS // NANOSECONDS

    def subscribed(self, uuid: str, now: int) -> None:
        is_heard = self.link is not None and self.data in self.link.notifying
        if is_heard and not self.is_streaming:
            # Each stream goes on at the next multiple of its period on the headset's clock.
            ticks, own = self._ticks(now), self._own_time(now)
            frequencies = [_MOTION_FREQUENCY] * 3 + [1] + [_FREQUENCY] * self._banks
            self._firsts = [-(-own * frequency // NANOSECONDS) for frequency in frequencies]
            begins = [now - own + first * NANOSECONDS // f for first, f in zip(self._firsts, frequencies, strict=True)]
            self._motions = self._surroundings = 0
            channels = [3, 3, 3, 3] + [8] * self._banks
            self.begin(
                now, [SessionStream(float(f), c) for f, c in zip(frequencies, channels, strict=True)], self._firsts, begins
            )
            board = b"PCB_303_801E_XX\0" + struct.pack("<HBBBB", 706, 6, 0xFF, 1, 0x14)
            self._answers.append(self._packet(INFORMATION, ticks, board))
        elif not is_heard:
            self.end(now)
        self.arm(now)

    def write(self, uuid: str, value: bytes, now: int) -> None:
        if uuid != self.command or len(value) != 14 or value[0] != 0xA0 or value[-4:] != TRAILER:
            return
        reference = value[8:9] + value[4:8]
        is_obeyed = value[8] in _COMMANDS
        self._answers.append(self._packet(RECEIVED, self._ticks(now), reference))
        self._answers.append(self._packet(STATUS, self._ticks(now), reference + bytes([is_obeyed])))
        self.arm(now)

    def press(self, now: int) -> None:
        self._answers.append(self._packet(PUSH_MARKER, self._ticks(now), b"\0\0"))
        self.arm(now)

    def has_work(self) -> bool:
        return self.is_streaming or bool(self._answers)

    def _packet(self, kind: int, ticks: int, content: bytes) -> bytes:
        self._number += 1
        return packet(kind, self._number, ticks, content)

    def turn(self, now: int) -> list[Notification]:
        packets, self._answers = self._answers, []
        if self.clock is not None:
            packets += self._due(now)
        longest = self.link.longest if self.link is not None else 20
        self.turned(now)
        return [Notification(self.data, value) for value in joined(packets, longest)]

    def _due(self, now: int) -> list[bytes]:
        """The packets whose samples were taken by now."""
        out: list[bytes] = []
        end = self.clocks[4].position(now)
        banks = [waveform.rows(self._firsts[4] + self.position, end - self.position) for waveform in self.waveforms[4:]]
        for parts in zip(*banks, strict=True):
            ticks = (self._firsts[4] + self.position) * TICKS // _FREQUENCY
            row = [value for part in parts for value in part]
            out.append(self._packet(PACKET_KINDS[self.plan.channels], ticks, eeg_content(row)))
            self.position += 1
        while self._motions < self.clocks[0].position(now):
            index = self._firsts[0] + self._motions
            axes = [value for waveform in self.waveforms[:3] for value in waveform.rows(index, 1)[0]]
            out.append(self._packet(ORIENTATION, index * TICKS // _MOTION_FREQUENCY, struct.pack("<9h", *axes)))
            self._motions += 1
        while self._surroundings < self.clocks[3].position(now):
            index = self._firsts[3] + self._surroundings
            values = surroundings(self.waveforms[3].rows(index, 1)[0])
            out.append(self._packet(ENVIRONMENT, index * TICKS, struct.pack("<BHH", *values)))
            self._surroundings += 1
        return out


def surroundings(row: Sequence[int]) -> tuple[int, ...]:
    """Temperature, light and battery that stand for the 16-bit values of `Waveform`."""
    return (row[0] & 0xFF, row[1] & 0xFFFF, row[2] & 0xFFFF)


def joined(packets: Sequence[bytes], longest: int) -> list[bytes]:
    """As many whole packets in a notification as fit; a longer one takes several."""
    out: list[bytes] = []
    for value in packets:
        if out and len(out[-1]) + len(value) <= longest:
            out[-1] += value
        else:
            out += [value[start : start + longest] for start in range(0, len(value), longest)]
    return out


def _environment(rows: Rows) -> Rows:
    return [surroundings(row) for row in rows]


def _values(stream: str) -> Values:
    return _environment if stream == "environment" else list


KINDS = (
    Kind(
        "explore",
        "explore",
        lambda headset, journal: ExploreFirmware(headset.name, journal, ExplorePlan(headset.seed, **headset.details)),
        number=24,
        specimens=(Specimen("Explore_8441", "C0:00:00:00:05:01", 51, scenario="explore", title="Explore"),),
        other=Specimen("Explore_0666", "C0:00:00:00:05:66", 5166, details={"channels": 16}),
        values=_values,
    ),
)
