"""Firmware of an OpenBCI Cyton, behind a serial radio or with one of its own that speaks Bluetooth Low Energy.

Source: OpenBCI's Cyton firmware library 3.1.2. The board does not know of the link: it streams from `b` to `s`, with or without
a listener.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .firmware import NOTIFY, READ, WRITE_WITHOUT_RESPONSE, Appearance, Characteristic, Link, Notification, Service
from .journal import Journal
from .kind import Kind, Specimen
from .session import SessionFirmware, SessionStream
from .thinkgear import SERIAL_PORT

SERVICE, DATA, COMMAND, DISCONNECT = "2220", "2221", "2222", "2223"
FREQUENCY = 250.0
BLE_INSTANTS = 3
# What a board at rest measures, in counts of 0.000125 g; it comes in one frame of ten.
_ACCELERATION = (160, -240, 7900)
# Commands of several characters, by the last one; None: the second character is the last.
_LONG = {"x": "X", "z": "Z", "/": None, "~": None}


def _samples(values: Sequence[int]) -> bytes:
    return b"".join((value & 0xFF_FFFF).to_bytes(3, "big") for value in values)


def frame(number: int, eeg: Sequence[int], auxiliary: bytes = b"", kind: int = 0) -> bytes:
    """One frame of the serial stream: A0, the number, 8 channels, 6 further bytes, and what these are."""
    return bytes([0xA0, number & 0xFF]) + _samples(eeg) + auxiliary.ljust(6, b"\0") + bytes([0xC0 | kind])


def ble_packet(number: int, rows: Sequence[Sequence[int]]) -> bytes:
    """One packet of the board's own radio: three instants of two channels."""
    return bytes([0xC0, number & 0xFF]) + b"".join(_samples(row) for row in rows)


@dataclass(frozen=True)
class CytonPlan:
    """What one headset is like."""

    seed: int
    crystal_ppm: float = 12.0
    # True where a Daisy is plugged on: 16 channels at 125 Hz.
    daisy: bool = False


class _CytonCommands(SessionFirmware):
    """Takes the characters of commands one by one."""

    def __init__(self, name: str, journal: Journal, plan: CytonPlan) -> None:
        super().__init__(name, journal, plan.seed, plan.crystal_ppm)
        self.plan = plan
        self.answers = b""
        self._pending = ""

    def start(self, now: int) -> None:
        """`b`."""
        raise NotImplementedError

    def answer(self, command: str) -> str:
        """What the board says to another command."""
        return ""

    def take(self, value: bytes, now: int) -> None:
        """Obeys each command of a write."""
        for character in value.decode("latin-1"):
            if self._pending:
                self._pending += character
                if _LONG[self._pending[0]] in (None, character):
                    self._pending = ""
            elif character in _LONG:
                self._pending = character
            elif character == "b":
                self.start(now)
            elif character == "s":
                self.end(now)
            elif not self.is_streaming and (text := self.answer(character)):
                self.answers += f"{text}$$$".encode()
        self.arm(now)

    def disconnected(self, now: int) -> None:
        """It streams on."""
        super().disconnected(now)
        self.answers = b""
        self._turn_due = None

    def skip_backlog(self, end: int, backlog: int, step: int) -> None:
        """What nobody took is gone, but for what the radio holds."""
        if end - self.position > backlog:
            self.position += (end - self.position - backlog + step - 1) // step * step


