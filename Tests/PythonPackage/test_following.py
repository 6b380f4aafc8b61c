"""Samples as they are committed."""

import pathlib
import sqlite3
import subprocess
import sys

import pytest

import eegsync
from databases import DEMO, change, copy, writer
from eegsync import following
from eegsync.database import DatabaseError, companion
from eegsync.reading import Limit, read_stream
from eegsync.recording import Stream
from eegsync.samples import Samples

# Says whether somebody holds a shared lock, as the daemon looks: it asks for an exclusive one.
LOOK = "import fcntl, os, sys; fcntl.lockf(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)"


def is_followed(path: pathlib.Path) -> bool:
    asked = [sys.executable, "-c", LOOK, str(companion(path, "-follow"))]
    return subprocess.run(asked, check=False, stderr=subprocess.DEVNULL).returncode != 0


class Daemon:
    """What commits rows whenever the follower waits, and then stops the recording."""

    def __init__(self, path: pathlib.Path, batches: int) -> None:
        self.connection = writer(path)
        self.batches = batches
        self.next_n = self.connection.execute("SELECT max(n) + 1 FROM sample").fetchone()[0]
        self.looks = 0

    def wait(self, seconds: float) -> None:
        self.looks += 1
        # Not each time: nothing new is yielded as nothing.
        if self.looks % 3 != 0:
            return
        if self.batches == 0:
            self.connection.execute(
                "UPDATE recording SET desired_state = 'stopped', stopped_boottime_ns = 9, stopped_host_boot_id = 1"
            )
        else:
            row = "SELECT 1, ?, 1, 2, 3, 4, 5, 6, 7, 8"
            self.connection.executemany(f"INSERT INTO sample {row}", [[self.next_n + each] for each in range(25)])
            self.next_n += 25
            self.batches -= 1
        self.connection.commit()


@pytest.fixture
def running(tmp_path: pathlib.Path) -> pathlib.Path:
    """A recording that goes on."""
    path = copy(DEMO, tmp_path)
    change(path, "UPDATE recording SET desired_state = 'recording', stopped_boottime_ns = NULL, stopped_host_boot_id = NULL")
    companion(path, "-follow").touch()
    return path


def test_each_commit_is_yielded_once_and_the_end_ends_it(running: pathlib.Path) -> None:
    daemon = Daemon(running, batches=4)
    first = daemon.next_n
    found = list(eegsync.follow(eegsync.recording(running), wait=daemon.wait))
    assert [len(samples) for samples in found] == [25] * 4
    assert [n for samples in found for n in samples.n.tolist()] == list(range(first, first + 100))
    assert found[0].raw[0].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    daemon.connection.close()


def test_it_begins_where_it_is_asked_to(running: pathlib.Path) -> None:
    daemon = Daemon(running, batches=0)
    (all_of_it,) = eegsync.follow(eegsync.recording(running), start=daemon.next_n - 10, wait=daemon.wait)
    assert len(all_of_it) == 10
    daemon.connection.close()


def test_a_writer_that_comes_later_is_seen(running: pathlib.Path) -> None:
    """The file is read as it stands until the daemon opens it."""
    daemons: list[Daemon] = []

    def wait(seconds: float) -> None:
        if not daemons:
            daemons.append(Daemon(running, batches=1))
        daemons[0].wait(seconds)

    assert [len(samples) for samples in eegsync.follow(eegsync.recording(running), wait=wait)] == [25]
    daemons[0].connection.close()


@pytest.mark.parametrize("is_error", [False, True])
def test_what_is_read_while_a_writer_comes_is_read_again(
    running: pathlib.Path, monkeypatch: pytest.MonkeyPatch, is_error: bool
) -> None:
    """Pages of before and after may stand side by side in it, or make no sense to SQLite."""
    daemons: list[Daemon] = []

    def torn(connection: sqlite3.Connection, stream: Stream, start: Limit, stop: Limit) -> Samples:
        samples = read_stream(connection, stream, start, stop)
        if not daemons:
            daemons.append(Daemon(running, batches=0))
            daemons[0].connection.execute("DELETE FROM sample WHERE n < 3")
            daemons[0].connection.commit()
            if is_error:
                raise sqlite3.DatabaseError("database disk image is malformed")
        return samples

    monkeypatch.setattr(following, "read_stream", torn)
    follower = eegsync.follow(eegsync.recording(running), start=0)
    assert int(next(follower).n[0]) == 3
    follower.close()
    daemons[0].connection.close()


def test_an_error_without_a_writer_is_said(running: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(connection: sqlite3.Connection, stream: Stream, start: Limit, stop: Limit) -> Samples:
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr(following, "read_stream", damaged)
    with pytest.raises(DatabaseError, match="malformed"):
        next(eegsync.follow(eegsync.recording(running), start=0))


def test_the_daemon_is_asked_for_a_commit_each_second(running: pathlib.Path) -> None:
    recording = eegsync.recording(running)
    assert not is_followed(running)
    followers = [eegsync.follow(recording, start=0), eegsync.follow(recording, start=0)]
    for follower in followers:
        next(follower)
    assert is_followed(running)
    followers[0].close()
    # A process loses all its locks on a file as soon as it closes one of its descriptors of it.
    assert is_followed(running)
    followers[1].close()
    assert not is_followed(running)


def test_a_commit_never_waits_for_a_follower(running: pathlib.Path) -> None:
    follower = eegsync.follow(eegsync.recording(running), start=0)
    next(follower)
    daemon = sqlite3.connect(running, timeout=0)
    daemon.execute("UPDATE recording SET label = 'not held up'")
    daemon.commit()
    daemon.close()
    follower.close()
