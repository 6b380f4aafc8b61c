"""The databases that Tests/PythonPackage/run has had written, and copies of them that a test may change."""

import os
import pathlib
import sqlite3

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
