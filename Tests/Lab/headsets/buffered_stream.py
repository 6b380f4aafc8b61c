"""One stream of a headset with the Buffered EEG service: its samples, its memory, and what is sent of it."""

from __future__ import annotations

from dataclasses import dataclass

from . import buffered_messages as messages
from .buffered_messages import Code, EndReason, Stream
from .clock import NANOSECONDS, SamplingClock
from .journal import Journal
from .memory import RingMemory
from .waveform import Waveform

# A live block goes when it is full or when its first instant is this old: half of what the service allows.
_LIVE_DELAY = NANOSECONDS // 10
# What the radio could not carry within so many nanoseconds is not sent live any more; it stays in memory.
_LIVE_BACKLOG = NANOSECONDS // 4


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
    # The most sampling periods in a block; 1 makes many small notifications.
    instants_per_block: int = 255
    # How many notifications fit into one connection interval.
    packets_per_interval: int = 6
    # Seconds between live turns, at most 0.19; 0: a block goes as soon as it is full. With 0.15 a night costs less.
    live_interval: float = 0.0
    # True for a headset that samples since power-on without being told to.
    samples_from_boot: bool = False
    battery_percent: float = 87.0


@dataclass
class _Read:
    """A read of the memory."""

    next: int
    end: int
    credit: int
    is_aborted: bool = False


