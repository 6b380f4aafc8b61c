"""When live blocks of the Buffered EEG service left the controller, and when they were received: CLOCK_BOOTTIME by index."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

# Before the value of a notification: kind of the HCI packet, its header, that of L2CAP, opcode and handle.
_OPCODE_OFFSET = 9
_VALUE_OFFSET = 12
_NOTIFICATION = 0x1B
# A BLOCK that is not from memory, see the page BufferedEEGService.
_LIVE = b"\x91\x00"
_INDEX_OFFSET = 10
# btsnoop: a header of 16 bytes; records of lengths, flags, drops, microseconds since the year 0 and the packet.
_FILE_HEADER = 16
_RECORD = struct.Struct(">IIIIq")
_UNIX_EPOCH_MICROSECONDS = 0x00DC_DDB3_0F2F_8000


def of_handovers(handovers: Iterable[tuple[int, str]]) -> dict[int, int]:
    """What `adapter take-handovers` told."""
    packets = ((_live_index(bytes.fromhex(packet)), instant) for instant, packet in handovers)
    return {index: instant for index, instant in packets if index is not None}


def of_capture(file: Path, clock_offset: int) -> dict[int, int]:
    """What `eegsync capture` wrote; `clock_offset` is UTC less CLOCK_BOOTTIME, as the database has it."""
    found = {}
    content = file.read_bytes()
    place = _FILE_HEADER
    while place < len(content):
        length, _, _, _, microseconds = _RECORD.unpack_from(content, place)
        place += _RECORD.size
        index = _live_index(content[place : place + length])
        place += length
        if index is not None:
            found[index] = (microseconds - _UNIX_EPOCH_MICROSECONDS) * 1000 - clock_offset
    return found


def of_reader(file: Path) -> dict[int, int]:
    """What floor/reader.c wrote."""
    lines = (line.split() for line in file.read_text(encoding="ascii").splitlines())
    return {int(index): int(instant) for index, instant in lines}


def of_tap(file: Path, offset: int, indices: Iterable[int]) -> dict[int, int]:
    """When the first instants of these blocks were read from the tap; `offset` is a sample's index less its n."""
    when = {}
    for line in file.read_text(encoding="ascii").splitlines():
        first_n, rows, instant = (int(word) for word in line.split())
        when.update(dict.fromkeys(range(first_n + offset, first_n + offset + rows), instant))
    return {index: when[index] for index in indices if index in when}


def _live_index(packet: bytes) -> int | None:
    """The index of the live block that an HCI packet holds; None where it holds something else."""
    value = packet[_VALUE_OFFSET:]
    if packet[_OPCODE_OFFSET : _OPCODE_OFFSET + 1] != bytes([_NOTIFICATION]) or not value.startswith(_LIVE):
        return None
    return int(struct.unpack_from("<I", value, _INDEX_OFFSET)[0])
