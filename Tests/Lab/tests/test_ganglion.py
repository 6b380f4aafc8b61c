"""Packets of the Ganglion against the public vectors of OpenBCI's own library, and its firmware in virtual time."""

from pathlib import Path

import pytest

from headsets import ganglion_packets as g
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Link
from headsets.ganglion import GanglionFirmware, GanglionPlan, acceleration
from headsets.journal import Journal
from headsets.truth import read_journal

# OpenBCI_NodeJS_Utilities, test/openBCIUtilities-test.js: width, bytes, eight fields with the sign in the lowest bit.
VECTORS = [
    (18, "0000000020002800048000bc00070028c00a", (0, 2, 10, 4, 131074, 245760, 114698, 49162)),
    (18, "ffff7fffbfffe7fff500014f8e30001ff001", (-3, -5, -7, -11, -262139, -198429, -262137, -4095)),
    (19, "000000000800050000480009f001b000300008", (0, 2, 10, 4, 262148, 507910, 393222, 8)),
    (19, "ffffbfffeffffcffff58000b3e38e0003ff001", (-3, -5, -7, -11, -262139, -198429, -262137, -4095)),
]


@pytest.mark.parametrize(("bits", "text", "values"), VECTORS)
def test_fields_are_packed_as_in_the_public_vectors(bits: int, text: str, values: tuple[int, ...]) -> None:
    assert g.packed(values, bits) == bytes.fromhex(text)


def test_the_lowest_bit_repeats_the_sign() -> None:
    assert [g.difference_field(value) for value in (4, 5, -4, -5)] == [4, 4, -3, -5]


def test_a_raw_packet() -> None:
    packet = g.raw_packet((1, -1, 0x7FFFFF, -0x800000))
    assert packet.hex() == "00" + "000001" + "ffffff" + "7fffff" + "800000" + "00" * 7


def test_texts_are_split() -> None:
    packets = g.text_packets("OpenBCI Ganglion v3.0.2 and more")
    assert [packet[0] for packet in packets] == [206, 207]
    assert b"".join(packet[1:] for packet in packets).rstrip(b"\0") == b"OpenBCI Ganglion v3.0.2 and more"
    assert all(len(packet) == 20 for packet in packets)


def test_impedance() -> None:
    assert g.impedance_packet(5, 12)[:4] == b"\xcd12Z"


def unpacked(packet: bytes, bits: int) -> list[int]:
    value = int.from_bytes(packet[1 : 1 + bits], "big")
    return [value >> bits * (7 - place) & (1 << bits) - 1 for place in range(8)]


def stream(firmware: GanglionFirmware, seconds: float, commands: str = "b") -> list[bytes]:
    now = 0
    firmware.power_on(now)
    firmware.connected(Link(notifying={g.DATA}), now)
    for command in commands:
        firmware.write(g.COMMAND, command.encode() + b"ignored", now)
    packets = []
    while (due := firmware.next_turn(now)) is not None and due <= seconds * S:
        now = due
        packets += [notification.value for notification in firmware.turn(now)]
    return packets


def firmware(version: int) -> GanglionFirmware:
    return GanglionFirmware("Ganglion-1", Journal(None), GanglionPlan(seed=1, firmware_version=version, crystal_ppm=0))


@pytest.mark.parametrize(("commands", "base", "bits"), [("nb", 0, 18), ("b", 100, 19)])
def test_firmware_3_sends_truncated_samples_exactly(commands: str, base: int, bits: int) -> None:
    ganglion = firmware(3)
    packets = stream(ganglion, 2.2, commands)
    assert [packet[0] for packet in packets[:205]] == [base + number % 100 for number in range(205)]
    for number, packet in enumerate(packets):
        cycle, place = divmod(number, 100)
        fields = unpacked(packet, bits)
        signed = [(field & ~1) - ((field >> bits - 1) << bits) << 24 - bits for field in fields]
        expected = ganglion.rows(cycle * g.CYCLE + 2 * place, 2)
        assert signed == [value for row in expected for value in row]


