"""The Explore's packets against Mentalab's own test files, and its firmware in virtual time."""

import struct

import pytest

from headsets import explore as e
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Link
from headsets.journal import Journal


def test_packets_are_built_as_in_the_test_files() -> None:
    eight = e.packet(151, 0, 205174, e.eeg_content([-8388608] * 8))
    assert eight.hex() == "9700200076210300" + "800000" * 8 + "afbeadde"
    assert e.packet(e.PUSH_MARKER, 255, 507276, b"\0\0").hex() == "c2ff0a008cbd07000000afbeadde"
    assert e.packet(e.ENVIRONMENT, 2, 154404, bytes.fromhex("1d8300b008")).hex() == "13020d00245b02001d8300b008afbeadde"


def test_each_eight_channels_are_in_reverse() -> None:
    assert e.eeg_content(range(16)) == b"".join(bytes([0, 0, value]) for value in [*range(7, -1, -1), *range(15, 7, -1)])


def test_a_command() -> None:
    assert e.command(0xA6).hex() == "a0000a0000000000a600afbeadde"


def test_packets_share_notifications() -> None:
    assert e.joined([b"a" * 100, b"b" * 100, b"c" * 100, b"d" * 500], 244) == [
        b"a" * 100 + b"b" * 100, b"c" * 100, b"d" * 244, b"d" * 244, b"d" * 12,
    ]  # fmt: skip


def parsed(stream: bytes) -> list[tuple[int, int, bytes]]:
    """Kind, ticks and content of each packet."""
    found = []
    while stream:
        kind, _, length, ticks = struct.unpack("<BBHI", stream[:8])
        assert stream[length : length + 4] == e.TRAILER
        found.append((kind, ticks, stream[8:length]))
        stream = stream[4 + length :]
    return found


@pytest.mark.parametrize(("channels", "nordic"), [(8, False), (16, True), (32, False)])
def test_it_streams_while_somebody_listens(channels: int, nordic: bool) -> None:
    plan = e.ExplorePlan(seed=1, crystal_ppm=0, channels=channels, nordic=nordic)
    firmware = e.ExploreFirmware("Explore_0001", Journal(None), plan)
    firmware.power_on(0)
    link = Link(longest=244)
    firmware.connected(link, S)
    assert firmware.next_turn(S) is None
    link.notifying.add(firmware.data)
    firmware.subscribed(firmware.data, S)
    firmware.write(firmware.command, e.command(0xA6), S)
    now, stream = S, b""
    while (due := firmware.next_turn(now)) is not None and due <= 4 * S:
        now = due
        stream += b"".join(notification.value for notification in firmware.turn(now))
    packets = parsed(stream)
    assert [kind for kind, _, _ in packets[:3]] == [e.INFORMATION, e.RECEIVED, e.STATUS]
    assert packets[2][2][0] == 0xA6 and packets[2][2][5] == 1
    eeg = [(ticks, content) for kind, ticks, content in packets if kind == e.PACKET_KINDS[channels]]
    assert 740 < len(eeg) == firmware.position
    first = firmware._firsts[4]
    for number, (ticks, content) in enumerate(eeg):
        row = [value for waveform in firmware.waveforms[4:] for value in waveform.rows(first + number, 1)[0]]
        assert ticks == (first + number) * 400 and content == e.eeg_content(row)
    # Each stream is sampled when its stamps say so: the truth of both is one clock.
    for number, frequency in ((0, 20), (3, 1), (4, 250)):
        clock, index = firmware.clocks[number], firmware._firsts[number]
        assert clock.began >= S and clock.began + 123_450_000 == index * S // frequency
    motion = [(ticks, content) for kind, ticks, content in packets if kind == e.ORIENTATION]
    assert len(motion) == firmware.clocks[0].position(now) and len(motion) in (60, 61) and motion[1][0] - motion[0][0] == 5000
    link.notifying.clear()
    firmware.subscribed(firmware.data, now)
    assert not firmware.is_streaming
