"""Packets of the Muse against public vectors (muse-js, src/lib/muse-parse.spec.ts), and its firmware in virtual time."""

import json
from typing import Any

import pytest

from headsets import muse_packets as p
from headsets.clock import NANOSECONDS as S
from headsets.journal import Journal
from headsets.muse import MuseFirmware, MusePlan, eeg_samples
from muse_host import MuseHost


def test_twelve_samples_of_twelve_bits() -> None:
    samples = (1394, 448, 1316, 2310, 1711, 561, 1029, 2201, 2052, 766, 711, 1949)
    assert p.eeg_packet(0, samples).hex() == "0000" + "5721c0524906" + "6af231405899" + "8042fe2c779d"


def test_an_eeg_packet() -> None:
    assert p.eeg_packet(1, [640, 896] * 6).hex() == "0001" + "280380" * 6


def test_six_samples_of_24_bits() -> None:
    samples = (5710272, 5392646, 7008817, 4216985, 8405758, 2914205)
    assert p.ppg_packet(5, samples).hex() == "0005" + "5721c0524906" + "6af231405899" + "8042fe2c779d"


def test_a_motion_packet() -> None:
    packet = bytes.fromhex("526d0db20d9d3c7312050d493c3511b711e33c8f")
    gravities = ((0.213989, 0.212708, 0.944520), (0.281555, 0.207581, 0.940736), (0.276795, 0.279480, 0.946229))
    rows = [[round(value * 16384) for value in row] for row in gravities]
    assert p.motion_packet(21101, rows) == packet


def test_a_telemetry_packet() -> None:
    packet = p.telemetry_packet(330, 90.859375, 4083.2, 27)
    assert packet[:6].hex() == "014ab5b80740" and packet[8:10].hex() == "001b" and len(packet) == 20


@pytest.mark.parametrize(("written", "text"), [("02680a", "h"), ("047032310a", "p21"), ("03680a", None), ("0268", None)])
def test_commands(written: str, text: str | None) -> None:
    assert p.command_text(bytes.fromhex(written)) == text


def test_answers_are_split_and_padded_with_stale_bytes() -> None:
    control = p.ControlText()
    control.say('{"rc":0}')
    first = control.next()
    assert first == b'\x08{"rc":0}' + bytes(11)
    control.say('{"rc":0}{"rc":1}{"rc":2}')
    assert control.next() == b'\x13{"rc":0}{"rc":1}{"r'
    assert control.next() == b'\x05c":2}c":0}{"rc":1}{"r'[:1] + b'c":2}' + b':0}{"rc":1}{"r'
    assert not control


class Host(MuseHost):
    """A central."""

    def __init__(self, *uuids: str, **plan: Any) -> None:
        super().__init__(MuseFirmware("Muse-1324", Journal(None), MusePlan(seed=4, crystal_ppm=0, **plan)), *uuids)

    def of(self, uuid: str) -> list[bytes]:
        return [value for at, value in self.packets if at == uuid]

    def answers(self) -> list[dict[str, object]]:
        text = b"".join(value[1 : 1 + value[0]] for value in self.of(p.CONTROL)).decode()
        return [json.loads(part + "}") for part in text.split("}")[:-1]]


def test_it_answers_in_json() -> None:
    host = Host(serial="2031-TZRW-1324", address="00:55:DA:B0:13:24")
    host.say("v1", "h", "p20", "s")
    host.run(2)
    information, halted, preset, status = host.answers()
    assert information["ap"] == "headset" and halted == preset == {"rc": 0}
    assert (status["sn"], status["ma"], status["ps"]) == ("2031-TZRW-1324", "00-55-da-b0-13-24", 32)


def test_it_streams_each_channel() -> None:
    host = Host(*p.EEG, p.ACCELEROMETER)
    host.say("h", "p21", "s", "d")
    host.run(60)
    for channel, uuid in enumerate(p.EEG[:4]):
        values = host.of(uuid)
        assert [int.from_bytes(value[:2], "big") for value in values] == list(range(1280))
        rows = host.firmware._streams[0].waveform.rows(12 * 100, 12)
        assert values[100] == p.eeg_packet(100, eeg_samples(rows)[channel])
    assert host.of(p.EEG[4]) == []
    assert len(host.of(p.ACCELEROMETER)) == 60 * 52 // 3
    assert len(host.of(p.TELEMETRY)) in (5, 6)


def test_five_packets_of_one_instant_have_one_counter() -> None:
    host = Host(*p.EEG, first_sequence=65_535)
    host.say("p20", "d")
    host.run(0.2)
    eeg = [(uuid, int.from_bytes(value[:2], "big")) for uuid, value in host.packets if uuid in p.EEG]
    order = [p.EEG[channel] for channel in p.EEG_ORDER]
    assert eeg[:10] == [(uuid, 65_535) for uuid in order] + [(uuid, 0) for uuid in order]


def test_without_keep_alive_it_stops_where_it_wants_one() -> None:
    host = Host(*p.EEG, keep_alive_seconds=10)
    host.say("d")
    host.run(8)
    host.say("k")
    host.run(8)
    assert host.firmware.is_streaming
    host.run(4)
    assert not host.firmware.is_streaming


def test_in_its_bootloader_it_wants_a_reset() -> None:
    host = Host()
    host.firmware.low_power(0)
    host.say("v1", "d")
    host.run(1)
    assert [answer.get("ap", answer["rc"]) for answer in host.answers()] == ["bootloader", 1]
    host.say("*1")
    assert host.firmware.requests == ["reboot"]


def test_the_end_of_the_link_stops_it() -> None:
    host = Host()
    host.say("d")
    host.firmware.disconnected(S)
    assert not host.firmware.is_streaming and host.firmware.next_turn(S) is None
