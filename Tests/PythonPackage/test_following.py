"""Samples as they are committed."""

import pathlib
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import eegsync
from databases import DEMO, add_bank, change, copy, writer
from eegsync import following
from eegsync.database import DatabaseError, companion
from eegsync.reading import Limit, read_stream
from eegsync.recording import Stream
from eegsync.samples import Samples

# Says whether somebody holds a shared lock, as the daemon looks: it asks for an exclusive one.
LOOK = "import fcntl, os, sys; fcntl.lockf(os.open(sys.argv[1], os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)"

STOP = "UPDATE recording SET desired_state = 'stopped', stopped_boottime_ns = 9, stopped_host_boot_id = 1"


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
            self.connection.execute(STOP)
        else:
            row = "SELECT 1, ?, 1, 2, 3, 4, 5, 6, 7, 8"
            self.connection.executemany(f"INSERT INTO sample {row}", [[self.next_n + each] for each in range(25)])
            self.next_n += 25
            self.batches -= 1
        self.connection.commit()


class Banks:
    """What commits ranges of n of the two banks, one commit each time the follower waits, and then stops the recording."""

    def __init__(self, path: pathlib.Path, *commits: tuple[range, range]) -> None:
        add_bank(path)
        # Rows of 100 n, of both banks.
        change(path, "DELETE FROM sample", "DELETE FROM gap")
        self.connection = writer(path)
        self._insert(range(100), range(100))
        self.commits = list(commits)

    def _insert(self, *banks: range) -> None:
        for stream_id, numbers in enumerate(banks, start=1):
            row = "INSERT INTO sample SELECT ?, ?, 1, 2, 3, 4, 5, 6, 7, 8"
            self.connection.executemany(row, [[stream_id, n] for n in numbers])
        self.connection.commit()

    def wait(self, seconds: float) -> None:
        if self.commits:
            self._insert(*self.commits.pop(0))
        else:
            self.connection.execute(STOP)
            self.connection.commit()


def whole(samples: Samples) -> list[int]:
    """The n of the rows that both banks have."""
    is_whole = slice(None) if samples.missing is None else ~samples.missing.any(axis=1)
    return [int(n) for n in samples.n[is_whole]]


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


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint64])
def test_it_begins_with_a_number_of_numpy(running: pathlib.Path, kind: type[np.integer]) -> None:
    daemon = Daemon(running, batches=1)
    found = eegsync.follow(eegsync.recording(running), start=kind(daemon.next_n - 10), wait=daemon.wait)
    assert [len(samples) for samples in found] == [10, 25]
    daemon.connection.close()


def test_a_row_is_yielded_once_all_banks_have_it(running: pathlib.Path) -> None:
    """Commits end between two banks, either of which may be the one that is ahead."""
    daemon = Banks(
        running,
        (range(100, 126), range(100, 125)),
        (range(126, 150), range(125, 152)),
        # A gap of some minutes ends between the banks, too.
        (range(90_000, 90_001), range(0)),
        (range(90_001, 90_010), range(90_000, 90_010)),
        # The last row is never whole.
        (range(90_010, 90_012), range(90_010, 90_011)),
    )
    found = list(eegsync.follow(eegsync.recording(running), wait=daemon.wait))
    n = [samples.n.tolist() for samples in found]
    expected = [range(100, 125), range(125, 150), range(150, 152), range(90_000, 90_010), [90_010], [90_011]]
    assert n == [list(each) for each in expected]
    # The first bank lacks 150 and 151, and goes on behind them.
    half = [set(samples.n.tolist()) - set(whole(samples)) for samples in found]
    assert half == [set(), set(), {150, 151}, set(), set(), {90_011}]
    daemon.connection.close()


def test_it_begins_with_the_row_that_is_not_whole_yet(running: pathlib.Path) -> None:
    daemon = Banks(running, (range(100, 101), range(0)), (range(101, 103), range(100, 103)))
    daemon.wait(0)
    found = list(eegsync.follow(eegsync.recording(running), wait=daemon.wait))
    assert [whole(samples) for samples in found] == [[100, 101, 102]]
    daemon.connection.close()


def test_nothing_waits_for_a_bank_that_is_dead(running: pathlib.Path) -> None:
    """It is dead more than a second of 250 samples behind, and alive again as soon as it is not."""
    daemon = Banks(
        running,
        (range(100, 350), range(0)),
        (range(350, 351), range(0)),
        (range(351, 400), range(0)),
        (range(400, 410), range(400, 409)),
        (range(410, 420), range(409, 420)),
    )
    found = list(eegsync.follow(eegsync.recording(running), wait=daemon.wait))
    n = [samples.n.tolist() for samples in found]
    assert n == [list(range(*each)) for each in [(100, 351), (351, 400), (400, 409), (409, 420)]]
    assert [whole(samples) for samples in found] == [[], [], n[2], n[3]]
    daemon.connection.close()


def test_a_bank_that_has_nothing_yet_is_waited_for(running: pathlib.Path) -> None:
    daemon = Banks(running, (range(100, 101), range(100)))
    daemon.connection.execute("DELETE FROM sample WHERE stream_id = 2")
    daemon.connection.commit()
    found = list(eegsync.follow(eegsync.recording(running), wait=daemon.wait))
    assert [whole(samples) for samples in found] == [list(range(100)), []]
    assert found[1].n.tolist() == [100]
    daemon.connection.close()


def test_of_a_recording_that_has_ended_everything_is_there(running: pathlib.Path) -> None:
    daemon = Banks(running, (range(100, 200), range(100, 110)))
    daemon.wait(0)
    daemon.wait(0)
    recording = eegsync.recording(running)
    (samples,) = eegsync.follow(recording, start=105, wait=daemon.wait)
    assert samples.n.tolist() == list(range(105, 200)) and whole(samples) == list(range(105, 110))
    assert list(eegsync.follow(recording, wait=daemon.wait)) == []
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
