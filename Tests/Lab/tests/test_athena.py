"""Packets of the Athena against bytes of recordings (OpenMuse's), and its firmware in virtual time."""

import json

from headsets import athena_packets as p
from headsets.athena import AthenaFirmware, eeg_samples
from headsets.journal import Journal
from headsets.muse import MusePlan
from muse_host import MuseHost


def test_numbers_of_14_bits_begin_with_the_lowest() -> None:
    packed = p.packed((16383, 16383, 0, 0, 7464, 8288, 7868, 15601), 14)
    assert packed[:12].hex() == "ffffff0f000000281d18c8eb" and len(packed) == 14


def test_a_packet() -> None:
    content = p.motion([(-15621, -1965, 5068)], [(152, 250, 152)])
    (packet,) = p.packets([p.Block(p.MOTION, 0, content)], 0, 9482)
    assert packet[1:].hex() == "0000" + "0a35d1899301" + "4700e20100" + "fbc253f8cc13" + "9800fa009800"
    assert packet[0] == len(packet)


def test_packets_are_no_longer_than_those_that_were_seen() -> None:
    found = p.packets([p.Block(p.EEG8, number, bytes(28)) for number in range(20)], 65_535, 0)
    assert all(packet[0] == len(packet) <= 240 for packet in found)
    assert [packet[1:3].hex() for packet in found] == ["ffff", "0000", "0100"]


class Host(MuseHost):
    """A central."""

    def __init__(self) -> None:
        super().__init__(AthenaFirmware("MuseS-6002", Journal(None), MusePlan(seed=4, crystal_ppm=0)), p.DATA)

    def answers(self) -> list[dict[str, object]]:
        text = b"".join(value[1 : 1 + value[0]] for uuid, value in self.packets if uuid == p.CONTROL).decode()
        return [json.loads(part + "}") for part in text.split("}")[:-1]]

    def blocks(self) -> list[tuple[int, int, bytes]]:
        lengths = {p.EEG8: 28, p.MOTION: 36, p.OPTICS16: 40, p.REFERENCE: 24, p.BATTERY: 20}
        found = []
        for uuid, packet in self.packets:
            place = 9
            while uuid == p.DATA and place < len(packet):
                end = place + 5 + lengths[packet[place]]
                found.append((packet[place], packet[place + 1], packet[place + 5 : end]))
                place = end
        return found


def test_it_starts_with_the_second_of_two_commands() -> None:
    host = Host()
    host.say("v6", "h", "p1041", "dc001")
    host.run(1)
    assert not host.firmware.is_streaming
    host.say("dc001", "L1")
    assert host.firmware.is_streaming
    host.run(1)
    assert [answer["rc"] for answer in host.answers()] == [0] * 6


def test_it_knows_neither_the_start_nor_the_presets_of_the_older_ones() -> None:
    host = Host()
    host.say("d", "p21")
    host.run(1)
    assert not host.firmware.is_streaming and [answer["rc"] for answer in host.answers()] == [1, 1]


def test_it_numbers_each_kind_of_block_by_itself() -> None:
    host = Host()
    host.say("dc001", "dc001")
    host.run(60)
    blocks = host.blocks()
    for tag, count in ((p.EEG8, 7680), (p.OPTICS16, 3840), (p.MOTION, 1040), (p.REFERENCE, 297)):
        numbers = [number for kind, number, _ in blocks if kind == tag]
        assert abs(len(numbers) - count) <= 4
        assert numbers == [number % 256 for number in range(len(numbers))]
    eeg = [content for kind, _, content in blocks if kind == p.EEG8]
    rows = host.firmware._streams[0].waveform.rows(2 * 100, 2)
    assert eeg[100] == p.packed([value for row in eeg_samples(rows) for value in row], 14)
