"""Reading a stretch of a stream, by numbers or by times."""

import dataclasses
import datetime
import sqlite3

import numpy as np
from numpy.typing import NDArray

from eegsync.database import query
from eegsync.recording import EPOCH, Recording, Stream
from eegsync.rows import Rows, joined, read_rows
from eegsync.samples import Samples
from eegsync.time_map import NO_TIME, TimeMap

# A number of a sample; an instant; or how long after the recording's first sample.
Bound = int | str | datetime.datetime | np.datetime64 | datetime.timedelta
LEAST, MOST = -(2**62), 2**62


def read(recording: Recording, stream: str = "eeg", start: Bound | None = None, stop: Bound | None = None) -> Samples:
    """The samples of a stream from `start` to before `stop`, all of them where these are left out.

    A bound is an n (an integer), an instant (`datetime` with a zone, `numpy.datetime64` in UTC, or ISO 8601 text with a
    zone), or a `timedelta` since the recording's first sample. An hour of 8 channels of 250 Hz takes half a second and 100 MB.
    While it is recorded, samples are there as soon as they are committed.

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
    banks = []
    is_by_time = start.unix_ns is not None or stop.unix_ns is not None
    for bank in stream.banks:
        ranges = [(_first(start), _last(stop))]
        if is_by_time:
            ranges = _ranges(TimeMap.read(connection, bank.stream_id), start, stop)
        pieces = [read_rows(connection, bank, *each) for each in ranges]
        # After the rows, so that the latest of them have the line that was fitted to them.
        time_map = TimeMap.read(connection, bank.stream_id)
        banks.append((time_map, _within(pieces, time_map, start, stop) if is_by_time else pieces[0]))
    return _side_by_side(stream, banks)


def _limit(recording: Recording, bound: Bound | None) -> Limit:
    match bound:
        case None:
            return Limit()
        case int():
            return Limit(n=bound)
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
            raise TypeError(f"{bound!r} is no number of a sample, no instant and no timedelta")


def _first(start: Limit) -> int:
    return LEAST if start.n is None else start.n


def _last(stop: Limit) -> int:
    return MOST if stop.n is None else stop.n - 1


def _ranges(time_map: TimeMap, start: Limit, stop: Limit) -> list[tuple[int, int]]:
    """The ranges of n, both ends included, to look at."""
    since = -(2**61) if start.unix_ns is None else start.unix_ns
    until = 2**61 if stop.unix_ns is None else stop.unix_ns
    found = [(max(a, _first(start)), min(b, _last(stop))) for a, b in time_map.ranges(since, until)]
    # One that holds nothing, where no line has such times.
    return found or [(0, -1)]


def _within(pieces: list[Rows], time_map: TimeMap, start: Limit, stop: Limit) -> Rows:
    """The rows whose times are within the bounds, which the ranges only came near to."""
    rows = joined(pieces)
    times = time_map.unix_ns(rows.n)
    wanted = times != NO_TIME
    if start.unix_ns is not None:
        wanted &= times >= start.unix_ns
    if stop.unix_ns is not None:
        wanted &= times < stop.unix_ns
    return Rows(rows.n[wanted], rows.raw[wanted], None if rows.missing is None else rows.missing[wanted])


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
