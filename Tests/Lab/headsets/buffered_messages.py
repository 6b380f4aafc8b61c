"""Bytes of the Buffered EEG service: the page BufferedEEGService of the documentation, version 1."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

SERVICE = "ab870001-81bc-439d-a90a-be5d3a2ce5f9"
PAIRING_SERVICE = "ab870002-81bc-439d-a90a-be5d3a2ce5f9"
CONTROL = "ab870003-81bc-439d-a90a-be5d3a2ce5f9"
DATA = "ab870004-81bc-439d-a90a-be5d3a2ce5f9"

VERSION = 1
_BLOCK_OVERHEAD = 18
_CHANNEL_TYPES = ["EEG", "EOG", "EMG", "ECG", "ACCEL", "GYRO", "MAGN", "PPG", "TEMP", "TRIG"]


class Opcode(IntEnum):
    """First byte of a command."""

    STATUS = 0x01
    WAKE = 0x02
    CONFIGURE = 0x03
    START = 0x04
    STOP = 0x05
    READ = 0x06
    CREDIT = 0x07
    ACKNOWLEDGE = 0x08
    ABORT = 0x09
    SET_TIME = 0x0A


COMMAND_LENGTHS = {
    Opcode.STATUS: 1,
    Opcode.WAKE: 1,
    Opcode.CONFIGURE: 1,
    Opcode.START: 1,
    Opcode.STOP: 1,
    Opcode.READ: 8,
    Opcode.CREDIT: 4,
    Opcode.ACKNOWLEDGE: 6,
    Opcode.ABORT: 2,
    Opcode.SET_TIME: 13,
}


class Code(IntEnum):
    """Third byte of a RESULT."""

    SUCCESS = 0
    UNKNOWN_COMMAND = 1
    WRONG_LENGTH = 2
    NO_SUCH_STREAM = 3
    INDEX_BEYOND_NEWEST = 4
    WRONG_CONDITION = 5
    FAILED = 6


class Condition(IntEnum):
    """What the headset does."""

    STREAMING = 0
    SAMPLING = 1
    IDLE = 2
    LOW_POWER = 3
    BOOTLOADER = 4
    WRONG_CONFIGURATION = 5


class GapReason(IntEnum):
    """Why samples cannot be had."""

    OVERWRITTEN = 0
    UNREADABLE = 1
    NOT_SAMPLED = 2


class EndReason(IntEnum):
    """Why a read ended."""

    COMPLETE = 0
    ABORTED = 1
    FAILED = 2


@dataclass(frozen=True)
class Channel:
    """A channel as the status report describes it."""

    name: str
    type: str = "EEG"
    unit: str = "uV"
    # 4.5 V / 24 / (2^23 - 1): an ADS1299 at gain 24, in microvolts a count.
    scale: float = 4.5 / 24 / 8_388_607 * 1e6
    offset: float = 0.0
    bits: int = 24


@dataclass(frozen=True)
class Stream:
    """A stream as the status report describes it."""

    name: str
    frequency: float
    channels: tuple[Channel, ...]
    bank: int = 0


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        remainder = value
        for _ in range(8):
            remainder = remainder >> 1 ^ 0x82F63B78 if remainder & 1 else remainder >> 1
        table.append(remainder)
    return table


_CRC_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli) as in RFC 3720, appendix B.4."""
    table = _CRC_TABLE
    value = 0xFFFF_FFFF
    for byte in data:
        value = value >> 8 ^ table[(value ^ byte) & 0xFF]
    return value ^ 0xFFFF_FFFF


def _checked(message: bytes) -> bytes:
    return message + struct.pack("<I", crc32c(message))


def _text(text: str, most: int) -> bytes:
    encoded = text.encode("ascii")[:most]
    return bytes([len(encoded)]) + encoded


def result(opcode: int, code: Code) -> bytes:
    """RESULT: the answer to every command but STATUS."""
    return bytes([0x84, opcode & 0xFF, code])


def status_header(
    condition: Condition, battery: int, boot: int, ticks: int, ticks_per_second: int, ranges: Sequence[tuple[int, int, int]]
) -> bytes:
    """STATUS_HEADER; `ranges` holds oldest, end and lost count of each stream."""
    head = struct.pack("<BBBBIQIB", 0x81, VERSION, condition, battery, boot, ticks, ticks_per_second, len(ranges))
    return head + b"".join(struct.pack("<III", o, e, min(lost, 0xFFFF_FFFF)) for o, e, lost in ranges)


def status_end(streams: int) -> bytes:
    """STATUS_END."""
    return bytes([0x83, streams])


def stream_messages(number: int, stream: Stream, longest: int) -> list[bytes]:
    """STREAM, as often as the channels need with messages of at most `longest` bytes."""
    messages = []
    first = 0
    while first < len(stream.channels):
        body = b""
        count = 0
        fixed = 14 + 1 + len(stream.name)
        for channel in stream.channels[first:]:
            encoded = _channel(channel)
            if count and fixed + len(body) + len(encoded) > longest:
                break
            body += encoded
            count += 1
        head = struct.pack("<BBBBBBd", 0x82, number, stream.bank, len(stream.channels), first, count, stream.frequency)
        messages.append(head + _text(stream.name, 16) + body)
        first += count
    return messages


def _channel(channel: Channel) -> bytes:
    kind = _CHANNEL_TYPES.index(channel.type) if channel.type in _CHANNEL_TYPES else 0xFF
    numbers = struct.pack("<BBdd", kind, channel.bits, channel.scale, channel.offset)
    return numbers + _text(channel.name, 16) + _text(channel.unit, 8)


def block(
    from_memory: bool, boot: int, stream: int, first_channel: int, channels: int, instants: int, index: int, values: bytes
) -> bytes:
    """BLOCK; `values` are i24, all channels of an instant together."""
    head = struct.pack("<BBIBBBBI", 0x91, int(from_memory), boot, stream, first_channel, channels, instants, index)
    return _checked(head + values)


def gap(stream: int, first: int, end: int, reason: GapReason) -> bytes:
    """GAP."""
    return _checked(struct.pack("<BBIIB", 0x92, stream, first, end, reason))


def end(stream: int, following: int, reason: EndReason) -> bytes:
    """END."""
    return _checked(struct.pack("<BBIB", 0x93, stream, following, reason))


def most_instants(channels: int, longest: int) -> int:
    """How many sampling periods fit into a BLOCK of at most `longest` bytes."""
    return max(1, min(255, (longest - _BLOCK_OVERHEAD) // (3 * channels)))
