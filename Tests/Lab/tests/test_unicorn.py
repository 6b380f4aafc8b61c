"""The Unicorn's frames by the places that its readers agree on, and its firmware in virtual time."""

from headsets import unicorn as u
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Link
from headsets.journal import Journal
from headsets.thinkgear import SERIAL_PORT


def test_commands_and_their_checksums() -> None:
    assert u.command(u.START).hex() == "617c87"
    assert u.command(u.STOP).hex() == "635cc5"


def test_a_frame() -> None:
    found = u.frame(10, (1, -1, 8388607, -8388608, 0, 0, 0, 256), (4096, -1, 0, 328, -328, 2), 0x01020304)
    expected = "c0000a" + "000001ffffff7fffff800000" + "000000000000000000000100" + "0010ffff0000" + "4801b8fe0200"
    assert found.hex() == expected + "04030201" + "0d0a"
    assert len(found) == 45


def test_it_streams_between_start_and_stop() -> None:
    firmware = u.UnicornFirmware("UN-2026.01.01", Journal(None), u.UnicornPlan(seed=1, crystal_ppm=0))
    firmware.connected(Link(notifying={SERIAL_PORT}), 0)
    assert firmware.next_turn(0) is None
    firmware.write(SERIAL_PORT, b"\x61\x7c\x88", 0)
    assert not firmware.is_streaming
    firmware.write(SERIAL_PORT, u.command(u.START), 0)
    now, stream = 0, b""
    while (due := firmware.next_turn(now)) is not None and due <= 4 * S:
        now = due
        stream += b"".join(notification.value for notification in firmware.turn(now))
    assert stream.startswith(u.ACKNOWLEDGEMENT)
    frames = [stream[at : at + 45] for at in range(3, len(stream), 45)]
    assert len(frames) == firmware.position and firmware.position > 980
    rows = [waveform.rows(0, len(frames)) for waveform in firmware.waveforms]
    assert frames == [u.frame(12, rows[0][n], rows[1][n] + rows[2][n], n) for n in range(len(frames))]
    firmware.write(SERIAL_PORT, u.command(u.STOP), now)
    assert firmware.turn(now)[0].value == u.ACKNOWLEDGEMENT and firmware.next_turn(now) is None
