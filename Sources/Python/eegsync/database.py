"""Databases of eegsync, opened so that whoever looks cannot hurt the recording."""

import operator
import pathlib
import sqlite3
from collections.abc import Callable
from typing import SupportsIndex, TypeVar

# 'EEGS': what Migrations/sql/m0001_tables.sql sets.
APPLICATION_ID = 1162168147
# The views and columns that are read here are those of this step of the schema and later ones.
OLDEST_MIGRATION = "m0025_annotation_history"
# Readers of a write-ahead log wait for nobody but a process that recovers it after a crash.
BUSY_SECONDS = 5.0
# How often a read begins anew because the file changed beneath it. The second attempt finds the files of the writer.
ATTEMPTS = 5

Facts = tuple[int, int, int]
Result = TypeVar("Result")


class DatabaseError(Exception):
    """A database that cannot be read: which, why, and what a person can do."""


class Database:
    """One connection, for reading only.

    SQLite shares a database with its writer through the file `-shm` beside it. Where that is missing nobody has the database
    open, and this creates none, which would belong to the wrong user: the file is read as it stands (`immutable=1`), and
    `is_unchanged` says afterwards whether a writer has come meanwhile.
    """

    def __init__(self, path: pathlib.Path) -> None:
        # SQLite keeps its companions beside the file itself, not beside a symbolic link to it.
        self.path = path = path.resolve()
        if not path.is_file():
            raise DatabaseError(f"{path} is not there, or is no file; nothing was read. Give the path of an eegsync database.")
        self._is_immutable = _is_closed(path)
        self._facts = _facts(path)
        mode = "immutable=1" if self._is_immutable else "mode=ro"
        address = f"{path.as_uri()}?{mode}"
        try:
            self.connection = sqlite3.connect(
                address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            self._check()
        except sqlite3.Error as error:
            raise self.failure(error) from error

    def failure(self, error: sqlite3.Error) -> DatabaseError:
        """What a person is to know of an error of SQLite."""
        return DatabaseError(f"{self.path} cannot be read: {error}. {_advice(self.path)}")

    def _check(self) -> None:
        """Refuses what is no database of eegsync; and, besides the mode, whatever would write."""
        self.connection.execute("PRAGMA query_only = 1")
        # Somebody else may have made the file: its views reach nothing beyond it.
        self.connection.execute("PRAGMA trusted_schema = 0")
        (application,) = self.connection.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID:
            raise DatabaseError(f"{self.path} is a SQLite database of another program than eegsync.")
        steps = self.connection.execute("SELECT 1 FROM grdb_migrations WHERE identifier = ?", [OLDEST_MIGRATION])
        if steps.fetchone() is None:
            raise DatabaseError(
                f"{self.path} was written by an earlier version of eegsync, and has not the views that this package reads."
                " `eegsync run`, or any eegsync command that writes, brings it up to date."
            )

    @property
    def is_unchanged(self) -> bool:
        """Whether what was read holds: always beside a writer, and without one as long as none has come."""
        return not self._is_immutable or (_is_closed(self.path) and _facts(self.path) == self._facts)

    def close(self) -> None:
        self.connection.close()


def query(path: pathlib.Path, work: Callable[[sqlite3.Connection], Result]) -> Result:
    """What `work` makes of the database. It is called once more where a writer came while the file was read without one."""
    for _ in range(ATTEMPTS):
        database = Database(path)
        try:
            result = work(database.connection)
            if database.is_unchanged:
                return result
        except sqlite3.Error as error:
            if database.is_unchanged:
                raise database.failure(error) from error
        finally:
            database.close()
    raise DatabaseError(f"{path} is opened and closed by other programs again and again; nothing was read. Try again.")


def integer(value: object) -> int | None:
    """The integer of Python that a value is, None where it is none. An integer of numpy would reach SQLite as bytes."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    try:
        return operator.index(value)
    except TypeError:
        # An array of several numbers, for one.
        return None


def companion(path: pathlib.Path, suffix: str) -> pathlib.Path:
    """A file that SQLite or eegsync keeps beside a database."""
    return path.with_name(path.name + suffix)


def _is_closed(path: pathlib.Path) -> bool:
    """Whether no program has the database open, and all of it is in its one file."""
    log = companion(path, "-wal")
    has_log = log.exists() and log.stat().st_size > 0
    return not (has_log or companion(path, "-shm").exists() or companion(path, "-journal").exists())


def _facts(path: pathlib.Path) -> Facts:
    """Never by opening it: a process that closes a file loses its locks on it, and SQLite's are among them."""
    facts = path.stat()
    return facts.st_mtime_ns, facts.st_size, facts.st_ino


def _advice(path: pathlib.Path) -> str:
    if companion(path, "-wal").exists() and not companion(path, "-shm").exists():
        return (
            f"{companion(path, '-wal').name} beside it holds the latest transactions, which take a program that may write to"
            " recover: start `eegsync run`, or run `eegsync recordings` as a user who may write there."
        )
    return "Become a member of the group `eegsync` (and log in again), or read a copy that `eegsync backup` has made."
