"""The ThinkGear stream against public packets, and its firmware."""

from pathlib import Path

from headsets import thinkgear as t
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Link
from headsets.journal import Journal
from headsets.mindwave import POWERS, MindWavePlan


def test_the_packet_of_the_vendor_s_page() -> None:
    powers = (0x94, 0x42, 0x0B, 0x64, 0x4D, 0x3D, 0x07, 0x05)
    expected = "AAAA200200831800009400004200000B00006400004D00003D000007000005040D053D34"
    assert t.power_frame(0, 13, 61, powers).hex().upper() == expected


def test_a_raw_packet() -> None:
    assert t.raw_frame(24).hex() == "aaaa048002001865"


def test_it_streams_with_the_link() -> None:
    firmware = t.ThinkGearFirmware("MindWave Mobile", Journal(None), MindWavePlan(seed=1, crystal_ppm=0))
    assert firmware.next_turn(0) is None
    firmware.connected(Link(notifying={t.SERIAL_PORT}), 0)
    now, stream = 0, b""
    while (due := firmware.next_turn(now)) is not None and due <= 10 * S:
        now = due
        stream += b"".join(notification.value for notification in firmware.turn(now))
    rows = firmware._waveform.rows(0, 5120)
    expected = b""
    for position, row in enumerate(rows[: firmware._position]):
        expected += t.raw_frame(row[0] >> 4)
        if position % 512 == 511:
            expected += t.power_frame(0, 50, 60, POWERS)
    assert stream == expected and firmware._position > 5100


def recording(path: Path, samples: list[int]) -> str:
    """A file as a serial port gave it: noise, raw samples, powers in between, and a frame whose sum is wrong."""
    data = b"\x13\xaa"
    for number, sample in enumerate(samples):
        data += t.raw_frame(sample)
        if number == 2:
            data += t.power_frame(0, 50, 60, POWERS) + t.raw_frame(99)[:-1] + b"\0"
    path.write_bytes(data)
    return str(path)


def test_a_recording_is_sent_as_it_is_from_where_the_last_link_ended(tmp_path: Path) -> None:
    samples = list(range(-20, 20))
    path = recording(tmp_path / "port.bytes", samples)
    firmware = t.ThinkGearFirmware("MindWave Mobile", Journal(None), MindWavePlan(seed=1, crystal_ppm=0), path)
    sent = b""
    for link in range(2):
        began = link * 10 * S
        firmware.connected(Link(notifying={t.SERIAL_PORT}), began)
        due = firmware.next_turn(began)
        assert due is not None
        sent += b"".join(notification.value for notification in firmware.turn(due))
        firmware.disconnected(due)
    assert sent == Path(path).read_bytes()[2:][: len(sent)]
    stream = t.RecordedStream(path)
    assert [row[0] for row in t.samples(stream.rows(0, len(samples)))] == samples
    assert firmware._first == 30 and t.raw_frame(samples[29]) in sent and t.raw_frame(samples[30]) not in sent
