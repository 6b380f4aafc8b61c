"""Sample rows of one bank, out of SQLite into numpy.

An hour of 8 channels at 250 Hz is 7.2 million integers, and making a Python object of each row takes longer than reading it.
So SQLite joins the rows to one blob: for each row it calls `struct.Struct.pack`, which makes bytes of all channels in one
step of C, and `group_concat` strings these together. What that cannot hold (a lost channel, a value beyond 32 bits) is read
another way.
"""

import dataclasses
import sqlite3
import struct

import numpy as np
from numpy.typing import NDArray

from eegsync.recording import Bank

# Numbers of one read transaction, some 40 ms: the daemon's log can begin anew in between.
CHUNK = 65_536
# Shorter runs between gaps are read together.
SHORTEST_RUN = 1024


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows of one bank by ascending n."""

    n: NDArray[np.int64]
    # One row for each n, one column for each channel; 0 where it is missing
    raw: NDArray[np.int32] | NDArray[np.int64]
    # The same shape, True where the channel was lost; None where nothing was
    missing: NDArray[np.bool_] | None


def read_rows(connection: sqlite3.Connection, bank: Bank, first: int, last: int) -> Rows:
    """The rows from `first` to `last`, both included; an n without a row is not there."""
    reader = RowReader(connection, bank)
    # Also where there is nothing, so that the shape is right.
    chunks = [Rows(np.empty(0, np.int64), np.empty((0, len(bank.channels)), np.int32), None)]
    bounds = connection.execute(
        "SELECT (SELECT n FROM sample WHERE stream_id = ?1 AND n >= ?2 ORDER BY n LIMIT 1),"
        " (SELECT n FROM sample WHERE stream_id = ?1 AND n <= ?3 ORDER BY n DESC LIMIT 1)",
        [bank.stream_id, first, last],
    ).fetchone()
    if None not in bounds:
        chunks += [reader.read(*each) for each in _cut(connection, bank.stream_id, *bounds)]
    return joined(chunks)


def _cut(connection: sqlite3.Connection, stream_id: int, first: int, last: int) -> list[tuple[int, int]]:
    """Ranges that cover all of `first` to `last`, most of them without a hole: of these the numbers need not be read.

    The ledger says where to cut, and nothing else is believed of it: what lies in a gap is a range, too.
    """
    gaps = connection.execute(
        "SELECT first_n, first_n + count FROM gap WHERE stream_id = ? AND channel = 0 AND count > recovered"
        " AND first_n + count > ? AND first_n <= ? ORDER BY first_n",
        [stream_id, first, last],
    )
    borders = [first]
    for begin, end in gaps:
        # A range costs as much as some hundred numbers.
        if begin - borders[-1] >= SHORTEST_RUN and end <= last:
            borders += [begin, end]
    ranges = []
    for begin, end in zip(borders, [*borders[1:], last + 1], strict=True):
        ranges += [(each, min(each + CHUNK, end) - 1) for each in range(begin, end, CHUNK)]
    return ranges


class RowReader:
    """Reads chunks of one bank: the fast way, else the way for lost channels, else the way for whatever there may be."""

    def __init__(self, connection: sqlite3.Connection, bank: Bank) -> None:
        self.connection = connection
        self.stream_id = bank.stream_id
        self.count = len(bank.channels)
        self.columns = [f"c{number + 1}" for number in range(self.count)]
        self.has_lost = False
        connection.create_function("pack_row", self.count, struct.Struct(f"={self.count}i").pack, deterministic=True)
        connection.create_function("pack_any", self.count + 2, struct.Struct(f"={self.count + 2}q").pack, deterministic=True)

    def read(self, first: int, last: int) -> Rows:
        self.connection.execute("BEGIN")
        try:
            rows = None if self.has_lost else self.dense(first, last)
            if rows is None:
                rows = self.sparse(first, last)
                # Where a packet holds one channel, a loss in one chunk announces losses in the next.
                self.has_lost = rows.missing is not None
        finally:
            self.connection.execute("COMMIT")
        return rows

    def _blob(self, expression: str, first: int, last: int) -> bytes:
        # SQLite keeps the order of a subquery for group_concat.
        (blob,) = self.connection.execute(
            "SELECT CAST(group_concat(packed, '') AS BLOB) FROM ("
            f"SELECT {expression} AS packed FROM sample WHERE stream_id = ? AND n BETWEEN ? AND ? ORDER BY n)",
            [self.stream_id, first, last],
        ).fetchone()
        return blob or b""

    def dense(self, first: int, last: int) -> Rows | None:
        """Rows all of whose values are there and have 32 bits; None where one has not."""
        try:
            blob = self._blob(f"pack_row({', '.join(self.columns)})", first, last)
        except sqlite3.OperationalError:
            # `pack` refuses None and numbers beyond 32 bits.
            return None
        if len(blob) % (4 * self.count) != 0:
            return None
        raw = np.frombuffer(blob, dtype=np.int32).reshape(-1, self.count)
        is_whole = len(raw) == last - first + 1
        n = np.arange(first, last + 1, dtype=np.int64) if is_whole else self.numbers(first, last)
        return Rows(n, raw, None) if len(n) == len(raw) else None

    def numbers(self, first: int, last: int) -> NDArray[np.int64]:
        rows = self.connection.execute(
            "SELECT n FROM sample WHERE stream_id = ? AND n BETWEEN ? AND ? ORDER BY n", [self.stream_id, first, last]
        )
        return np.fromiter((row[0] for row in rows), dtype=np.int64)

    def sparse(self, first: int, last: int) -> Rows:
        """Any rows: each with its n, a bit for each channel that is missing, and 64 bits for each channel."""
        bits = " | ".join(f"(({column} IS NULL) << {index})" for index, column in enumerate(self.columns))
        values = ", ".join(f"coalesce({column}, 0)" for column in self.columns)
        blob = self._blob(f"pack_any(n, {bits}, {values})", first, last)
        whole = np.frombuffer(blob, dtype=np.int64).reshape(-1, self.count + 2)
        missing = (whole[:, 1:2] >> np.arange(self.count)) & 1 == 1
        raw = whole[:, 2:]
        narrow = raw.astype(np.int32)
        fits = bool((narrow == raw).all())
        return Rows(whole[:, 0], narrow if fits else raw, missing if missing.any() else None)


def joined(chunks: list[Rows]) -> Rows:
    """Chunks one behind the other; at least one."""
    if len(chunks) == 1:
        return chunks[0]
    missing = None
    if any(chunk.missing is not None for chunk in chunks):
        nothing = [np.zeros(chunk.raw.shape, dtype=np.bool_) if chunk.missing is None else chunk.missing for chunk in chunks]
        missing = np.concatenate(nothing)
    return Rows(np.concatenate([chunk.n for chunk in chunks]), np.concatenate([chunk.raw for chunk in chunks]), missing)
