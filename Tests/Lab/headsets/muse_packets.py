"""Bytes of an InteraXon Muse 2, as muse-js, muse-lsl and BrainFlow agree on them."""

from __future__ import annotations

import struct
from collections.abc import Sequence

SERVICE = "FE8D"


def _uuid(number: int) -> str:
    return f"273e{number:04x}-4c4d-454d-96be-f03bac821358"


CONTROL = _uuid(0x01)
# TP9, AF7, AF8, TP10 and the right auxiliary electrode.
EEG = tuple(_uuid(number) for number in (0x03, 0x04, 0x05, 0x06, 0x07))
GYROSCOPE = _uuid(0x09)
ACCELEROMETER = _uuid(0x0A)
TELEMETRY = _uuid(0x0B)
# Ambient, infrared, red.
PPG = tuple(_uuid(number) for number in (0x0F, 0x10, 0x11))
# Left auxiliary electrode, reference, magnetometer, pressure, ultraviolet: there, but silent.
UNUSED = tuple(_uuid(number) for number in (0x02, 0x08, 0x0C, 0x0D, 0x0E))

# The order in which the five packets of one instant arrive: AUX, TP10, AF8, TP9, AF7.
EEG_ORDER = (4, 3, 2, 0, 1)
EEG_PER_PACKET = 12
MOTION_PER_PACKET = 3
PPG_PER_PACKET = 6
_CONTROL_LENGTH = 20


def eeg_packet(sequence: int, samples: Sequence[int]) -> bytes:
    """A counter and 12 unsigned samples of 12 bits, highest bit first; 2048 is 0 microvolts."""
    value = 0
    for sample in samples:
        value = value << 12 | sample & 0xFFF
    return struct.pack(">H", sequence & 0xFFFF) + value.to_bytes(18, "big")


def motion_packet(sequence: int, rows: Sequence[Sequence[int]]) -> bytes:
    """A counter and three times x, y, z."""
    return struct.pack(">H9h", sequence & 0xFFFF, *(value for row in rows for value in row))


def ppg_packet(sequence: int, samples: Sequence[int]) -> bytes:
    """A counter and six unsigned samples of 24 bits."""
    return struct.pack(">H", sequence & 0xFFFF) + b"".join((sample & 0xFF_FFFF).to_bytes(3, "big") for sample in samples)


def telemetry_packet(sequence: int, battery_percent: float, millivolts: float, temperature: int) -> bytes:
    """Battery in 1/512 %, fuel gauge in 2.2 mV, converter, temperature; zeros."""
    numbers = (sequence & 0xFFFF, round(battery_percent * 512), round(millivolts / 2.2), round(millivolts), temperature)
    return struct.pack(">5H", *numbers).ljust(20, b"\0")


def command_text(written: bytes) -> str | None:
    """The text of a command: its length with the line feed, the text, a line feed. None where that is not so."""
    if len(written) < 2 or written[0] != len(written) - 1 or written[-1] != 0x0A:
        return None
    return written[1:-1].decode("ascii", "replace")


class ControlText:
    """Splits the answers' text into notifications.

    Each holds the number of characters that count, the characters, and whatever the buffer held before: hosts that read on
    into the padding get pieces of earlier answers. Answers follow each other without a boundary, so that one notification may
    end one object and begin the next.
    """

    def __init__(self) -> None:
        self._waiting = ""
        self._buffer = bytearray(_CONTROL_LENGTH)

    def say(self, text: str) -> None:
        """Adds an answer."""
        self._waiting += text

    def clear(self) -> None:
        """Forgets what was not sent; the buffer keeps its stale bytes."""
        self._waiting = ""

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def next(self) -> bytes:
        """The next notification."""
        part = self._waiting[: _CONTROL_LENGTH - 1].encode("ascii")
        self._waiting = self._waiting[_CONTROL_LENGTH - 1 :]
        self._buffer[0] = len(part)
        self._buffer[1 : 1 + len(part)] = part
        return bytes(self._buffer)
