"""The databases that the program has written, and copies of them that a test may change."""

import os
import pathlib
import sqlite3
import subprocess

DIRECTORY = pathlib.Path(os.environ["EEGSYNC_PYTHON_DATABASES"])
DEMO = DIRECTORY / "demo" / "eegsync.sqlite"
DAY = DIRECTORY / "day.sqlite"
TOP = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = TOP / "Sources/Python"


def copy(original: pathlib.Path, directory: pathlib.Path) -> pathlib.Path:
    """A database of its own, with nothing beside it: nobody has it open."""
    path = directory / "copy.sqlite"
    with sqlite3.connect(f"file:{original}?mode=ro", uri=True) as source, sqlite3.connect(path) as target:
        source.backup(target)
    source.close()
    change(path)
    return path


def wide() -> tuple[pathlib.Path, str]:
    """A database with a stream of several banks, and the name of its view: the first rehearsal with such a headset."""
    for seed in range(1, 51):
        path = DIRECTORY / f"rehearsal-{seed}.sqlite"
        if not path.exists():
            simulate = [os.environ["EEGSYNC_PROGRAM"], "simulate", "--seeds", f"{seed}..{seed}", "--faults", "everyday"]
            subprocess.run([*simulate, "--keep", path], check=True, stdout=subprocess.DEVNULL)
        connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        found = connection.execute("SELECT view_name FROM stream WHERE bank = 1 ORDER BY id").fetchone()
        connection.close()
        if found is not None:
            return path, str(found[0])
    raise AssertionError("no rehearsal has a stream of several banks")


def add_bank(path: pathlib.Path) -> None:
    """Gives the stream of a demo a second bank, without rows, whose clock is 5 ns later. The view stays as it is."""
    columns = "recording_id, name, sampling_frequency, samples_per_count, counter_modulus, channel_count, view_name"
    change(
        path,
        f"INSERT INTO stream (id, position, bank, uuid, {columns}) SELECT 2, 1, 1, 'second', {columns} FROM stream",
        "INSERT INTO channel SELECT 2, number, name || 'b', type, unit, scale * 2, offset + 1, raw_minimum, raw_maximum"
        " FROM channel",
        "INSERT INTO epoch SELECT 2, number, boot_identifier, first_n, first_index, host_boot_id, boottime_ns FROM epoch",
        "INSERT INTO segment (stream_id, first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns,"
        " period_ns, observation_count) SELECT 2, first_n, last_n, epoch, host_boot_id, reference_n,"
        " reference_boottime_ns + 5, period_ns, 9 FROM segment",
    )


def change(path: pathlib.Path, *statements: str) -> None:
    """Commits statements in one transaction, and closes the database, so that its log is gone."""
    connection = writer(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def writer(path: pathlib.Path) -> sqlite3.Connection:
    """A connection as the daemon has one."""
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    return connection
