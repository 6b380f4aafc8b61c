"""Packets of the Hermes V1 (made by the rules of its public firmware, since no capture is public) and its firmware."""

from headsets import hermes as h
from headsets.advertisement import advertising_data, scan_response_data
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Link
from headsets.hermes import HermesFirmware, HermesPlan
from headsets.journal import Journal


def test_a_packet_has_a_counter_and_24_bits_with_the_highest_byte_first() -> None:
    values = b"".join(value.to_bytes(2, "little", signed=True) for value in [1, -1, 0x7FFF, -0x8000] * 20)
    packet = h.eeg_packet(130, values)
    assert len(packet) == 241
    assert packet[:13].hex() == "02" + "000001" + "ffffff" + "007fff" + "ff8000"


def test_without_a_service_the_name_is_in_the_advertisement() -> None:
    firmware = HermesFirmware("Hermes V1", Journal(None), HermesPlan(seed=1))
    data = advertising_data(firmware.appearance(False))
    assert data == b"\x02\x01\x06" + b"\x0a\x09Hermes V1" and len(data) <= 31
    assert bytes.fromhex("0080e1000001") in scan_response_data(firmware.appearance(False))


def run(firmware: HermesFirmware, begin: int, seconds: float) -> list[bytes]:
    now, packets = begin, []
    while (due := firmware.next_turn(now)) is not None and due <= begin + seconds * S:
        now = max(now, due)
        packets += [n.value for n in firmware.turn(now) if n.uuid == h.EEG_DATA]
    return packets


def subscribe(firmware: HermesFirmware, now: int) -> None:
    firmware.connected(Link(notifying={h.EEG_DATA}), now)
    firmware.subscribed(h.EEG_DATA, now)


def test_it_streams_while_subscribed_and_its_counter_goes_on_over_connections() -> None:
    firmware = HermesFirmware("Hermes V1", Journal(None), HermesPlan(seed=1, crystal_ppm=0, first_counter=100))
    firmware.power_on(0)
    subscribe(firmware, 0)
    first = run(firmware, 0, 10)
    assert [packet[0] for packet in first] == [(100 + number) % 128 for number in range(250)]
    rows = firmware._waveforms[0].rows(20, 10)
    values = [int.from_bytes(first[2][at : at + 3], "big", signed=True) for at in range(1, 241, 3)]
    assert values == [value for row in rows for value in row]
    firmware.disconnected(10 * S)
    assert firmware.next_turn(10 * S) is None
    subscribe(firmware, 20 * S)
    assert run(firmware, 20 * S, 1)[0][0] == (100 + 250) % 128


def test_it_gives_its_last_command_back_until_it_is_switched_off() -> None:
    firmware = HermesFirmware("Hermes V1", Journal(None), HermesPlan(seed=1))
    firmware.power_on(0)
    assert firmware.read(h.EEG_CONFIGURATION, 0) == b""
    firmware.write(h.EEG_CONFIGURATION, b"\x03\x02\0\0", 0)
    firmware.disconnected(S)
    assert firmware.read(h.EEG_CONFIGURATION, S) == b"\x03\x02\0\0"
    firmware.power_on(2 * S)
    assert firmware.read(h.EEG_CONFIGURATION, 2 * S) == b""


def test_writing_a_register_stops_it_until_it_is_started() -> None:
    firmware = HermesFirmware("Hermes V1", Journal(None), HermesPlan(seed=1))
    subscribe(firmware, 0)
    firmware.write(h.EEG_CONFIGURATION, b"\x02\x01\x05\x60", S)
    assert firmware.next_turn(S) is None
    firmware.write(h.EEG_CONFIGURATION, b"\x03\x02\0\0", S)
    assert run(firmware, S, 1)


def test_it_stops_when_told() -> None:
    firmware = HermesFirmware("Hermes V1", Journal(None), HermesPlan(seed=1))
    subscribe(firmware, 0)
    firmware.write(h.EEG_CONFIGURATION, b"\x01\x00", S)
    assert firmware.next_turn(S) is None
    firmware.write(h.EEG_CONFIGURATION, b"\x01\x01", S)
    assert run(firmware, S, 1)


def test_a_button_is_an_event_with_the_counter() -> None:
    firmware = HermesFirmware("Hermes V1", Journal(None), HermesPlan(seed=1, first_counter=9))
    firmware.connected(Link(notifying={h.EVENT_DATA}), 0)
    firmware.press(0)
    due = firmware.next_turn(0)
    assert due is not None and [n.value for n in firmware.turn(due)] == [b"\x01\x01\x09"]