def test_firmware_3_never_sends_the_last_sample_of_a_cycle() -> None:
    # 20.1 s at 200 Hz are 20 cycles of 201 instants; the last packets wait for their turn.
    assert 1996 <= len(stream(firmware(3), 20.1)) <= 2000


@pytest.mark.parametrize(("commands", "base", "bits"), [("nb", 0, 18), ("b", 100, 19)])
def test_firmware_2_sends_a_raw_sample_and_differences(commands: str, base: int, bits: int) -> None:
    ganglion = firmware(2)
    packets = stream(ganglion, 3, commands)
    cycle = [0, *(base + number for number in range(1, 101))]
    assert [packet[0] for packet in packets[:303]] == cycle * 2 + cycle[: len(packets) - 202]
    received: list[tuple[int, ...]] = []
    for packet in packets[:101]:
        if packet[0] == 0:
            received.append(tuple(int.from_bytes(packet[at : at + 3], "big", signed=True) for at in (1, 4, 7, 10)))
            continue
        fields = unpacked(packet, bits)
        differences = [field - (1 << bits if field & 1 else 0) for field in fields]
        for half in (differences[:4], differences[4:]):
            received.append(tuple(value - field for value, field in zip(received[-1], half, strict=True)))
    rows = ganglion.rows(0, g.CYCLE)
    assert received == g.received(2, rows, "n" in commands)
    assert max(abs(a - b) for got, row in zip(received, rows, strict=True) for a, b in zip(got, row, strict=True)) <= 200


def test_the_accelerometer_takes_turns() -> None:
    ganglion = firmware(3)
    packets = stream(ganglion, 2, "nb")
    for number in (1, 2, 3, 91, 92, 93, 101, 112):
        cycle, place = divmod(number, 100)
        row = acceleration(ganglion._motion.rows(10 * cycle + place // 10, 1)[0])
        assert packets[number][19] == row[place % 10 - 1] & 0xFF
    assert {packet[19] for packet in packets[3:11]} == {packets[3][19]}


def test_the_journal_tells_what_is_never_sent(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    ganglion = GanglionFirmware("Ganglion-1", Journal(path), GanglionPlan(seed=1, crystal_ppm=0))
    stream(ganglion, 2.2, "nb")
    ganglion.disconnected(3 * S)
    eeg, motion = read_journal(path).boots[0].streams
    (end,) = {end for _, end in eeg.runs}
    assert eeg.sampled(until=10 * S) == [(0, 200), (201, 401), (402, end)]
    assert motion.runs in ([(0, 22)], [(0, 21)])


def test_the_end_of_the_link_stops_it() -> None:
    ganglion = firmware(3)
    stream(ganglion, 1, "nb")
    ganglion.disconnected(S)
    assert not ganglion.is_streaming and not ganglion.accelerometer and ganglion.next_turn(S) is None


def test_impedance_is_measured_instead_of_samples() -> None:
    ganglion = firmware(3)
    packets = stream(ganglion, 3, "nbz")
    assert [packet[0] for packet in packets] == [201, 202, 203, 204, 205] and not ganglion.is_streaming
    ganglion.write(g.COMMAND, b"Z", 3 * S)
    assert ganglion.is_streaming and ganglion.starts == 2
    # Told twice, it forgets that it has sampled; a start ends the measurement as well.
    for command in (b"z", b"z", b"Z"):
        ganglion.write(g.COMMAND, command, 4 * S)
    assert not ganglion.is_streaming
    ganglion.write(g.COMMAND, b"z", 5 * S)
    ganglion.write(g.COMMAND, b"b", 5 * S)
    assert ganglion.is_streaming and not ganglion.measures_impedance


def test_each_start_is_a_boot_of_its_own() -> None:
    ganglion = firmware(3)
    stream(ganglion, 1)
    first = ganglion.boot
    ganglion.write(g.COMMAND, b"s", S)
    ganglion.write(g.COMMAND, b"b", S)
    assert ganglion.boot != first
