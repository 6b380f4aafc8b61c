"""A study: recordings of many machines, each with its database, exported into one folder of Parquet."""

import datetime
import itertools
import os
import pathlib
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field

DAY = 86_400_000_000_000
MICROSECOND = datetime.timedelta(microseconds=1)
# The machine whose recordings go on over midnight.
OVER_MIDNIGHT = 3
# Of each channel how many values there are, and their mean.
Channels = dict[str, tuple[int, float | None]]


@dataclass
class Stream:
    """What a database says of one stream."""

    rows: int
    # UTC, in microseconds since 1970, of the first and the last row.
    first: int
    last: int
    channels: Channels
    # Rows of each day of UTC.
    days: dict[str, int]


@dataclass
class Recorded:
    uuid: str
    headset: str
    model: str
    streams: dict[str, Stream] = field(default_factory=dict)


def run(program: str, *words: object) -> None:
    environment = {**os.environ, "EEGSYNC_PYTHON": sys.executable}
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"


def move(database: pathlib.Path, days: int, *, over_midnight: bool) -> None:
    """Each machine has recorded on a day of its own."""
    connection = sqlite3.connect(database)
    start, end = connection.execute("SELECT min(start_unix_ns), max(end_unix_ns) FROM stream_overview").fetchone()
    moved = days * DAY + (DAY - (start + end) // 2 % DAY if over_midnight else 0)
    connection.execute("UPDATE clock_offset SET offset_ns = offset_ns + ?", [moved])
    connection.commit()
    connection.close()


def stream(connection: sqlite3.Connection, number: int, view: str) -> Stream:
    names = [
        name
        for (name,) in connection.execute(
            "SELECT c.name FROM channel AS c JOIN stream AS s ON s.id = c.stream_id"
            " WHERE s.recording_id = ? AND s.view_name = ? ORDER BY s.bank, c.number",
            [number, view],
        )
    ]
    asked = ", ".join(f'count("{name}"), avg("{name}")' for name in names)
    rows, first, last, *channels = connection.execute(
        f'SELECT count(*), min(unix_ns) / 1000, max(unix_ns) / 1000, {asked} FROM "{view}"'
    ).fetchone()
    # Of whole seconds: SQLite's date() rounds to the millisecond, and the last one of a day would be the next day's.
    day = f"date(unix_ns / {DAY} * 86400, 'unixepoch')"
    days = dict(connection.execute(f'SELECT {day}, count(*) FROM "{view}" GROUP BY 1'))
    pairs = zip(channels[::2], channels[1::2], strict=True)
    return Stream(rows, first, last, dict(zip(names, pairs, strict=True)), days)


def recordings(database: pathlib.Path) -> dict[int, Recorded]:
    """All that have rows, by their numbers."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    found = {}
    for number, uuid, headset, model in connection.execute(
        "SELECT r.id, r.uuid, h.name, h.model FROM recording AS r JOIN headset AS h ON h.id = r.headset_id"
    ).fetchall():
        recorded = Recorded(uuid, headset, model)
        for name, view in connection.execute(
            "SELECT DISTINCT stream, view_name FROM stream_overview WHERE recording_id = ? AND rows > 0", [number]
        ).fetchall():
            recorded.streams[name] = stream(connection, number, view)
        if recorded.streams:
            found[number] = recorded
    connection.close()
    return found


def make(program: str, directory: pathlib.Path, count: int) -> list[Recorded]:
    """Rehearses until there are so many recordings, and exports them into `tables`."""
    study: list[Recorded] = []
    for seed in itertools.count(1):
        database = directory / f"machine-{seed}.sqlite"
        run(program, "simulate", "--seeds", f"{seed}..{seed}", "--faults", "everyday", "--keep", database)
        move(database, seed, over_midnight=seed == OVER_MIDNIGHT)
        chosen = dict(itertools.islice(recordings(database).items(), count - len(study)))
        run(program, "export", *chosen, "--format", "parquet", "-o", directory / "tables", "--database", database)
        study += chosen.values()
        if len(study) == count:
            return study
    raise AssertionError
