"""Bytes of the Buffered EEG service against the documentation page's own example."""

import re
import struct
from pathlib import Path

from headsets import buffered_messages as m

PAGE = Path(__file__).parents[3] / "Sources/eegsync/eegsync.docc/BufferedEEGService.md"


def example() -> list[bytes]:
    """The messages that the headset of the page's example sends."""
    text = PAGE.read_text().split("```text\n")[1].split("```")[0]
    messages = re.findall(r"^< \w+ +((?:[0-9a-f]{2}\s+)+)", text, flags=re.MULTILINE)
    return [bytes.fromhex(message) for message in messages]


def i24(*values: int) -> bytes:
    return b"".join(value.to_bytes(3, "little", signed=True) for value in values)


BOOT = 0x5EEDC0DE


def test_checksum_of_the_page() -> None:
    assert m.crc32c(b"123456789") == 0xE3069283


def test_status_report_of_the_example() -> None:
    channels = tuple(m.Channel(name, "EEG", "uV", 3 / 128, 0.0, 24) for name in ("Fp1", "Fp2"))
    ranges = [(0xFFFF_FFFD, 5, 12)]
    header, stream, end = example()[:3]
    assert m.status_header(m.Condition.SAMPLING, 87, BOOT, 0x1_2345_675E, 32_768, ranges)[:8] == header[:8]
    (ticks,) = struct.unpack_from("<Q", header, 8)
    assert m.status_header(m.Condition.SAMPLING, 87, BOOT, ticks, 32_768, ranges) == header
    scale = struct.unpack_from("<d", stream, 20)[0]
    channels = tuple(m.Channel(name, scale=scale) for name in ("Fp1", "Fp2"))
    assert m.stream_messages(0, m.Stream("eeg", 250.0, channels), 244) == [stream]
    assert m.status_end(1) == end


def test_results_of_the_example() -> None:
    results = [message for message in example() if message[0] == 0x84]
    opcodes = (m.Opcode.START, m.Opcode.READ, m.Opcode.CREDIT, m.Opcode.ACKNOWLEDGE, m.Opcode.STOP)
    assert results == [m.result(opcode, m.Code.SUCCESS) for opcode in opcodes]


def test_blocks_gap_and_end_of_the_example() -> None:
    data = [message for message in example() if message[0] > 0x90]
    assert data == [
        m.block(False, BOOT, 0, 0, 2, 2, 5, i24(1000, -1000, 1001, -1001)),
        m.gap(0, 0xFFFF_FFFB, 0xFFFF_FFFD, m.GapReason.OVERWRITTEN),
        m.block(True, BOOT, 0, 0, 2, 3, 0xFFFF_FFFD, i24(10, -1, 11, -2, 12, -3)),
        m.block(True, BOOT, 0, 0, 2, 3, 0, i24(13, -4, 14, -5, 15, -6)),
        m.block(True, BOOT, 0, 0, 2, 2, 3, i24(0x7FFFFF, -0x800000, 17, -8)),
        m.end(0, 5, m.EndReason.COMPLETE),
    ]


def test_a_wide_stream_is_described_in_several_messages_that_fit() -> None:
    channels = tuple(m.Channel(f"Channel {number}") for number in range(8))
    parts = m.stream_messages(3, m.Stream("eeg", 250.0, channels, bank=1), 125)
    assert all(len(part) <= 125 for part in parts)
    assert [part[4] for part in parts] == [sum(p[5] for p in parts[:n]) for n in range(len(parts))]
    assert sum(part[5] for part in parts) == 8
    assert {tuple(part[:4]) for part in parts} == {(0x82, 3, 1, 8)}


def test_eight_channels_fill_a_notification_with_nine_instants() -> None:
    assert m.most_instants(8, 244) == 9
    assert m.most_instants(8, 125) == 4
