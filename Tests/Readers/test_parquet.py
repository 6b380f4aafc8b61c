"""Exported directories of Parquet, as DuckDB, Polars and pyarrow read them."""

import json
from typing import Any

import duckdb
import numpy as np
import polars
import pyarrow.parquet as pq
import pytest

from expectations import DIRECTORY
from recordings import RECORDINGS, Recording, Stream, counts, physical

FOLDER = DIRECTORY / "parquet"
RAW = DIRECTORY / "parquet-raw"
everything = pytest.mark.parametrize("recording", RECORDINGS, ids=lambda r: str(r["name"]))


def query(sql: str, folder: object = FOLDER) -> Any:
    """What DuckDB says of all files as one table."""
    rows = f"read_parquet('{folder}/stream=eeg/**/*.parquet', hive_partitioning = true, union_by_name = true)"
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    return connection.execute(sql.format(rows=rows)).fetchall()


def names(stream: Stream) -> list[str]:
    return [str(c["name"]) for c in stream["channels"]]


def label(recording: Recording) -> str:
    """Each fixture is the participant of its own recording."""
    return f"fixture-{recording['name']}"


@everything
def test_duckdb(recording: Recording) -> None:
    stream = recording["streams"][0]
    columns = ", ".join(f'"{name}"' for name in names(stream))
    rows = query(f"SELECT n, epoch_ns(time), {columns} FROM {{rows}} WHERE headset = '{label(recording)}' ORDER BY n")
    assert [row[0] for row in rows] == stream["n"]
    assert [row[1] // 1000 for row in rows] == [ns // 1000 for ns in stream["unixNanoseconds"]]
    read = np.array([[np.nan if v is None else v for v in row[2:]] for row in rows])
    assert np.array_equal(read, physical(stream), equal_nan=True)


@everything
def test_polars(recording: Recording) -> None:
    for stream in recording["streams"]:
        files = sorted((FOLDER / f"stream={stream['name']}").glob("**/*.parquet"))
        # Headsets of several models have several columns.
        table = polars.concat([polars.scan_parquet(f, hive_partitioning=True) for f in files], how="diagonal_relaxed")
        own = table.filter(polars.col("headset").cast(polars.String) == label(recording)).sort("n").collect()
        assert own["n"].to_list() == stream["n"]
        read = own.select(names(stream)).to_numpy().astype(float)
        assert np.array_equal(read, physical(stream), equal_nan=True)


@everything
def test_raw_counts(recording: Recording) -> None:
    """With --values raw the columns are the headset's own integers, with their scale beside them."""
    stream = recording["streams"][0]
    columns = ", ".join(f'"{name}"' for name in names(stream))
    rows = query(f"SELECT {columns} FROM {{rows}} WHERE headset = '{label(recording)}' ORDER BY n", RAW)
    read = np.array([[np.nan if v is None else v for v in row] for row in rows])
    assert np.array_equal(read, counts(stream), equal_nan=True)


def test_one_table() -> None:
    """All recordings are one table, and the parts of it that a question needs are found by their names."""
    assert query("SELECT count(DISTINCT recording) FROM {rows}") == [(len(RECORDINGS),)]
    assert query("SELECT count(*) FROM {rows}") == [(sum(len(r["streams"][0]["n"]) for r in RECORDINGS),)]
    days = {row[0] for row in query("SELECT DISTINCT day::VARCHAR FROM {rows}")}
    assert days == {"2026-03-01", "1970-01-01"}
    streams = {path.name for path in FOLDER.iterdir() if not path.name.startswith(".")}
    assert streams == {"stream=eeg", "stream=accelerometer"}


def test_what_a_table_cannot_say() -> None:
    """Beside the files of a recording stands the document of its gaps, which readers of tables leave alone."""
    documents = [json.loads(path.read_text()) for path in FOLDER.glob("stream=eeg/*/_eegsync.json")]
    assert len(documents) == len(RECORDINGS)
    fine = next(d for d in documents if d["headset"] == "fixture-fine")
    assert fine["streams"][0]["gaps"][0]["count"] == 61


def test_units_and_scales() -> None:
    """Each column knows its unit, and how a count becomes a value."""
    path = next(FOLDER.glob("stream=accelerometer/*/*/part-0.parquet"))
    field = pq.read_schema(path).field("X")
    assert field.metadata[b"unit"] == b"g"
    assert float(field.metadata[b"scale"]) == 1 / 16_384


def test_row_groups() -> None:
    """A file is not one row group each minute, which would make a question of a day slow."""
    recording = next(r for r in RECORDINGS if r["name"] == "drift")
    files = [
        pq.ParquetFile(path)
        for path in FOLDER.glob("stream=eeg/*/*/*.parquet")
        if pq.ParquetFile(path).metadata.num_rows == len(recording["streams"][0]["n"])
    ]
    assert [file.metadata.num_row_groups for file in files] == [1]


def test_the_checks_bite() -> None:
    """A count off by one is found."""
    recording = next(r for r in RECORDINGS if r["name"] == "wide")
    changed = json.loads(json.dumps(recording))
    changed["streams"][0]["values"][7][3] += 1
    with pytest.raises(AssertionError):
        test_duckdb(changed)
