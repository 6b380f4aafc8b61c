"""Firmware of a headset with memory: the Buffered EEG service."""

from __future__ import annotations

import dataclasses
import struct
from dataclasses import dataclass, field

from . import buffered_messages as messages
from .buffered_messages import CONTROL, DATA, Code, Condition, EndReason, GapReason, Opcode, Stream
from .clock import NANOSECONDS, SamplingClock
from .firmware import NOTIFY, WRITE, Appearance, Characteristic, Firmware, Link, Notification, Service
from .journal import Journal
from .memory import RingMemory, Run
from .waveform import Waveform, boot_identifier

# A live block goes when it is full or when its first instant is this old: half of what the service allows.
_LIVE_DELAY = NANOSECONDS // 10
# What the radio could not carry within so many instants is not sent live any more; it stays in memory.
_LIVE_BACKLOG = 64
_TICKS_PER_SECOND = 32_768
_OVERRUN_PERIOD = 10 * NANOSECONDS
_SAMPLING = (Condition.STREAMING, Condition.SAMPLING)


@dataclass(frozen=True)
class BufferedPlan:
    """What one headset is like."""

    seed: int
    streams: tuple[Stream, ...]
    # Sampling periods of each stream that the memory holds.
    capacity: int = 300_000
    # The index of each stream at power-on; near 2^32 it soon wraps.
    first_index: int = 0
    # How much faster than nominal the crystal runs; about +-50 is usual.
    crystal_ppm: float = 12.0
    # How many notifications fit into one connection interval.
    packets_per_interval: int = 6
    # Seconds between live turns, at most 0.19; 0: a block goes as soon as it is full. With 0.15 a night costs half as much.
    live_interval: float = 0.0
    # True for a headset that samples since power-on without being told to.
    samples_from_boot: bool = False
    battery_percent: float = 87.0


@dataclass
class _Read:
    """A read of a stream's memory."""

    next: int
    end: int
    credit: int


@dataclass
class _StreamState:
    clock: SamplingClock
    waveform: Waveform
    memory: RingMemory
    # The next position to send live; None while nothing is sent live.
    live: int | None = None
    read: _Read | None = None
    acknowledgement_noted: int = field(default=-NANOSECONDS)


