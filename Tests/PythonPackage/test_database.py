"""Whoever reads cannot hurt the recording, and sees nothing that does not hold."""

import pathlib
import sqlite3

import pytest

import eegsync
from databases import DEMO, change, copy, writer
from eegsync.database import Database, companion, query


def test_nothing_is_left_beside_a_database_that_nobody_has_open(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    before, facts = path.read_bytes(), path.stat()
    recording = eegsync.recording(path)
    assert len(eegsync.read(recording, stop=1000)) == 1000
    assert len(eegsync.gaps(recording)) > 0
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == before and path.stat().st_mtime_ns == facts.st_mtime_ns


def test_what_a_writer_has_not_closed_is_read_beside_it(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    daemon = writer(path)
    daemon.execute("UPDATE recording SET label = 'changed'")
    daemon.commit()
    assert eegsync.recording(path).label == "changed"
    daemon.close()


def test_a_writer_is_seen_through_a_symbolic_link(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link.sqlite"
    link.symlink_to(path)
    daemon = writer(path)
    daemon.execute("UPDATE recording SET label = 'changed'")
    daemon.commit()
    assert eegsync.recording(link).label == "changed"
    daemon.close()


@pytest.mark.parametrize("statement", ["DELETE FROM sample", "CREATE TABLE mine (a)", "PRAGMA user_version = 3"])
@pytest.mark.parametrize("is_open", [False, True])
def test_nothing_can_be_written(tmp_path: pathlib.Path, statement: str, is_open: bool) -> None:
    path = copy(DEMO, tmp_path)
    daemon = writer(path) if is_open else None
    if daemon is not None:
        daemon.execute("SELECT * FROM recording").fetchall()
    database = Database(path)
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.connection.execute(statement)
    database.close()
    if daemon is not None:
        daemon.close()


def test_a_writer_that_comes_meanwhile_is_noticed(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    labels: list[str] = []

    def work(connection: sqlite3.Connection) -> str:
        (label,) = connection.execute("SELECT label FROM recording").fetchone()
        if not labels:
            # Comes, writes and goes while the file is read as it stands.
            change(path, "UPDATE recording SET label = 'later'")
        labels.append(label)
        return str(label)

    assert query(path, work) == "later"
    assert labels == ["demo", "later"]


def test_a_reader_holds_no_transaction_between_calls(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    daemon = writer(path)
    daemon.execute("UPDATE recording SET label = 'one'")
    daemon.commit()
    follower = eegsync.follow(eegsync.recording(path), start=0)
    assert len(next(follower)) > 100_000
    # RESTART needs that no reader uses any of the log: it would be busy (1) otherwise.
    daemon.execute("UPDATE recording SET label = 'two'")
    daemon.commit()
    assert daemon.execute("PRAGMA wal_checkpoint(RESTART)").fetchone()[0] == 0
    follower.close()
    daemon.close()


def test_a_log_that_nobody_shares_is_read(tmp_path: pathlib.Path) -> None:
    """As after a power cut: the latest transactions are in the log, and the shared file is gone."""
    path = copy(DEMO, tmp_path)
    daemon = writer(path)
    daemon.execute("UPDATE recording SET label = 'logged'")
    daemon.commit()
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    for suffix in ("", "-wal"):
        companion(crashed / path.name, suffix).write_bytes(companion(path, suffix).read_bytes())
    daemon.close()
    assert eegsync.recording(crashed / path.name).label == "logged"


def test_what_is_no_database_of_eegsync_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(eegsync.DatabaseError, match="is not there"):
        eegsync.recordings(tmp_path / "none.sqlite")
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but long enough to be looked at " * 40)
    with pytest.raises(eegsync.DatabaseError, match="not a database"):
        eegsync.recordings(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE a (b)")
    connection.close()
    with pytest.raises(eegsync.DatabaseError, match="another program"):
        eegsync.recordings(other)
    old = copy(DEMO, tmp_path)
    change(old, "DELETE FROM grdb_migrations WHERE identifier >= 'm0022'")
    with pytest.raises(eegsync.DatabaseError, match="earlier version"):
        eegsync.recordings(old)


def test_any_name_of_a_file_will_do(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path).rename(tmp_path / "a ?mode=rw #1 %41 ä.sqlite")
    assert eegsync.recording(path).headset == "demo"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_recording_is_found_by_number_headset_and_as_the_latest() -> None:
    (only,) = eegsync.recordings(DEMO)
    assert only.headset == "demo" and only.state == "stopped" and only.stream("eeg").view_name == "eeg_1"
    for name in (1, "1", "demo", "latest"):
        assert eegsync.recording(DEMO, name) == only
    with pytest.raises(eegsync.DatabaseError, match="no recording nobody"):
        eegsync.recording(DEMO, "nobody")
    with pytest.raises(KeyError, match="its streams are: eeg"):
        only.stream("ppg")
