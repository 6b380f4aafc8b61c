"""Reading what is recorded as it comes."""

import contextlib
import math
import os
import pathlib
import sqlite3
import threading
import time
from collections.abc import Callable, Generator, Iterator
from typing import SupportsIndex

from eegsync.database import Database, DatabaseError, companion, integer, query
from eegsync.reading import Limit, ends, read_stream
from eegsync.recording import Recording, Stream
from eegsync.samples import Samples

# Seconds between two looks at whether something was committed, each of which takes microseconds and no lock.
POLL_SECONDS = 0.1

# The locks that this process holds, with how many ask for each: it would lose them all with the first that closes the file.
_held: dict[pathlib.Path, tuple[int, int]] = {}
_lock = threading.Lock()


def follow(
    recording: Recording, stream: str = "eeg", start: SupportsIndex | None = None, *, wait: Callable[[float], None] = time.sleep
) -> Generator[Samples]:
    """The samples of a stream as they are committed, until the recording has ended or the caller stops asking.

    Begins with the first sample that is committed from now on, or with the n `start`. As long as the generator is alive the
    daemon commits each second instead of each ten (the file `-follow`); what it has committed is yielded within a tenth of a
    second. The daemon never waits for it: it reads in short transactions. Samples that arrive later from a headset's memory,
    with smaller numbers, are not yielded: `read` has them.

    A commit can end between the banks of a stream of more than eight channels. A sample is yielded once every bank is there, or
    behind it; for a bank that is more than a second of samples behind, nothing waits. The end of the recording yields the rest.

    `wait` is called with the seconds until the next look, and may raise to end it all.
    """
    found = recording.stream(stream)
    first = integer(start)
    if first is None and start is not None:
        raise TypeError(f"{start!r} is no number of a sample")
    with _asking_for_each_second(recording.path):
        next_n = query(recording.path, lambda connection: _state(connection, recording, found)[1]) if first is None else first
        database = Database(recording.path)
        try:
            while True:
                seen = _look(database, recording, found, next_n)
                if seen is None:
                    # A writer has come to a file that was read without one.
                    database.close()
                    database = Database(recording.path)
                    continue
                samples, has_ended, version = seen
                if len(samples) > 0:
                    next_n = int(samples.n[-1]) + 1
                    yield samples
                if has_ended:
                    return
                while database.is_unchanged and _version(database) == version:
                    wait(POLL_SECONDS)
        finally:
            database.close()


def _look(database: Database, recording: Recording, stream: Stream, next_n: int) -> tuple[Samples, bool, int] | None:
    """The samples from `next_n` on, whether the recording had ended before, and the database's version before that.

    None where a writer came meanwhile to a file that is read without one: pages of before and after may stand side by side in
    what was read, or nothing could be read of them.
    """
    connection = database.connection
    try:
        version = _version(database)
        # Before the rows: what is committed between the two is seen by the next look.
        has_ended, end = _state(connection, recording, stream)
        samples = read_stream(connection, stream, Limit(n=next_n), Limit(n=end))
    except (sqlite3.Error, DatabaseError) as error:
        if not database.is_unchanged:
            return None
        raise (database.failure(error) if isinstance(error, sqlite3.Error) else error) from error
    return (samples, has_ended, version) if database.is_unchanged else None


def _version(database: Database) -> int:
    """Changes with each commit of another connection."""
    try:
        (version,) = database.connection.execute("PRAGMA data_version").fetchone()
    except sqlite3.Error as error:
        raise database.failure(error) from error
    return int(version)


def _state(connection: sqlite3.Connection, recording: Recording, stream: Stream) -> tuple[bool, int]:
    """Whether the recording has ended, and the n before which all that is awaited is there."""
    row = connection.execute("SELECT stopped_boottime_ns FROM recording WHERE id = ?", [recording.id]).fetchone()
    # After that: of a recording that has ended nothing more is committed.
    found = ends(connection, stream)
    if row is None or row[0] is not None:
        return True, max(found)
    return False, min(end for end in found if not _is_dead(connection, stream, found, end))


def _is_dead(connection: sqlite3.Connection, stream: Stream, found: list[int], end: int) -> bool:
    """Whether a bank that ends at `end` is more than a second of samples behind the foremost one.

    These are counted, as n leaps over a gap.
    """
    foremost = max(found)
    if end == foremost:
        return False
    behind = connection.execute(
        "SELECT 1 FROM sample WHERE stream_id = ? AND n BETWEEN ? AND ? LIMIT 1 OFFSET ?",
        [stream.banks[found.index(foremost)].stream_id, end, foremost - 1, math.ceil(stream.sampling_frequency)],
    )
    return behind.fetchone() is not None


@contextlib.contextmanager
def _asking_for_each_second(path: pathlib.Path) -> Iterator[None]:
    """Holds the shared lock that the daemon looks at before it commits; the kernel takes it back when this process ends."""
    try:
        import fcntl
    except ImportError:
        # On systems without these locks no daemon runs: what is followed there comes from another machine.
        yield
        return
    name = companion(path, "-follow")
    with _lock:
        if name not in _held:
            try:
                file = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
            except OSError:
                # No daemon has written the database yet, or this user may not ask: samples come each ten seconds.
                file = None
            if file is not None:
                # Not even here is anybody waited for.
                with contextlib.suppress(OSError):
                    fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                _held[name] = (file, 0)
        is_held = name in _held
        if is_held:
            _held[name] = (_held[name][0], _held[name][1] + 1)
    try:
        yield
    finally:
        with _lock:
            if is_held:
                file, count = _held[name]
                _held[name] = (file, count - 1)
                if count == 1:
                    del _held[name]
                    os.close(file)
