"""Conversations with the firmware of the Buffered EEG service, in virtual time."""

import dataclasses
import json
import struct
from typing import Any

from headsets import buffered_messages as m
from headsets.buffered import BufferedFirmware
from headsets.buffered_stream import BufferedPlan
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Link
from headsets.journal import Journal

STREAM = m.Stream("eeg", 250.0, tuple(m.Channel(name) for name in ("Fp1", "Fp2")))


class Host:
    """A central that takes every turn and sorts what it gets."""

    def __init__(self, **plan: Any) -> None:
        settings = dataclasses.replace(BufferedPlan(seed=1, streams=(STREAM,), crystal_ppm=0.0), **plan)
        self.firmware = BufferedFirmware("BEEG-1", Journal(None), settings)
        self.now = 0
        self.control: list[bytes] = []
        self.blocks: list[tuple[bool, int, int]] = []
        self.gaps: list[tuple[int, int, int]] = []
        self.ends: list[tuple[int, int]] = []
        self.times: list[int] = []
        self.firmware.power_on(0)

    def connect(self, *uuids: str, longest: int = 244) -> None:
        self.firmware.connected(Link(longest=longest, notifying=set(uuids)), self.now)
        for uuid in uuids:
            self.firmware.subscribed(uuid, self.now)

    def disconnect(self) -> None:
        self.firmware.disconnected(self.now)

    def write(self, text: str) -> None:
        self.firmware.write(m.CONTROL, bytes.fromhex(text), self.now)

    def run(self, seconds: float) -> None:
        end = self.now + round(seconds * S)
        while (due := self.firmware.next_turn(self.now)) is not None and due <= end:
            self.now = max(due, self.now)
            for notification in self.firmware.turn(self.now):
                self.take(notification.uuid, notification.value)
        self.now = end

    def take(self, uuid: str, value: bytes) -> None:
        if uuid == m.CONTROL:
            self.control.append(value)
            return
        assert struct.unpack("<I", value[-4:])[0] == m.crc32c(value[:-4])
        if value[0] == 0x91:
            _, memory, boot, stream, _, channels, count, index = struct.unpack_from("<BBIBBBBI", value)
            values = self.firmware.streams[stream].waveform.int24(index, count)
            assert boot == self.firmware.boot and value[14:-4] == values and channels == 2
            self.blocks.append((bool(memory), index, count))
            self.times.append(self.now)
        elif value[0] == 0x92:
            _, _, first, end, reason = struct.unpack_from("<BBIIB", value)
            self.gaps.append((first, end, reason))
        else:
            _, _, following, reason = struct.unpack_from("<BBIB", value)
            self.ends.append((following, reason))

    def results(self) -> list[tuple[int, int]]:
        return [(value[1], value[2]) for value in self.control if value[0] == 0x84]

    def condition(self) -> int:
        self.control.clear()
        self.write("01")
        self.run(0.1)
        return next(value[2] for value in self.control if value[0] == 0x81)


def streaming(**plan: Any) -> Host:
    host = Host(**plan)
    host.connect(m.CONTROL, m.DATA)
    host.write("03")
    host.write("04")
    return host


def test_it_starts_idle_and_samples_when_told() -> None:
    host = Host()
    host.connect(m.CONTROL)
    assert host.condition() == m.Condition.IDLE
    host.write("03")
    assert host.condition() == m.Condition.SAMPLING
    host.write("04")
    assert host.condition() == m.Condition.STREAMING
    host.write("05")
    assert host.condition() == m.Condition.IDLE


def test_live_blocks_are_contiguous_and_never_late() -> None:
    host = streaming()
    host.run(10)
    first = host.blocks[0][1]
    position = first
    for (memory, index, count), time in zip(host.blocks, host.times, strict=True):
        assert not memory and index == position
        assert time - host.firmware.streams[0].clock.time(index) < 0.2 * S
        position += count
    assert position - first > 2450


def test_a_longer_interval_between_live_turns_loses_nothing() -> None:
    host = streaming(live_interval=0.15)
    host.run(10)
    assert [b[1] for b in host.blocks[1:]] == [b[1] + b[2] for b in host.blocks[:-1]]
    assert len(set(host.times)) < 80


def test_what_was_sampled_while_away_is_read() -> None:
    host = streaming()
    host.run(2)
    host.disconnect()
    seen = host.blocks[-1][1] + host.blocks[-1][2]
    host.run(10)
    host.connect(m.CONTROL, m.DATA)
    host.blocks.clear()
    host.write("0600" + struct.pack("<IH", seen, 1000).hex())
    host.run(30)
    memory = [block for block in host.blocks if block[0]]
    assert memory[0][1] == seen
    assert [b[1] for b in memory[1:]] == [b[1] + b[2] for b in memory[:-1]]
    end = memory[-1][1] + memory[-1][2]
    assert host.ends == [(end, m.EndReason.COMPLETE)]
    assert min(index for is_memory, index, _ in host.blocks if not is_memory) <= end


def test_a_read_waits_for_credit() -> None:
    host = streaming()
    host.run(5)
    host.write("0600" + struct.pack("<IH", 0, 2).hex())
    host.run(5)
    assert sum(memory for memory, _, _ in host.blocks) == 2 and host.ends == []
    host.write("0700" + struct.pack("<H", 1000).hex())
    host.run(5)
    assert len(host.ends) == 1