class BufferedFirmware(Firmware):
    """The state of such a headset. Positions count sampling periods since power-on; an index is first_index + position."""

    shows_serial = True

    def __init__(self, name: str, journal: Journal, plan: BufferedPlan) -> None:
        super().__init__(name, journal)
        self.plan = plan
        self.condition = Condition.IDLE
        self.boots = 0
        self.boot = 0
        self.began = 0
        self.streams: list[_StreamState] = []
        self.refused = 0
        self.sent = {"live": 0, "memory": 0}
        self._answers: list[bytes] = []
        self._next_turn: int | None = None

    def database(self) -> tuple[Service, ...]:
        control = Characteristic(CONTROL, frozenset({WRITE, NOTIFY}))
        return (Service(messages.SERVICE, (control, Characteristic(DATA, frozenset({NOTIFY})))),)

    def appearance(self, pairing: bool) -> Appearance:
        return Appearance(self.name, (messages.PAIRING_SERVICE if pairing else messages.SERVICE,))

    # Power

    def power_on(self, now: int) -> None:
        self._begin_boot(now)
        self._note_boot(now)
        self._become(Condition.IDLE, now)
        if self.plan.samples_from_boot:
            self._start_sampling(now)

    def _begin_boot(self, now: int) -> None:
        self.boot = boot_identifier(self.plan.seed, self.boots)
        self.boots += 1
        self.began = now
        self.streams = [
            _StreamState(
                SamplingClock(now, stream.frequency, self.plan.crystal_ppm),
                Waveform(self.plan.seed, self.boot, number, len(stream.channels)),
                RingMemory(self.plan.capacity),
            )
            for number, stream in enumerate(self.plan.streams)
        ]
        self._answers = []

    def _note_boot(self, now: int) -> None:
        self.journal.note(
            "boot",
            now,
            boot=self.boot,
            number=self.boots - 1,
            seed=self.plan.seed,
            clocks=[
                {
                    "first": self.plan.first_index,
                    "began": self.began,
                    "microhertz": state.clock.microhertz,
                    "channels": state.waveform.channels,
                }
                for state in self.streams
            ],
        )

    def state(self) -> dict[str, object]:
        return {
            "boots": self.boots,
            "began": self.began,
            "condition": int(self.condition),
            "memories": [dataclasses.asdict(state.memory) for state in self.streams],
        }

    def resume(self, state: dict[str, object], shift: int, now: int) -> None:
        self.boots = int(state["boots"]) - 1  # type: ignore[call-overload]
        self._begin_boot(int(state["began"]) + shift)  # type: ignore[call-overload]
        for stream, saved in zip(self.streams, state["memories"]):  # type: ignore[call-overload]
            runs = [Run(**run) for run in saved.pop("runs")]
            stream.memory = RingMemory(runs=runs, **saved)
        self.condition = Condition(int(state["condition"]))  # type: ignore[call-overload]

    def power_off(self, now: int) -> None:
        self._stop_sampling(Condition.IDLE, now)
        self.link = None
        self._next_turn = None

    def low_power(self, now: int) -> bool:
        if self.condition == Condition.LOW_POWER:
            return False
        self._stop_sampling(Condition.LOW_POWER, now)
        for state in self.streams:
            state.read = None
        # The headset tells by itself when its condition changes.
        self._answers += self._status_report(now)
        self._wake_for_answers(now)
        return True

    def _become(self, condition: Condition, now: int) -> None:
        if condition != self.condition:
            self.condition = condition
            self.journal.note("condition", now, condition=condition.name.lower())

    def _start_sampling(self, now: int) -> None:
        positions = [state.clock.position(now) for state in self.streams]
        for state, position in zip(self.streams, positions):
            state.memory.begin(position)
        self.journal.note("samplingBegan", now, boot=self.boot, positions=positions)
        self._become(Condition.SAMPLING, now)

    def _stop_sampling(self, condition: Condition, now: int) -> None:
        if self.condition in _SAMPLING:
            positions = [state.clock.position(now) for state in self.streams]
            for number, position in enumerate(positions):
                self._settled_end(number, now)
                self.streams[number].memory.stop(position)
            self.journal.note("samplingEnded", now, boot=self.boot, positions=positions)
        for state in self.streams:
            state.live = None
        self._become(condition, now)

    # Positions

    def index(self, position: int) -> int:
        """The index of a position, as it is sent."""
        return (self.plan.first_index + position) & 0xFFFF_FFFF

    def _position(self, index: int, near: int) -> int:
        difference = (index - self.index(near)) & 0xFFFF_FFFF
        return near + difference - (1 << 32 if difference >> 31 else 0)

    def _settled_end(self, number: int, now: int) -> int:
        """The position after the newest sample; overwrites what is too old."""
        state = self.streams[number]
        if self.condition in _SAMPLING:
            end = state.clock.position(now)
        else:
            end = (state.memory.runs[-1].end or 0) if state.memory.runs else 0
        lost = state.memory.settle(end)
        if lost:
            # An overrun goes on for as long as nobody acknowledges: one line in ten seconds, not one for each sample.
            if now - self.journal.last.get("overrun", -_OVERRUN_PERIOD) >= _OVERRUN_PERIOD:
                self.journal.note("overrun", now, stream=number, lost=state.memory.lost)
        return end

    # Link

    def connected(self, link: Link, now: int) -> None:
        super().connected(link, now)
        self._next_turn = None

    def disconnected(self, now: int) -> None:
        super().disconnected(now)
        self._answers = []
        self._next_turn = None
        for state in self.streams:
            state.live = None
            state.read = None

    def subscribed(self, uuid: str, now: int) -> None:
        self._begin_live(now)
        self._wake_for_answers(now)

    def _begin_live(self, now: int) -> None:
        """Live sending resumes with the subscription to data, from the newest sample on."""
        sends = self.condition == Condition.STREAMING and self.link is not None and DATA in self.link.notifying
        for number, state in enumerate(self.streams):
            if not sends:
                state.live = None
            elif state.live is None:
                state.live = self._settled_end(number, now)

    # Commands

    def write(self, uuid: str, value: bytes, now: int) -> None:
        if uuid != CONTROL:
            return
        opcode = value[0] if value else 0
        if opcode not in COMMANDS:
            self._answer(opcode, Code.UNKNOWN_COMMAND)
        elif len(value) != messages.COMMAND_LENGTHS[Opcode(opcode)]:
            self._answer(opcode, Code.WRONG_LENGTH)
        elif opcode == Opcode.STATUS:
            if not self.mutes_status:
                self._answers += self._status_report(now)
        elif opcode == Opcode.WAKE:
            if self.condition == Condition.LOW_POWER:
                self._become(Condition.IDLE, now)
            self._answer(opcode, Code.SUCCESS)
        elif self.condition == Condition.LOW_POWER:
            self._answer(opcode, Code.WRONG_CONDITION)
        else:
            self._answer(opcode, self._perform(Opcode(opcode), value[1:], now))
        self._wake_for_answers(now)

    def _answer(self, opcode: int, code: Code) -> None:
        self.refused += code != Code.SUCCESS
        self._answers.append(messages.result(opcode, code))

    def _perform(self, opcode: Opcode, rest: bytes, now: int) -> Code:
        if opcode == Opcode.SET_TIME:
            return Code.SUCCESS
        if opcode == Opcode.CONFIGURE:
            if self.condition not in _SAMPLING:
                self._start_sampling(now)
            return Code.SUCCESS
        if opcode == Opcode.START:
            if self.condition not in _SAMPLING:
                return Code.WRONG_CONDITION
            self._become(Condition.STREAMING, now)
            self._begin_live(now)
            return Code.SUCCESS
        if opcode == Opcode.STOP:
            self._stop_sampling(Condition.IDLE, now)
            for state in self.streams:
                if state.read is not None:
                    # A read of no more than what was sent already ends as aborted at the next turn.
                    state.read.end = state.read.next
                    state.read.credit = -1
            return Code.SUCCESS
        if rest[0] >= len(self.streams):
            return Code.NO_SUCH_STREAM
        return self._perform_on_stream(opcode, rest[0], rest[1:], now)

    def _perform_on_stream(self, opcode: Opcode, number: int, rest: bytes, now: int) -> Code:
        state = self.streams[number]
        end = self._settled_end(number, now)
        if opcode == Opcode.READ:
            index, credit = struct.unpack("<IH", rest)
            start = self._position(index, end)
            if start > end:
                return Code.INDEX_BEYOND_NEWEST
            state.read = _Read(start, end, credit)
            self.journal.note("read", now, stream=number, first=start, end=end)
        elif opcode == Opcode.CREDIT:
            if state.read is not None and state.read.credit >= 0:
                state.read.credit = min(65_535, state.read.credit + struct.unpack("<H", rest)[0])
        elif opcode == Opcode.ACKNOWLEDGE:
            position = self._position(struct.unpack("<I", rest)[0], end)
            if position > end:
                return Code.INDEX_BEYOND_NEWEST
            state.memory.acknowledge(position)
            if now - state.acknowledgement_noted >= NANOSECONDS:
                state.acknowledgement_noted = now
                self.journal.note("acknowledged", now, stream=number, position=position)
        elif opcode == Opcode.ABORT and state.read is not None:
            state.read.end = state.read.next
            state.read.credit = -1
        return Code.SUCCESS

    def _status_report(self, now: int) -> list[bytes]:
        ranges = []
        for number, state in enumerate(self.streams):
            end = self._settled_end(number, now)
            ranges.append((self.index(state.memory.oldest(end)), self.index(end), state.memory.lost))
        hours = (now - self.began) / 3600e9
        battery = round(max(1.0, min(100.0, self.plan.battery_percent - 2 * hours)))
        frequency = round(_TICKS_PER_SECOND * (1e6 + self.plan.crystal_ppm))
        ticks = (now - self.began) * frequency // (NANOSECONDS * 1_000_000)
        longest = self.link.longest if self.link is not None else 244
        report = [messages.status_header(self.condition, battery, self.boot, ticks, _TICKS_PER_SECOND, ranges)]
        for number, stream in enumerate(self.plan.streams):
            report += messages.stream_messages(number, stream, longest)
        return [*report, messages.status_end(len(ranges))]

    # Sending

    def _wake_for_answers(self, now: int) -> None:
        if self.link is None:
            return
        has_reads = any(state.read is not None for state in self.streams)
        if self._answers or has_reads:
            self._wake(now + self.link.interval)
        due = self._live_due()
        if due is not None:
            self._wake(max(due, now))

    def _wake(self, instant: int) -> None:
        if self._next_turn is None or instant < self._next_turn:
            self._next_turn = instant

    def _live_due(self) -> int | None:
        """When the next live block is full, or old enough."""
        due = None
        for number, state in enumerate(self.streams):
            if state.live is not None:
                instant = self._block_due(number, state.live)
                due = instant if due is None else min(due, instant)
        return due

    def _block_due(self, number: int, position: int) -> int:
        clock = self.streams[number].clock
        if self.plan.live_interval > 0:
            return clock.time(position) + round(self.plan.live_interval * NANOSECONDS)
        full = clock.time(position + self._most_instants(number) - 1)
        return min(full, clock.time(position) + _LIVE_DELAY)

    def _most_instants(self, number: int) -> int:
        longest = self.link.longest if self.link is not None else 244
        return messages.most_instants(self.streams[number].waveform.channels, longest)

    def next_turn(self, now: int) -> int | None:
        return self._next_turn

    def turn(self, now: int) -> list[Notification]:
        self._next_turn = None
        link = self.link
        if link is None:
            return []
        out = [Notification(CONTROL, answer) for answer in self._answers]
        self._answers = []
        if DATA in link.notifying:
            budget = self.plan.packets_per_interval
            budget = self._send_live(out, budget, now)
            if any(state.read is not None for state in self.streams):
                self._send_reads(out, budget, now)
                if any(state.read is not None and state.read.credit for state in self.streams):
                    self._wake(now + link.interval)
            due = self._live_due()
            if due is not None:
                # More than the radio can carry waits for its next turn.
                self._wake(due if due > now else now + link.interval)
        return out

    def _send_live(self, out: list[Notification], budget: int, now: int) -> int:
        for number, state in enumerate(self.streams):
            if state.live is None:
                continue
            end = self._settled_end(number, now)
            position = max(state.live, end - _LIVE_BACKLOG)
            most = self._most_instants(number)
            is_due = now >= self._block_due(number, position)
            while position < end and budget > 0:
                # What does not fill a block waits, unless its own time has come.
                if not (is_due and end - position >= most) and now < self._block_due(number, position):
                    break
                count = min(end - position, most)
                out.append(self._block(number, position, count, from_memory=False))
                self.sent["live"] += count
                position += count
                budget -= 1
            state.live = position
        return budget

    def _send_reads(self, out: list[Notification], budget: int, now: int) -> None:
        for number, state in enumerate(self.streams):
            self._settled_end(number, now)
            while state.read is not None and budget > 0:
                read = state.read
                budget -= 1
                if read.next >= read.end:
                    reason = EndReason.ABORTED if read.credit < 0 else EndReason.COMPLETE
                    out.append(Notification(DATA, messages.end(number, self.index(read.next), reason)))
                    state.read = None
                    break
                end, missing = state.memory.content(read.next, read.end)
                if missing is not None:
                    message = messages.gap(number, self.index(read.next), self.index(end), GapReason(missing))
                    out.append(Notification(DATA, message))
                    read.next = end
                    continue
                if read.credit == 0:
                    break
                count = min(end - read.next, self._most_instants(number))
                out.append(self._block(number, read.next, count, from_memory=True))
                self.sent["memory"] += count
                read.next += count
                read.credit -= 1

    def _block(self, number: int, position: int, count: int, from_memory: bool) -> Notification:
        waveform = self.streams[number].waveform
        index = self.index(position)
        values = waveform.int24(index, count)
        message = messages.block(from_memory, self.boot, number, 0, waveform.channels, count, index, values)
        return Notification(DATA, message)

    def statistics(self, now: int) -> dict[str, object]:
        return {
            "condition": self.condition.name.lower(),
            "boot": self.boot,
            "boots": self.boots,
            "refused": self.refused,
            "sent": dict(self.sent),
            "streams": [
                {"end": self._settled_end(n, now), "acknowledged": s.memory.acknowledged, "lost": s.memory.lost}
                for n, s in enumerate(self.streams)
            ],
        }


COMMANDS = frozenset(int(opcode) for opcode in Opcode)
