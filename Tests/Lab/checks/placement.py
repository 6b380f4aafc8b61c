"""Which sample of the headset each n of a stream is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from checks.database import Epoch, StoredStream
from headsets.kind import Rows
from headsets.kinds import kind_named
from headsets.truth import TrueBoot, TrueStream, Truth
from lab.marks import NANOSECONDS

# Of a stream with a single channel one row says too little: so many in a row are found only once.
_SINGLE_CHANNEL_ROWS = 32


@dataclass(frozen=True)
class Placement:
    """An epoch of a stored stream and the headset's boot that it belongs to: position = n + offset."""

    epoch: Epoch
    boot: TrueBoot
    stream: TrueStream
    offset: int
    # What the headset makes of the signal of `stream`.
    values: Callable[[Rows], Rows] = list

    def rows(self, n: int, count: int) -> Rows:
        """What must be stored."""
        return self.values(self.stream.rows(self.position(n), count))

    def position(self, n: int) -> int:
        """The headset's position of an n."""
        return n + self.offset

    def n(self, position: int) -> int:
        """The n of a headset's position."""
        return position - self.offset


def place_by_boot(stored: StoredStream, truth: Truth) -> tuple[list[Placement], list[str]]:
    """Places the epochs of a headset that sends boot identifiers and absolute indexes; also what cannot be placed."""
    placements, problems = [], []
    for epoch in stored.epochs:
        boot = truth.boot(epoch.boot) if epoch.boot is not None else None
        if boot is None:
            problems.append(f"{stored.name}: the epoch at n {epoch.first_n} names boot {epoch.boot}, which never was")
            continue
        stream = boot.streams[stored.position]
        position = (epoch.first_index - stream.first) & 0xFFFF_FFFF
        placements.append(Placement(epoch, boot, stream, position - epoch.first_n))
    return placements, problems


def place_by_values(stored: StoredStream, truth: Truth, kind: str) -> tuple[list[Placement], list[str]]:
    """Places the epochs of a headset whose counters say little: by the first row that is whole, which is found only once."""
    values = kind_named(kind).values(stored.name)
    width = _SINGLE_CHANNEL_ROWS if stored.channels == 1 else 1
    index: dict[tuple[tuple[int | None, ...], ...], tuple[TrueBoot, TrueStream, int]] = {}
    for boot in truth.boots:
        if stored.position >= len(boot.streams):
            continue
        stream = boot.streams[stored.position]
        for start, end in stream.sampled(_until(stored, truth)):
            true = [row[: stored.channels] for row in values(stream.rows(start, end - start))]
            for number in range(len(true) - width + 1):
                index[tuple(true[number : number + width])] = (boot, stream, start + number)
    placements, problems = [], []
    for epoch in stored.epochs:
        n = next((n for n in stored.rows if epoch.holds(n) and _are_whole(stored, n, width)), None)
        if n is None:
            continue
        found = index.get(tuple(stored.rows[n + number] for number in range(width)))
        if found is None:
            problems.append(f"{stored.name}: row n {n} is {stored.rows[n]}, which the headset never measured")
            continue
        boot, stream, position = found
        # An epoch begins with its first packet, whose rows may be incomplete; nothing before belongs to this boot.
        placements.append(Placement(replace(epoch), boot, stream, position - n, values))
    return placements, problems


def _until(stored: StoredStream, truth: Truth) -> int:
    """An instant after all that can be stored: a run that had no end when the journal ended did not go on for ever."""
    last = max((int(entry["time"]) for entry in truth.events), default=0)
    return last + round(len(stored.rows) / stored.sampling_frequency * NANOSECONDS) + 10 * NANOSECONDS


def _are_whole(stored: StoredStream, n: int, count: int) -> bool:
    """Whether so many rows from an n on are stored with all their channels."""
    return all(None not in stored.rows.get(n + number, (None,)) for number in range(count))
