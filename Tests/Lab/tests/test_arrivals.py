"""Arrivals from handovers and captures."""

from __future__ import annotations

import struct
from pathlib import Path

from guest import arrivals
from headsets import buffered_messages as messages

_OFFSET = 1_800_000_000_000_000_000


def packet(index: int, from_memory: bool = False, opcode: int = 0x1B) -> bytes:
    """An HCI packet with a block."""
    value = messages.block(from_memory, 1, 0, 0, 1, 1, index, bytes(3))
    attribute = struct.pack("<BH", opcode, 0x0010) + value
    frame = struct.pack("<HH", len(attribute), 4) + attribute
    return struct.pack("<BHH", 2, 0x2040, len(frame)) + frame


def test_handovers_of_live_blocks_count() -> None:
    told = [(5, packet(7)), (6, packet(8, from_memory=True)), (7, packet(9, opcode=0x13)), (8, b"\x02\x40\x20\x00\x00")]
    assert arrivals.of_handovers((instant, data.hex()) for instant, data in told) == {7: 5}


def test_a_capture_tells_microseconds_since_the_boot(tmp_path: Path) -> None:
    microseconds = 0x00DC_DDB3_0F2F_8000 + _OFFSET // 1000 + 1234
    content = b"btsnoop\0" + bytes(8)
    for data in (packet(7), packet(8, from_memory=True)):
        content += struct.pack(">IIIIq", len(data), len(data), 1, 0, microseconds) + data
    file = tmp_path / "left.btsnoop"
    file.write_bytes(content)
    assert arrivals.of_capture(file, _OFFSET) == {7: 1_234_000}


def test_the_tap_tells_when_the_rows_of_a_block_were_read(tmp_path: Path) -> None:
    file = tmp_path / "kernel.tap"
    file.write_text("0 2 500\n2 3 600\n", encoding="ascii")
    assert arrivals.of_tap(file, 100, [99, 100, 101, 102, 104, 105]) == {100: 500, 101: 500, 102: 600, 104: 600}