class CytonFirmware(_CytonCommands):
    """A Cyton behind a serial radio. Stream 0 is EEG: the 16-bit values of `Waveform` as they are.

    With a Daisy, streams 0 and 1 are its two banks. The acceleration is always the same, and in no journal.
    """

    def __init__(self, name: str, journal: Journal, plan: CytonPlan) -> None:
        super().__init__(name, journal, plan)
        self.uses_daisy = plan.daisy

    def database(self) -> tuple[Service, ...]:
        return ()

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, ())

    def power_on(self, now: int) -> None:
        self.uses_daisy = self.plan.daisy

    def positions(self) -> list[int]:
        # An odd frame and the even one behind it are one instant: frames 0 ... 2k-1 hold instants 0 ... k of the board's bank.
        return [self.position // 2 + 1, (self.position + 1) // 2] if self.uses_daisy else [self.position]

    def connected(self, link: Link, now: int) -> None:
        super().connected(link, now)
        self.arm(now)

    def write(self, uuid: str, value: bytes, now: int) -> None:
        self.take(value, now)

    def start(self, now: int) -> None:
        banks = 2 if self.uses_daisy else 1
        self.begin(now, [SessionStream(FREQUENCY / banks, 8)] * banks)

    def answer(self, command: str) -> str:
        match command:
            case "C":
                found = "" if self.uses_daisy else "daisy attached$$$" if self.plan.daisy else "no daisy to attach!$$$"
                self.uses_daisy = self.plan.daisy
                return found + ("16" if self.plan.daisy else "8")
            case "c" if self.uses_daisy:
                self.uses_daisy = False
                return "daisy removed"
            case "v":
                return "OpenBCI V3 8-16 channel\nOn Board ADS1299 Device ID: 0x3E\nLIS3DH Device ID: 0x33\nFirmware: v3.1.2\n"
            case "d":
                return "updating channel settings to default"
            case "<" | ">":
                return f"Time stamp {'ON' if command == '<' else 'OFF'}"
        return ""

    def has_work(self) -> bool:
        return self.is_streaming or bool(self.answers)

    def turn(self, now: int) -> list[Notification]:
        out = b""
        if self.clock is not None:
            banks = 2 if self.uses_daisy else 1
            end = self.clock.position(now) * banks
            self.skip_backlog(end, 64, 1)
            while self.position < end:
                out += self._frame(self.position)
                self.position += 1
        # Texts come while it does not stream, behind the last frame.
        out += self.answers
        self.answers = b""
        self.turned(now)
        return [Notification(SERIAL_PORT, out)] if out else []

    def _frame(self, position: int) -> bytes:
        bank = 1 if self.uses_daisy and position % 2 == 0 else 0
        instant = (position + 1) // 2 if self.uses_daisy else position
        auxiliary = b"".join(value.to_bytes(2, "big", signed=True) for value in _ACCELERATION) if position % 10 == 7 else b""
        return frame(position, self.waveforms[bank].rows(instant, 1)[0], auxiliary)


class CytonBLEFirmware(_CytonCommands):
    """A Cyton with a radio of its own. Its only stream is EEG: the 16-bit values of `Waveform` as they are."""

    def database(self) -> tuple[Service, ...]:
        writable = frozenset({WRITE_WITHOUT_RESPONSE})
        return (
            Service(
                SERVICE,
                (
                    Characteristic(DATA, frozenset({READ, NOTIFY})),
                    Characteristic(COMMAND, writable),
                    Characteristic(DISCONNECT, writable),
                ),
            ),
        )

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, (SERVICE,))

    def positions(self) -> list[int]:
        return [self.position]

    def start(self, now: int) -> None:
        self.begin(now, [SessionStream(FREQUENCY / 2, 2)])

    def write(self, uuid: str, value: bytes, now: int) -> None:
        if uuid == DISCONNECT:
            self.requests.append("disconnect")
        elif uuid == COMMAND:
            self.take(value, now)

    def subscribed(self, uuid: str, now: int) -> None:
        self.arm(now)

    def turn(self, now: int) -> list[Notification]:
        out: list[bytes] = []
        if self.clock is not None:
            end = self.clock.position(now)
            self.skip_backlog(end, 16 * BLE_INSTANTS, BLE_INSTANTS)
            while self.position + BLE_INSTANTS <= end:
                out.append(ble_packet(self.position, self.waveforms[0].rows(self.position, BLE_INSTANTS)))
                self.position += BLE_INSTANTS
        self.turned(now)
        return [Notification(DATA, packet) for packet in out]


KINDS = (
    Kind(
        "cyton",
        "cyton",
        lambda headset, journal: CytonFirmware(headset.name, journal, CytonPlan(headset.seed, **headset.details)),
        number=33,
        specimens=(Specimen("OpenBCI-0001", "00:06:66:00:00:01", 71, scenario="cyton", title="Cyton"),),
        is_serial=True,
    ),
    Kind(
        "cyton-ble",
        "cyton-ble",
        lambda headset, journal: CytonBLEFirmware(headset.name, journal, CytonPlan(headset.seed, **headset.details)),
        number=25,
        specimens=(Specimen("RFduino", "C0:00:00:00:06:01", 61, scenario="cyton-ble", title="Cyton BLE"),),
        other=Specimen("RFduino-2", "C0:00:00:00:06:66", 6166),
    ),
)
