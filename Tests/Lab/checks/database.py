"""What eegsync stored, read with SQLite alone, so that no mistake of eegsync's own reader is shared."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Epoch:
    """One run of the headset's counter; `end_n` is where the next one begins, None for the last."""

    boot: int | None
    first_n: int
    first_index: int
    end_n: int | None
    host_boot: int
    boottime: int

    def holds(self, n: int) -> bool:
        """Whether an n belongs to it."""
        return self.first_n <= n and (self.end_n is None or n < self.end_n)


@dataclass(frozen=True)
class Segment:
    """A piece of the time map."""

    first_n: int
    last_n: int
    host_boot: int
    reference_n: int
    reference_boottime: int
    period: float

    def boottime(self, n: int) -> float:
        """When a sample was taken, in nanoseconds of its host boot."""
        return self.reference_boottime + (n - self.reference_n) * self.period


@dataclass(frozen=True)
class Gap:
    """A line of the gap ledger. Channel 0: whole rows."""

    first_n: int
    count: int | None
    channel: int
    cause: str
    recovered: int

    def end_n(self, last_n: int) -> int:
        """The n after it; an open one reaches to the end."""
        return last_n + 1 if self.count is None else self.first_n + self.count


@dataclass
class StoredStream:
    """A stream of a recording. Rows are n and the values of its channels."""

    identifier: int
    position: int
    name: str
    sampling_frequency: float
    channels: int
    epochs: list[Epoch] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    rows: dict[int, tuple[int | None, ...]] = field(default_factory=dict)

    @property
    def bounds(self) -> tuple[int, int] | None:
        """The first and the last n that is stored or ledgered."""
        ends = [n for n in (min(self.rows, default=None), max(self.rows, default=None)) if n is not None]
        for gap in self.gaps:
            if gap.channel == 0 and gap.count is not None:
                ends += [gap.first_n, gap.first_n + gap.count - 1]
        return (min(ends), max(ends)) if ends else None


@dataclass
class StoredRecording:
    """A recording of a headset."""

    identifier: int
    headset: str
    serial: str | None
    stop_requested: tuple[int, int] | None
    streams: list[StoredStream] = field(default_factory=list)


@dataclass(frozen=True)
class StateChange:
    """A row of connection_event."""

    headset: str
    host_boot: int
    boottime: int
    state: str


@dataclass
class StoredDatabase:
    """Everything that the checks want to know."""

    recordings: list[StoredRecording]
    state_changes: list[StateChange]
    # The machine's boots as the database numbers them, oldest first.
    host_boots: list[int]


def read_database(path: Path) -> StoredDatabase:
    """Reads a whole database; it must be small."""
    with _open(path) as connection:
        recordings = [
            StoredRecording(row[0], row[1], row[2], (row[3], row[4]) if row[3] is not None else None)
            for row in connection.execute(
                "SELECT r.id, h.name, h.serial_number, r.stop_requested_host_boot_id, r.stop_requested_boottime_ns"
                " FROM recording AS r JOIN headset AS h ON h.id = r.headset_id ORDER BY r.id"
            )
        ]
        for recording in recordings:
            recording.streams = [_stream(connection, row) for row in _streams(connection, recording.identifier)]
        changes = [
            StateChange(*row)
            for row in connection.execute(
                "SELECT h.name, e.host_boot_id, e.boottime_ns, e.state FROM connection_event AS e"
                " JOIN headset AS h ON h.id = e.headset_id ORDER BY e.id"
            )
        ]
        boots = [row[0] for row in connection.execute("SELECT id FROM host_boot ORDER BY id")]
    return StoredDatabase(recordings, changes, boots)


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        yield connection
    finally:
        connection.close()


def _streams(connection: sqlite3.Connection, recording: int) -> list[tuple[int, int, str, float, int]]:
    return connection.execute(
        "SELECT id, position, name, sampling_frequency, channel_count FROM stream WHERE recording_id = ? ORDER BY position",
        (recording,),
    ).fetchall()


def _stream(connection: sqlite3.Connection, row: tuple[int, int, str, float, int]) -> StoredStream:
    stream = StoredStream(*row)
    key = (stream.identifier,)
    epochs = connection.execute(
        "SELECT boot_identifier, first_n, first_index, host_boot_id, boottime_ns FROM epoch"
        " WHERE stream_id = ? ORDER BY number",
        key,
    ).fetchall()
    ends = [row[1] for row in epochs[1:]] + [None]
    stream.epochs = [Epoch(row[0], row[1], row[2], end, row[3], row[4]) for row, end in zip(epochs, ends, strict=False)]
    stream.segments = [
        Segment(*row)
        for row in connection.execute(
            "SELECT first_n, last_n, host_boot_id, reference_n, reference_boottime_ns, period_ns FROM segment"
            " WHERE stream_id = ? ORDER BY first_n",
            key,
        )
    ]
    stream.gaps = [
        Gap(*row)
        for row in connection.execute(
            "SELECT first_n, count, channel, cause, recovered FROM gap WHERE stream_id = ? ORDER BY first_n", key
        )
    ]
    columns = ", ".join(f"c{number + 1}" for number in range(stream.channels))
    for sample in connection.execute(f"SELECT n, {columns} FROM sample WHERE stream_id = ? ORDER BY n", key):
        stream.rows[sample[0]] = sample[1:]
    return stream
