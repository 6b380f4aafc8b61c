"""The ThinkGear stream over Bluetooth Low Energy."""

import pytest

from headsets import thinkgear as t
from headsets import thinkgear_gatt as g
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Link
from headsets.journal import Journal
from headsets.mindwave import HANDSHAKE, RAW, MindWavePlan

PLAN = MindWavePlan(seed=1, crystal_ppm=0)


def sent(firmware: t.ThinkGearFirmware, port: str) -> bytes:
    due = firmware.next_turn(S)
    assert due is not None
    notifications = firmware.turn(due)
    assert {notification.uuid for notification in notifications} == {port}
    assert all(len(notification.value) <= 20 for notification in notifications)
    return b"".join(notification.value for notification in notifications)


@pytest.mark.parametrize("radio", g.RADIOS)
def test_a_board_sends_whoever_listens(radio: str) -> None:
    board = g.BoardFirmware("BT05", Journal(None), PLAN, radio)
    service, port = g.RADIOS[radio]
    assert board.appearance(False).services == (service,)
    assert [c.uuid for c in board.database()[0].characteristics] == [port]
    board.connected(Link(notifying={port}), S)
    assert sent(board, port).startswith(t.raw_frame(board._waveform.rows(0, 1)[0][0] >> 4))


def test_the_headset_of_2013_waits_for_its_command() -> None:
    headset = g.MindWave2013Firmware("MindWave Mobile", Journal(None), PLAN)
    assert [c.uuid for c in headset.database()[0].characteristics] == [RAW, HANDSHAKE]
    headset.connected(Link(notifying={RAW}), S)
    headset.write(HANDSHAKE, b"\x77\x01\x15", S)
    assert headset.next_turn(S) is None
    headset.write(HANDSHAKE, bytes.fromhex("770001fe"), S)
    headset.write(HANDSHAKE, bytes.fromhex("770001fe"), S)
    assert sent(headset, RAW).startswith(b"\xaa\xaa\x04\x80\x02") and headset.starts == 1
    headset.disconnected(2 * S)
    assert headset.next_turn(2 * S) is None
