"""The Cyton's frames and packets against those of OpenBCI's NodeJS library, and its firmware in virtual time."""

import pytest

from headsets import cyton as c
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Firmware, Link
from headsets.journal import Journal
from headsets.thinkgear import SERIAL_PORT


def test_a_frame() -> None:
    samples = "".join(f"{value:06x}" for value in range(1, 9))
    assert c.frame(0x45, range(1, 9), bytes([0, 0, 0, 1, 0, 2])).hex() == f"a045{samples}000000010002c0"


def test_a_packet_over_bluetooth_low_energy() -> None:
    expected = "c001" + "000001000002" + "00000a000014" + "0000640000c8"
    assert c.ble_packet(1, [(1, 2), (10, 20), (100, 200)]).hex() == expected


def run(firmware: Firmware, seconds: float, start: int = 0) -> bytes:
    now, stream = start, b""
    while (due := firmware.next_turn(now)) is not None and due <= start + seconds * S:
        now = due
        stream += b"".join(notification.value for notification in firmware.turn(now))
    return stream


@pytest.mark.parametrize("daisy", [False, True])
def test_it_tells_its_channels_and_streams(daisy: bool) -> None:
    firmware = c.CytonFirmware("OpenBCI-1", Journal(None), c.CytonPlan(seed=1, crystal_ppm=0, daisy=daisy))
    firmware.power_on(0)
    firmware.connected(Link(notifying={SERIAL_PORT}), 0)
    firmware.write(SERIAL_PORT, b"sC", 0)
    assert run(firmware, 1) == (b"16$$$" if daisy else b"no daisy to attach!$$$8$$$")
    firmware.write(SERIAL_PORT, b"x1060110X/0", S)
    firmware.write(SERIAL_PORT, b"b", S)
    stream = run(firmware, 2, S)
    frames = [stream[at : at + 33] for at in range(0, len(stream), 33)]
    assert len(frames) == firmware.position and firmware.position > 480
    for number, frame in enumerate(frames):
        bank = 1 if daisy and number % 2 == 0 else 0
        row = firmware.waveforms[bank].rows((number + 1) // 2 if daisy else number, 1)[0]
        assert frame == c.frame(number, row, frame[26:32])
    assert [frame[26] for frame in frames[:10]] == [0] * 10 and frames[7][26:28] == (160).to_bytes(2, "big")
    # The board does not know that the link has ended.
    firmware.disconnected(4 * S)
    assert firmware.is_streaming and firmware.next_turn(4 * S) is None


def test_over_bluetooth_low_energy_it_sends_three_instants_of_two_channels() -> None:
    firmware = c.CytonBLEFirmware("RFduino", Journal(None), c.CytonPlan(seed=1, crystal_ppm=0))
    firmware.connected(Link(notifying={c.DATA}), 0)
    firmware.write(c.COMMAND, b"b", 0)
    stream = run(firmware, 8)
    packets = [stream[at : at + 20] for at in range(0, len(stream), 20)]
    assert [packet[1] for packet in packets] == [3 * number & 0xFF for number in range(len(packets))]
    rows = firmware.waveforms[0].rows(0, firmware.position)
    assert packets == [c.ble_packet(3 * n, rows[3 * n : 3 * n + 3]) for n in range(len(packets))]
    firmware.write(c.DISCONNECT, b"x", 8 * S)
    assert firmware.requests == ["disconnect"]
