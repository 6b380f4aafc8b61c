"""Bytes of a Muse S Athena: packets of blocks, as recordings of its first firmware have them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .muse_packets import CONTROL, SERVICE

__all__ = ["CONTROL", "SERVICE"]

# Both characteristics of data; only the first sends.
DATA = "273e0013-4c4d-454d-96be-f03bac821358"
SECOND_DATA = "273e0014-4c4d-454d-96be-f03bac821358"

EEG8, EEG_PER_BLOCK = 0x12, 2
MOTION, MOTION_PER_BLOCK = 0x47, 3
OPTICS16, OPTICS_PER_BLOCK = 0x36, 1
REFERENCE, REFERENCE_PER_BLOCK = 0x53, 6
BATTERY = 0x98

_HEADER_LENGTH = 9
# Three bytes of a block's header mean something that nobody knows; recordings have many values.
_UNKNOWN = bytes((0xE2, 0x01, 0x00))
# The longest packets that were seen.
_LENGTH_MAXIMUM = 240
# Its clock begins here whenever it is switched on: 2024-12-03.
EPOCH_MILLISECONDS = 1_733_184_000_000


@dataclass(frozen=True)
class Block:
    """One block: what it holds, its number among its kind, its content."""

    tag: int
    number: int
    content: bytes

    def encoded(self) -> bytes:
        """Its bytes in a packet."""
        return bytes((self.tag, self.number & 0xFF)) + _UNKNOWN + self.content


def packed(values: Iterable[int], width: int) -> bytes:
    """Unsigned numbers of some bits each, the lowest bit first."""
    total = count = 0
    for value in values:
        total |= (value & (1 << width) - 1) << count
        count += width
    return total.to_bytes((count + 7) // 8, "little")


def motion(acceleration: Sequence[Sequence[int]], rotation: Sequence[Sequence[int]]) -> bytes:
    """Accelerometer and gyroscope of each instant together."""
    values = [value for pair in zip(acceleration, rotation, strict=True) for axes in pair for value in axes]
    return struct.pack(f"<{len(values)}h", *values)


def battery(percent: float) -> bytes:
    """The charge in 1/256 %, and what stands behind it in a recording."""
    return struct.pack("<H", round(percent * 256)) + bytes.fromhex("ab00cc00bd12ffffe100427249cbb7ffcf20")


def packets(blocks: Iterable[Block], first_index: int, milliseconds: int) -> list[bytes]:
    """The blocks in packets that are as full as may be."""
    contents: list[bytes] = []
    for block in blocks:
        encoded = block.encoded()
        if contents and _HEADER_LENGTH + len(contents[-1]) + len(encoded) <= _LENGTH_MAXIMUM:
            contents[-1] += encoded
        else:
            contents.append(encoded)
    time = (EPOCH_MILLISECONDS + milliseconds).to_bytes(6, "little")
    return [
        bytes((_HEADER_LENGTH + len(content),)) + struct.pack("<H", first_index + number & 0xFFFF) + time + content
        for number, content in enumerate(contents)
    ]