class BufferedStream:
    """Positions count sampling periods since power-on; an index is first_index + position."""

    def __init__(self, plan: BufferedPlan, number: int, boot: int, began: int, journal: Journal) -> None:
        stream = plan.streams[number]
        self.number = number
        self.boot = boot
        self.clock = SamplingClock(began, stream.frequency, plan.crystal_ppm)
        self.waveform = Waveform(plan.seed, boot, number, len(stream.channels))
        self.memory = RingMemory(plan.capacity)
        # The next position to send live; None while nothing is sent live.
        self.live: int | None = None
        self.read: _Read | None = None
        # The longest notification of the present link.
        self.longest = 244
        self.sent_live = 0
        # What was too old to be sent live when the radio had time for it.
        self.skipped_live = 0
        self.sent_from_memory = 0
        self._plan = plan
        self._journal = journal
        self._acknowledgement_noted = -NANOSECONDS
        self._overrun_noted = -NANOSECONDS

    # Sampling

    def begin(self, now: int) -> int:
        """Sampling begins; the first position."""
        position = self.clock.position(now)
        self.memory.begin(position)
        return position

    def stop(self, now: int) -> int:
        """Sampling ends; the position after the last one."""
        position = self.clock.position(now)
        self.settle(now)
        self.memory.stop(position)
        self.live = None
        if self.memory.lost:
            self._note_overrun(now)
        return position

    def settle(self, now: int) -> int:
        """The position after the newest sample; overwrites what is too old."""
        runs = self.memory.runs
        newest = runs[-1].end if runs else 0
        end = self.clock.position(now) if newest is None else newest
        # An overrun goes on for as long as nobody acknowledges: a line each second, not one for each sample.
        if self.memory.settle(end) and now - self._overrun_noted >= NANOSECONDS:
            self._note_overrun(now)
        return end

    def _note_overrun(self, now: int) -> None:
        self._overrun_noted = now
        self._journal.note("overrun", now, stream=self.number, lost=self.memory.lost)

    # Indexes

    def index(self, position: int) -> int:
        """The index of a position, as it is sent."""
        return (self._plan.first_index + position) & 0xFFFF_FFFF

    def position(self, index: int, near: int) -> int:
        """The position with an index that lies nearest to another one: indexes are compared modulo 2^32."""
        difference = (index - self.index(near)) & 0xFFFF_FFFF
        return near + difference - (1 << 32 if difference >> 31 else 0)

    def range(self, now: int) -> tuple[int, int, int]:
        """Oldest index, index after the newest, and lost samples, as the status header has them."""
        end = self.settle(now)
        return self.index(self.memory.oldest(end)), self.index(end), self.memory.lost

    # Commands

    def start_read(self, index: int, credit: int, now: int) -> Code:
        """READ."""
        end = self.settle(now)
        start = self.position(index, end)
        if start > end:
            return Code.INDEX_BEYOND_NEWEST
        self.read = _Read(start, end, credit)
        self._journal.note("read", now, stream=self.number, first=start, end=end)
        return Code.SUCCESS

    def add_credit(self, blocks: int) -> None:
        """CREDIT."""
        if self.read is not None:
            self.read.credit = min(65_535, self.read.credit + blocks)

    def abort(self) -> None:
        """ABORT, or STOP: the read ends at the next turn, with what was sent."""
        if self.read is not None:
            self.read.end = self.read.next
            self.read.is_aborted = True

    def acknowledge(self, index: int, now: int) -> Code:
        """ACKNOWLEDGE."""
        end = self.settle(now)
        position = self.position(index, end)
        if position > end:
            return Code.INDEX_BEYOND_NEWEST
        self.memory.acknowledge(position)
        if now - self._acknowledgement_noted >= NANOSECONDS:
            self._acknowledgement_noted = now
            self._journal.note("acknowledged", now, stream=self.number, position=position)
        return Code.SUCCESS

    # Sending

    @property
    def wants_turn(self) -> bool:
        """True where a read can go on; without credit it waits."""
        read = self.read
        return read is not None and (read.credit > 0 or read.next >= read.end)

    @property
    def live_due(self) -> int | None:
        """When the next live block is full, or old enough."""
        return None if self.live is None else self._block_due(self.live)

    def _block_due(self, position: int) -> int:
        if self._plan.live_interval > 0:
            return self.clock.time(position) + round(self._plan.live_interval * NANOSECONDS)
        full = self.clock.time(position + self._most_instants() - 1)
        return min(full, self.clock.time(position) + _LIVE_DELAY)

    def _most_instants(self) -> int:
        return min(messages.most_instants(self.waveform.channels, self.longest), self._plan.instants_per_block)

    def live_messages(self, most: int, now: int) -> list[bytes]:
        """At most so many live blocks."""
        if self.live is None:
            return []
        out: list[bytes] = []
        end = self.settle(now)
        position = max(self.live, self.clock.position(now - _LIVE_BACKLOG))
        self.skipped_live += position - self.live
        instants = self._most_instants()
        is_due = now >= self._block_due(position)
        while position < end and len(out) < most:
            # What does not fill a block waits, unless its own time has come.
            if not (is_due and end - position >= instants) and now < self._block_due(position):
                break
            count = min(end - position, instants)
            out.append(self._block(position, count, from_memory=False))
            self.sent_live += count
            position += count
        self.live = position
        return out

    def read_messages(self, most: int, now: int) -> list[bytes]:
        """At most so many messages of the running read."""
        out: list[bytes] = []
        self.settle(now)
        while self.read is not None and len(out) < most:
            read = self.read
            if read.next >= read.end:
                reason = EndReason.ABORTED if read.is_aborted else EndReason.COMPLETE
                out.append(messages.end(self.number, self.index(read.next), reason))
                self.read = None
                break
            end, missing = self.memory.content(read.next, read.end)
            if missing is not None:
                out.append(messages.gap(self.number, self.index(read.next), self.index(end), missing))
                read.next = end
                continue
            if read.credit == 0:
                break
            count = min(end - read.next, self._most_instants())
            out.append(self._block(read.next, count, from_memory=True))
            self.sent_from_memory += count
            read.next += count
            read.credit -= 1
        return out

    def _block(self, position: int, count: int, from_memory: bool) -> bytes:
        index = self.index(position)
        values = self.waveform.int24(index, count)
        return messages.block(from_memory, self.boot, self.number, 0, self.waveform.channels, count, index, values)