def test_an_overrun_is_a_gap_and_counted() -> None:
    host = streaming(capacity=250)
    host.run(4)
    host.write("0600" + struct.pack("<IH", 0, 1000).hex())
    host.run(2)
    first, end, reason = host.gaps[0]
    assert (first, reason) == (0, m.GapReason.OVERWRITTEN)
    assert next(b for b in host.blocks if b[0])[1] == end
    assert host.firmware.streams[0].memory.lost >= 750


def test_a_pause_is_a_gap_of_its_own_reason() -> None:
    host = streaming()
    host.run(1)
    host.write("05")
    host.run(1)
    host.write("03")
    host.run(1)
    host.write("0600" + struct.pack("<IH", 0, 1000).hex())
    host.run(1)
    # The sample of power-on's own instant was not taken, either: CONFIGURE came later.
    assert [reason for _, _, reason in host.gaps] == [m.GapReason.NOT_SAMPLED, m.GapReason.NOT_SAMPLED]
    covered = sum(count for memory, _, count in host.blocks if memory) + sum(end - first for first, end, _ in host.gaps)
    assert covered == host.ends[0][0]


def test_what_was_acknowledged_is_forgotten() -> None:
    host = streaming()
    host.run(2)
    host.write("0800" + struct.pack("<I", 100).hex())
    host.write("0600" + struct.pack("<IH", 0, 1000).hex())
    host.run(2)
    assert host.gaps == [(0, 100, m.GapReason.OVERWRITTEN)]


def test_an_index_beyond_the_newest_sample_is_refused() -> None:
    host = streaming()
    host.run(1)
    host.write("0800" + struct.pack("<I", 100_000).hex())
    host.write("0600" + struct.pack("<IH", 100_000, 1).hex())
    host.run(0.1)
    assert host.results()[-2:] == [(8, 4), (6, 4)]


def test_the_counter_wraps() -> None:
    host = streaming(first_index=0xFFFF_FFF0)
    host.run(1)
    host.write("0600" + struct.pack("<IH", 0xFFFF_FFF1, 1000).hex())
    host.run(2)
    memory = [block for block in host.blocks if block[0]]
    assert sum(block[2] for block in memory) == (host.ends[0][0] + 15) & 0xFFFF_FFFF


def test_wrong_commands_are_refused() -> None:
    host = streaming()
    host.run(0.1)
    host.control.clear()
    for command in ("0b", "0400", "0901", "07010000"):
        host.write(command)
    host.run(0.1)
    assert host.results() == [(0x0B, 1), (0x04, 2), (0x09, 3), (0x07, 3)]


def test_asleep_it_answers_only_status_and_wake() -> None:
    host = streaming()
    host.run(1)
    host.control.clear()
    assert host.firmware.low_power(host.now)
    host.run(0.1)
    assert [value[2] for value in host.control if value[0] == 0x81] == [m.Condition.LOW_POWER]
    host.write("04")
    host.write("02")
    host.run(0.1)
    assert host.results() == [(4, 5), (2, 0)]
    assert host.condition() == m.Condition.IDLE


def test_a_muted_status_query_is_not_answered() -> None:
    host = streaming()
    host.run(0.1)
    host.control.clear()
    host.firmware.mutes_status = True
    host.write("01")
    host.run(1)
    assert host.control == []


def test_a_restart_has_a_new_boot_identifier_and_an_empty_memory() -> None:
    host = streaming()
    host.run(1)
    before = host.firmware.boot
    host.firmware.power_off(host.now)
    host.firmware.power_on(host.now + S)
    assert host.firmware.boot != before and host.firmware.streams[0].memory.runs == []


def test_abort_and_stop_end_a_read() -> None:
    host = streaming()
    host.run(5)
    host.write("0600" + struct.pack("<IH", 0, 1).hex())
    host.run(1)
    host.write("0900")
    host.run(1)
    host.write("0600" + struct.pack("<IH", 0, 1).hex())
    host.run(1)
    host.write("05")
    host.run(1)
    assert [reason for _, reason in host.ends] == [m.EndReason.ABORTED, m.EndReason.ABORTED]


def test_it_goes_on_in_another_process() -> None:
    host = streaming()
    host.run(2)
    host.write("0800" + struct.pack("<I", 100).hex())
    saved = json.loads(json.dumps(host.firmware.state()))
    other = Host()
    other.now = 10 * S
    other.firmware.resume(saved, other.now)
    assert other.firmware.boot == host.firmware.boot
    other.connect(m.CONTROL, m.DATA)
    other.write("0600" + struct.pack("<IH", 100, 1000).hex())
    other.run(20)
    assert other.gaps == [] and next(b for b in other.blocks if b[0])[1] == 100
    assert 250 * 10 < other.ends[0][0] <= 250 * 10 + 3


def test_a_radio_that_is_too_slow_drops_live_blocks_but_no_samples() -> None:
    host = streaming(packets_per_interval=1, instants_per_block=1)
    host.run(4)
    live = sum(count for _, _, count in host.blocks)
    assert live < 4 * 40
    host.write("05")
    host.firmware.plan = dataclasses.replace(host.firmware.plan, packets_per_interval=1000)
    host.write("0600" + struct.pack("<IH", 1, 60_000).hex())
    host.run(1)
    assert sum(count for memory, _, count in host.blocks if memory) == 1000 and host.gaps == []
