"""Reading a stretch of a stream, by numbers or by times."""

import dataclasses
import datetime
import sqlite3
from typing import SupportsIndex

import numpy as np
from numpy.typing import NDArray

from eegsync.database import integer, query
from eegsync.recording import EPOCH, Recording, Stream
from eegsync.rows import Rows, joined, read_rows
from eegsync.samples import Samples
from eegsync.time_map import NO_TIME, TimeMap

# A number of a sample; an instant; or how long after the recording's first sample.
Bound = SupportsIndex | str | datetime.datetime | np.datetime64 | datetime.timedelta
LEAST, MOST = -(2**62), 2**62


def read(recording: Recording, stream: str = "eeg", start: Bound | None = None, stop: Bound | None = None) -> Samples:
    """The samples of a stream from `start` to before `stop`, all of them where these are left out.

    A bound is an n (an integer of Python or numpy), an instant (`datetime` with a zone, `numpy.datetime64` in UTC, or ISO 8601
    text with a zone), or a `timedelta` since the recording's first sample. An hour of 8 channels of 250 Hz takes half a second
    and 100 MB. While it is recorded, samples are there as soon as they are committed.

    Raises KeyError for a stream that is not there, ValueError for an instant without a zone, DatabaseError for the file.
    """
    found = recording.stream(stream)
    bounds = _limit(recording, start), _limit(recording, stop)
    return query(recording.path, lambda connection: read_stream(connection, found, *bounds))


@dataclasses.dataclass(frozen=True)
class Limit:
    """One end of a range: an n, or nanoseconds since 1970; both None for no bound."""

    n: int | None = None
    unix_ns: int | None = None


def read_stream(connection: sqlite3.Connection, stream: Stream, start: Limit, stop: Limit) -> Samples:
    """The samples of a stream through a connection: the first bank that has a sample decides its time, as in the view."""
    ranges = _ranges(connection, stream, start, stop)
    rows = [joined([read_rows(connection, bank, *each) for each in ranges]) for bank in stream.banks]
    # After the rows, so that the latest of them have the line that was fitted to them.
    time_maps = [TimeMap.read(connection, bank.stream_id) for bank in stream.banks]
    return _within(_side_by_side(stream, list(zip(time_maps, rows, strict=True))), start, stop)


def ends(connection: sqlite3.Connection, stream: Stream) -> list[int]:
    """The n behind the last one of each bank, at one instant; 0 for a bank without a row."""
    of_bank = "(SELECT coalesce(max(n) + 1, 0) FROM sample WHERE stream_id = ?)"
    row = connection.execute(
        f"SELECT {', '.join([of_bank] * len(stream.banks))}", [bank.stream_id for bank in stream.banks]
    ).fetchone()
    return list(row)


def _limit(recording: Recording, bound: Bound | None) -> Limit:
    match bound:
        case None:
            return Limit()
        case datetime.timedelta():
            if recording.start_unix_ns is None:
                raise ValueError(f"recording {recording.id} has no first sample with a time from which {bound} could count")
            return Limit(unix_ns=recording.start_unix_ns + bound // datetime.timedelta(microseconds=1) * 1000)
        case np.datetime64():
            return Limit(unix_ns=int(bound.astype("datetime64[ns]").astype(np.int64)))
        case str():
            return _limit(recording, datetime.datetime.fromisoformat(bound))
        case datetime.datetime():
            if bound.tzinfo is None:
                raise ValueError(f"{bound} has no time zone; write {bound.isoformat()}Z for UTC")
            # pandas' Timestamp is a datetime, and knows the nanoseconds.
            rest = int(getattr(bound, "nanosecond", 0))
            return Limit(unix_ns=(bound - EPOCH) // datetime.timedelta(microseconds=1) * 1000 + rest)
        case _:
            n = integer(bound)
            if n is None:
                raise TypeError(f"{bound!r} is no number of a sample, no instant and no timedelta")
            return Limit(n=n)


def _first(start: Limit) -> int:
    return LEAST if start.n is None else start.n


def _last(stop: Limit) -> int:
    return MOST if stop.n is None else stop.n - 1


def _ranges(connection: sqlite3.Connection, stream: Stream, start: Limit, stop: Limit) -> list[tuple[int, int]]:
    """The ranges of n, both ends included, to look at in every bank: apart, ascending, at least one."""
    # What is committed while the banks are read, one after the other, would be half there.
    first, last = _first(start), min(_last(stop), max(ends(connection, stream)) - 1)
    if start.unix_ns is None and stop.unix_ns is None:
        return [(first, last)]
    since = -(2**61) if start.unix_ns is None else start.unix_ns
    until = 2**61 if stop.unix_ns is None else stop.unix_ns
    found: list[tuple[int, int]] = []
    # Any bank may be the one that decides the time of a row.
    of_banks = [TimeMap.read(connection, bank.stream_id).ranges(since, until) for bank in stream.banks]
    for a, b in sorted((max(a, first), min(b, last)) for of_bank in of_banks for a, b in of_bank):
        if found and a <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], b))
        elif a <= b:
            found.append((a, b))
    # One that holds nothing, where no line has such times.
    return found or [(0, -1)]


def _within(samples: Samples, start: Limit, stop: Limit) -> Samples:
    """The samples whose times are within the bounds, which the ranges only came near to."""
    if start.unix_ns is None and stop.unix_ns is None:
        return samples
    wanted = samples.unix_ns != NO_TIME
    if start.unix_ns is not None:
        wanted &= samples.unix_ns >= start.unix_ns
    if stop.unix_ns is not None:
        wanted &= samples.unix_ns < stop.unix_ns
    missing = None if samples.missing is None else samples.missing[wanted]
    if missing is not None and not missing.any():
        missing = None
    return Samples(samples.stream, samples.n[wanted], samples.unix_ns[wanted], samples.raw[wanted], missing)


def _side_by_side(stream: Stream, banks: list[tuple[TimeMap, Rows]]) -> Samples:
    first_map, first = banks[0]
    if len(banks) == 1:
        return Samples(stream, first.n, first_map.unix_ns(first.n), first.raw, first.missing)
    n = np.unique(np.concatenate([rows.n for _, rows in banks]))
    dtype = np.int64 if any(rows.raw.dtype == np.int64 for _, rows in banks) else np.int32
    raw = np.zeros((len(n), len(stream.channels)), dtype=dtype)
    missing = np.ones(raw.shape, dtype=np.bool_)
    unix_ns = np.full(len(n), NO_TIME, dtype=np.int64)
    is_timed = np.zeros(len(n), dtype=np.bool_)
    column = 0
    for bank, (time_map, rows) in zip(stream.banks, banks, strict=True):
        index = np.searchsorted(n, rows.n)
        columns = slice(column, column + len(bank.channels))
        raw[index, columns] = rows.raw
        missing[index, columns] = False if rows.missing is None else rows.missing
        new: NDArray[np.int64] = index[~is_timed[index]]
        unix_ns[new] = time_map.unix_ns(n[new])
        is_timed[index] = True
        column += len(bank.channels)
    return Samples(stream, n, unix_ns, raw, missing if missing.any() else None)
