"""What is read equals what the views of the database say: numbers, times to the nanosecond, values to the last bit."""

import dataclasses
import datetime
import pathlib
import sqlite3
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eegsync
from databases import DEMO, change, copy
from eegsync.rows import CHUNK
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
    columns = "recording_id, name, sampling_frequency, samples_per_count, counter_modulus, channel_count, view_name"
    change(
        path,
        f"INSERT INTO stream (id, position, bank, uuid, {columns}) SELECT 2, 1, 1, 'second', {columns} FROM stream",
        "INSERT INTO channel SELECT 2, number, name || 'b', type, unit, scale * 2, offset + 1, raw_minimum, raw_maximum"
        " FROM channel",
        "INSERT INTO sample SELECT 2, n, c8, c7, c6, c5, c4, c3, c2, c1 FROM sample WHERE n BETWEEN 100 AND 199 AND n <> 150",
        "INSERT INTO epoch SELECT 2, number, boot_identifier, first_n, first_index, host_boot_id, boottime_ns FROM epoch",
        "INSERT INTO segment (stream_id, first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns,"
        " period_ns, observation_count) SELECT 2, first_n, last_n, epoch, host_boot_id, reference_n,"
        " reference_boottime_ns + 5, period_ns, 9 FROM segment",
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
