"""What is read equals what the views of the database say: numbers, times to the nanosecond, values to the last bit."""

import dataclasses
import datetime
import pathlib
import sqlite3
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eegsync
from databases import DEMO, add_bank, change, copy, wide, writer
from eegsync import reading
from eegsync.recording import Bank
from eegsync.rows import CHUNK, Rows, read_rows
from eegsync.time_map import NO_TIME

Table = list[tuple[Any, ...]]


def view(path: pathlib.Path, name: str = "eeg_1", condition: str = "1") -> Table:
    """The rows of a view, without the time as text."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({name})") if row[1] not in ("time", "minute")]
    quoted = ", ".join(f'"{column}"' for column in columns)
    rows = connection.execute(f"SELECT {quoted} FROM {name} WHERE {condition} ORDER BY n").fetchall()
    connection.close()
    return rows


def assert_same(samples: eegsync.Samples, rows: Table) -> None:
    assert samples.n.tolist() == [row[0] for row in rows]
    assert samples.unix_ns.tolist() == [NO_TIME if row[1] is None else row[1] for row in rows]
    expected = np.array([[np.nan if value is None else value for value in row[2:]] for row in rows], dtype=np.float64)
    assert np.array_equal(samples.values, expected.reshape(samples.values.shape), equal_nan=True)


def test_the_whole_of_a_recording() -> None:
    recording = eegsync.recording(DEMO)
    samples = eegsync.read(recording)
    assert len(samples) > 2 * CHUNK and samples.raw.dtype == np.int32 and samples.missing is None
    assert_same(samples, view(DEMO))
    assert len(samples) == recording.rows


def test_the_comparison_sees_a_nanosecond_and_the_last_bit() -> None:
    samples = eegsync.read(eegsync.recording(DEMO), stop=100)
    rows = view(DEMO, condition="n < 100")
    assert_same(samples, rows)
    changed = samples.raw.copy()
    changed[50, 3] += 1
    for wrong in ({"unix_ns": samples.unix_ns + 1}, {"raw": changed}, {"n": samples.n + 1}):
        with pytest.raises(AssertionError):
            assert_same(dataclasses.replace(samples, **wrong), rows)


def test_the_raw_integers_are_those_of_the_headset() -> None:
    connection = sqlite3.connect(f"file:{DEMO}?mode=ro", uri=True)
    columns = "c1, c2, c3, c4, c5, c6, c7, c8"
    rows = connection.execute(f"SELECT {columns} FROM sample WHERE n BETWEEN 7 AND 5000 ORDER BY n").fetchall()
    connection.close()
    assert eegsync.read(eegsync.recording(DEMO), start=7, stop=5001).raw.tolist() == [list(row) for row in rows]


def test_lost_channels_and_wide_values(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    change(
        path,
        "UPDATE sample SET c3 = NULL WHERE n % 7 = 0 AND n < 100000",
        "UPDATE sample SET c1 = NULL, c8 = NULL WHERE n = 100",
        f"UPDATE sample SET c2 = {2**31} WHERE n = 70000",
        f"UPDATE sample SET c2 = {-(2**62)} WHERE n = 80000",
    )
    samples = eegsync.read(eegsync.recording(path))
    assert samples.missing is not None and np.flatnonzero(samples.missing[100]).tolist() == [0, 7]
    assert samples.raw.dtype == np.int64 and samples.raw[samples.n == 80000, 1] == -(2**62)
    assert_same(samples, view(path))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_streams_of_few_channels(tmp_path: pathlib.Path, count: int) -> None:
    path = copy(DEMO, tmp_path)
    change(path, f"DELETE FROM channel WHERE number > {count}", f"UPDATE stream SET channel_count = {count}")
    samples = eegsync.read(eegsync.recording(path), stop=1000)
    assert samples.raw.shape == (1000, count)
    assert samples.frame()["Fp1"].tolist() == [row[2] for row in view(path, condition="n < 1000")]


def test_banks_side_by_side(tmp_path: pathlib.Path) -> None:
    """A second bank that lacks some rows of the first, and has some that the first lacks."""
    path = copy(DEMO, tmp_path)
    add_bank(path)
    change(
        path,
        "INSERT INTO sample SELECT 2, n, c8, c7, c6, c5, c4, c3, c2, c1 FROM sample WHERE n BETWEEN 100 AND 199 AND n <> 150",
        "DELETE FROM sample WHERE stream_id = 1 AND n BETWEEN 120 AND 129",
    )
    samples = eegsync.read(eegsync.recording(path), start=90, stop=210)
    assert samples.n.tolist() == list(range(90, 210)) and samples.raw.shape == (120, 16)
    first = {row[0]: row for row in view(path, condition="n BETWEEN 90 AND 209")}
    for index, n in enumerate(samples.n.tolist()):
        assert np.isnan(samples.values[index, :8]).all() == (120 <= n <= 129)
        assert np.isnan(samples.values[index, 8:]).all() == (not 100 <= n <= 199 or n == 150)
        if n in first:
            assert samples.unix_ns[index] == first[n][1]
    # Of a row without the first bank the second one decides: its clock is 5 ns later here.
    assert samples.unix_ns[30] - samples.unix_ns[29] == pytest.approx(4_000_005, abs=1000)


@pytest.mark.parametrize(
    ("start", "stop"), [(0.0, 1.0), (59.9, 60.1), (100.123456, 100.123457), (299.0, 310.0), (590.0, 9999.0), (-5.0, 0.01)]
)
def test_a_range_of_time_is_that_of_the_view(start: float, stop: float) -> None:
    recording = eegsync.recording(DEMO)
    begin = recording.start_unix_ns
    assert begin is not None
    bounds = datetime.timedelta(seconds=start), datetime.timedelta(seconds=stop)
    since, until = (begin + bound // datetime.timedelta(microseconds=1) * 1000 for bound in bounds)
    expected = view(DEMO, condition=f"unix_ns >= {since} AND unix_ns < {until}")
    assert_same(eegsync.read(recording, start=bounds[0], stop=bounds[1]), expected)
    stamps = pd.Timestamp(since, unit="ns", tz="UTC"), np.datetime64(until, "ns")
    assert_same(eegsync.read(recording, start=stamps[0], stop=stamps[1]), expected)


@pytest.mark.parametrize("later_ns", [0, 60_000_000, -3_600_000_000_000])
def test_a_range_of_time_over_banks_is_that_of_the_view(tmp_path: pathlib.Path, later_ns: int) -> None:
    """Whatever the clock of the second bank says, by itself or this much later; it decides where the first one is missing."""
    original, name = wide()
    path = copy(original, tmp_path)
    of_bank = f"stream_id = (SELECT id FROM stream WHERE view_name = '{name}' AND bank"
    change(
        path,
        f"UPDATE segment SET reference_boottime_ns = reference_boottime_ns + {later_ns} WHERE {of_bank} = 1)",
        f"DELETE FROM sample WHERE {of_bank} = 0) AND n BETWEEN 1100 AND 1104",
        f"DELETE FROM sample WHERE {of_bank} = 1) AND n BETWEEN 1200 AND 1204",
    )
    (number,) = {each.id for each in eegsync.recordings(path) for stream in each.streams if stream.view_name == name}
    recording = eegsync.recording(path, number)
    assert len(recording.stream(name).banks) > 1
    everything = view(path, name)
    times = {row[0]: row[1] for row in everything}
    assert_same(eegsync.read(recording, name), everything)
    for first, last in [(1000, 1050), (1000, 1300), (1099, 1102), (1103, 1201), (1199, 1205), (1500, 1500)]:
        for since in (times[first], times[first] + 1):
            bounds = np.datetime64(since, "ns"), np.datetime64(times[last] + 1, "ns")
            expected = [row for row in everything if since <= row[1] <= times[last]]
            assert_same(eegsync.read(recording, name, *bounds), expected)
    # One of the rows that only the second bank has, by its own time; and a bound by n beside one by time.
    instant = np.datetime64(times[1102], "ns")
    assert 1102 in eegsync.read(recording, name, instant, instant + np.timedelta64(1, "ns")).n
    expected = [row for row in everything if row[1] >= times[1190] and row[0] < 1210]
    assert_same(eegsync.read(recording, name, np.datetime64(times[1190], "ns"), 1210), expected)


def test_what_comes_between_two_banks_is_left_out_of_both(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = copy(DEMO, tmp_path)
    add_bank(path)
    change(path, "INSERT INTO sample SELECT 2, n, c8, c7, c6, c5, c4, c3, c2, c1 FROM sample WHERE stream_id = 1")
    daemon = writer(path)
    (end,) = daemon.execute("SELECT max(n) + 1 FROM sample").fetchone()
    original_rows = read_rows

    def committed(connection: sqlite3.Connection, bank: Bank, first: int, last: int) -> Rows:
        found = original_rows(connection, bank, first, last)
        if bank.stream_id == 1:
            daemon.executemany("INSERT INTO sample SELECT ?, ?, 1, 2, 3, 4, 5, 6, 7, 8", [(1, end), (2, end)])
            daemon.commit()
        return found

    monkeypatch.setattr(reading, "read_rows", committed)
    samples = eegsync.read(eegsync.recording(path), start=end - 10)
    assert samples.n.tolist() == list(range(end - 10, end)) and samples.missing is None
    monkeypatch.undo()
    assert eegsync.read(eegsync.recording(path), start=end - 10).n[-1] == end
    daemon.close()


@pytest.mark.parametrize("kind", [np.int64, np.int16, np.uint8, np.uint64, np.array])
def test_integers_of_numpy_are_numbers(kind: Callable[[int], Any]) -> None:
    recording = eegsync.recording(DEMO, kind(1))
    assert recording == eegsync.recording(DEMO, 1)
    assert eegsync.read(recording, start=kind(100), stop=kind(120)).n.tolist() == list(range(100, 120))
    assert eegsync.read(recording, start=kind(100), stop=datetime.timedelta(seconds=1)).n[0] == 100


@pytest.mark.parametrize("value", [True, np.True_, 1.0, np.float64(1), np.array([1, 2]), np.timedelta64(1, "s")])
def test_what_is_no_integer_is_no_number(value: Any) -> None:
    with pytest.raises(TypeError, match="no number of a recording"):
        eegsync.recording(DEMO, value)
    recording = eegsync.recording(DEMO)
    for bounds in ({"start": value}, {"stop": value}):
        with pytest.raises(TypeError, match="no number of a sample"):
            eegsync.read(recording, **bounds)
    with pytest.raises(TypeError, match="no number of a sample"):
        next(eegsync.follow(recording, start=value))


def test_an_instant_needs_a_zone() -> None:
    recording = eegsync.recording(DEMO)
    with pytest.raises(ValueError, match="no time zone"):
        eegsync.read(recording, start="2026-03-01T10:00:00")
    with pytest.raises(TypeError, match="no number of a sample"):
        eegsync.read(recording, start=1.5)  # type: ignore[arg-type]
    assert recording.start is not None
    zone = datetime.timezone(datetime.timedelta(hours=2))
    text = (recording.start + datetime.timedelta(seconds=1)).astimezone(zone).isoformat()
    expected = view(DEMO, condition=f"unix_ns >= {int(pd.Timestamp(text).value)} AND n < 2000")
    assert_same(eegsync.read(recording, start=text, stop=2000), expected)


def test_an_unknown_clock_gives_no_time(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    change(path, "DELETE FROM clock_offset")
    samples = eegsync.read(eegsync.recording(path), stop=10)
    assert_same(samples, view(path, condition="n < 10"))
    assert np.isnat(samples.time).all()
    assert samples.frame()["time"].isna().all()


def test_tables_of_pandas() -> None:
    recording = eegsync.recording(DEMO)
    frame = eegsync.read(recording, start=10, stop=20).frame()
    assert frame.index.tolist() == list(range(10, 20)) and str(frame["time"].dtype) == "datetime64[ns, UTC]"
    assert frame.columns.tolist() == ["time", "Fp1", "Fp2", "C3", "C4", "P7", "P8", "O1", "O2"]
    assert len(eegsync.read(recording, start=10, stop=10).frame()) == 0
    gaps = eegsync.gaps(recording)
    assert int(gaps["missing"].sum()) == recording.missing
    whole = eegsync.read(recording)
    assert np.isnan(whole.gridded()).all(axis=1).sum() == recording.missing
    assert eegsync.gaps(recording, "eeg_1").equals(gaps)
    assert eegsync.annotations(recording)["description"].tolist() == []
