"""The handshake of the MindWave Mobile 2 against the checksums that NeuroSky's SDKs have, and its firmware."""

import pytest

from headsets import mindwave as w
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Link
from headsets.journal import Journal
from headsets.mindwave import MindWaveFirmware, MindWavePlan


@pytest.mark.parametrize(
    ("command", "checksum"), [(0x15, 0xE9), (0x16, 0xE8), (0x17, 0xE7), (0x18, 0xE6), (0x1B, 0xE3), (0x1C, 0xE2)]
)
def test_the_checksums_of_the_handshake(command: int, checksum: int) -> None:
    written = w.handshake(command)
    assert written[:3] == bytes([0x77, 0x01, command]) and written[-1] == checksum and len(written) == 20
    assert w.handshake_command(written) == command
    assert w.handshake_command(written[:-1] + b"\0") is None


def test_packets() -> None:
    assert w.raw_packet((1, -1) * 5).hex() == "0001ffff" * 5
    quality, low, high = w.esense_packets(200, 1, 2, (3, 4, 5, 6, 7, 8, 9, 10))
    assert (quality[0], quality[6], quality[8], quality[10]) == (0xEA, 200, 1, 2)
    assert low.hex() == "eb00000000" + "00000300" + "00000400" + "00000500" + "000006"
    assert high[0] == 0xEC and high[17:] == b"\0\0\x0a"


def test_it_sends_raw_samples_and_esense_after_the_handshake() -> None:
    firmware = MindWaveFirmware("MindWave Mobile", Journal(None), MindWavePlan(seed=1, crystal_ppm=0))
    firmware.connected(Link(notifying={w.RAW, w.ESENSE}), 0)
    assert firmware.next_turn(0) is None
    firmware.write(w.HANDSHAKE, w.handshake(w.Command.START_ESENSE), 0)
    firmware.write(w.HANDSHAKE, w.handshake(w.Command.START_RAW), 0)
    now, sent = 0, []
    while (due := firmware.next_turn(now)) is not None and due <= 10 * S:
        now = due
        sent += firmware.turn(now)
    raw = [n.value for n in sent if n.uuid == w.RAW]
    assert len(raw) == 512 and len(sent) - len(raw) == 30
    assert raw[7] == w.raw_packet(w.raw_samples(firmware._waveform.rows(70, 10)))
    firmware.disconnected(now)
    assert firmware.next_turn(now) is None
