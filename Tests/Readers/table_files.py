"""CSV, Parquet and SQLite, as pandas, Polars, DuckDB and Python's sqlite3 give them."""

import datetime
import json
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas
import polars

from expectations import DIRECTORY
from recordings import Numbers, Recording, Stream
from scores import Event, Gap, Layout, Reading, gaps_of_cells, gaps_of_numbers
from signal_files import TABLE

PARQUET = DIRECTORY / "parquet"
# What a document beside a table says of a mark: onset in UTC, text, and the sample if it was said of one.
Mark = tuple[str, str, int | None]


def names(stream: Stream) -> list[str]:
    return [str(c["name"]) for c in stream["channels"]]


def tables(recording: Recording, stream: Stream) -> list[Path]:
    """The CSV files of a stream: banks of eight channels have one each."""
    name = recording["name"]
    folder = DIRECTORY if list(DIRECTORY.glob(f"{name}*.csv")) else TABLE
    return sorted(folder.glob(f"{name}_{stream['name']}*.csv"), key=lambda file: file.stem) or [folder / f"{name}.csv"]


def documents(stream: Stream) -> dict[str, Path]:
    """Of each recording the document beside its Parquet files, by the headset."""
    found = PARQUET.glob(f"stream={stream['name']}/*/_eegsync.json")
    return {json.loads(path.read_text())["headset"]: path for path in found}


def placed(marks: Iterable[Mark], n: Numbers, times: Numbers) -> list[Event]:
    """Events at the rows of their samples, or by their times among those of the rows."""
    events = []
    for onset, text, said_of in marks:
        at = datetime.datetime.fromisoformat(onset).timestamp()
        row = np.interp(at, times, np.arange(len(n))) if said_of is None else np.searchsorted(n, said_of)
        events.append(Event(float(row), text))
    return events


def marks_of(document: Path) -> list[Mark]:
    listed = json.loads(document.read_text())["annotations"]
    return [(a["onset"], a["description"], a.get("n")) for a in listed]


def duckdb_marks(connection: Any, document: Path) -> list[Mark]:
    return [
        (onset, text, None if n is None else int(n))
        for onset, text, n in connection.execute(
            "SELECT a->>'onset', a->>'description', a->>'n' FROM (SELECT unnest(annotations) AS a"
            " FROM read_json(?, columns = {annotations: 'JSON[]'}))",
            [str(document)],
        ).fetchall()
    ]


def of_table(n: Numbers, times: Numbers, values: Numbers, marks: list[Mark]) -> Reading:
    """A CSV table, which has a row for every n."""
    return Reading(values, times, Layout.GRID, gaps_of_cells(values), placed(marks, n, times))


def of_rows(n: Numbers, times: Numbers, values: Numbers, marks: list[Mark]) -> Reading:
    """Parquet, which has the rows that are there."""
    return Reading(values, times, Layout.ROWS, gaps_of_numbers(n, values), placed(marks, n, times))


def nanoseconds(column: Any) -> Numbers:
    return np.asarray(column, dtype="datetime64[ns]").astype(np.int64) / 1e9


def read_pandas_csv(recording: Recording) -> Iterator[Reading]:
    for stream in recording["streams"]:
        files = tables(recording, stream)
        frames = [pandas.read_csv(file, parse_dates=["time"]) for file in files]
        values = np.hstack([frame.iloc[:, 2:].to_numpy(dtype=float) for frame in frames])
        times = nanoseconds(frames[0]["time"].dt.tz_localize(None))
        yield of_table(frames[0]["n"].to_numpy(), times, values, marks_of(files[0].with_suffix(".json")))


def read_polars_csv(recording: Recording) -> Iterator[Reading]:
    for stream in recording["streams"]:
        files = tables(recording, stream)
        frames = [polars.read_csv(file, try_parse_dates=True, infer_schema_length=None) for file in files]
        values = np.hstack([frame[:, 2:].to_numpy().astype(float) for frame in frames])
        times = nanoseconds(frames[0]["time"].dt.replace_time_zone(None).to_numpy())
        yield of_table(frames[0]["n"].to_numpy(), times, values, marks_of(files[0].with_suffix(".json")))


def read_duckdb_csv(recording: Recording) -> Iterator[Reading]:
    connection = duckdb.connect()
    for stream in recording["streams"]:
        files = tables(recording, stream)
        asked = [f"SELECT n, epoch_ns(time), COLUMNS(* EXCLUDE (n, time)) FROM '{file}' ORDER BY n" for file in files]
        parts = [connection.execute(sql).fetchnumpy() for sql in asked]
        columns = [list(part.values()) for part in parts]
        values = np.column_stack([filled(c) for part in columns for c in part[2:]])
        marks = duckdb_marks(connection, files[0].with_suffix(".json"))
        yield of_table(filled(columns[0][0]), filled(columns[0][1]) / 1e9, values, marks)


def filled(column: Any) -> Numbers:
    """NaN where DuckDB's array is masked."""
    numbers: Numbers = np.ma.filled(np.ma.asarray(column).astype(float), np.nan)
    return numbers


def read_pandas_parquet(recording: Recording) -> Iterator[Reading]:
    for stream in recording["streams"]:
        headset = f"fixture-{recording['name']}"
        # Columns of the headset's own model: pandas takes those of the first file for the whole directory.
        document = documents(stream)[headset]
        frame = pandas.read_parquet(document.parent).sort_values("n")
        times = nanoseconds(frame["time"].dt.tz_localize(None))
        yield of_rows(frame["n"].to_numpy(), times, frame[names(stream)].to_numpy(dtype=float), marks_of(document))


def read_polars_parquet(recording: Recording) -> Iterator[Reading]:
    for stream in recording["streams"]:
        document = documents(stream)[f"fixture-{recording['name']}"]
        frame = polars.scan_parquet(document.parent / "**/*.parquet", hive_partitioning=True).sort("n").collect()
        times = nanoseconds(frame["time"].dt.replace_time_zone(None).to_numpy())
        values = frame.select(names(stream)).to_numpy().astype(float)
        yield of_rows(frame["n"].to_numpy(), times, values, marks_of(document))


def read_duckdb_parquet(recording: Recording) -> Iterator[Reading]:
    connection = duckdb.connect()
    for stream in recording["streams"]:
        headset = f"fixture-{recording['name']}"
        columns = ", ".join(f'"{name}"' for name in names(stream))
        rows = f"read_parquet('{PARQUET}/stream={stream['name']}/**/*.parquet', union_by_name = true)"
        sql = f"SELECT n, epoch_ns(time), {columns} FROM {rows} WHERE headset = ? ORDER BY n"
        read = [filled(c) for c in connection.execute(sql, [headset]).fetchnumpy().values()]
        marks = duckdb_marks(connection, documents(stream)[headset])
        yield of_rows(read[0], read[1] / 1e9, np.column_stack(read[2:]), marks)


def read_sqlite(recording: Recording) -> Iterator[Reading]:
    connection = sqlite3.connect(f"file:{TABLE / recording['name']}.sqlite?mode=ro", uri=True)
    for stream in recording["streams"]:
        (view,) = connection.execute(
            "SELECT DISTINCT view_name FROM stream_overview WHERE stream = ?", [stream["name"]]
        ).fetchone()
        columns = ", ".join(f'"{name}"' for name in names(stream))
        rows = connection.execute(f'SELECT n, unix_ns / 1e9, {columns} FROM "{view}" ORDER BY n').fetchall()
        read = np.array(rows, dtype=float)
        ledger = connection.execute(
            "SELECT first_n, count, channel_name FROM gap_time WHERE stream = ?", [stream["name"]]
        ).fetchall()
        marks = connection.execute("SELECT onset_unix_ns / 1e9, description, n FROM annotation_time").fetchall()
        yield of_database(read, ledger, marks, stream)
    connection.close()


def of_database(read: Numbers, ledger: Iterable[Any], marks: Iterable[Any], stream: Stream) -> Reading:
    """Rows with n and time before the values; the gap ledger; marks with their times."""
    n, times, values = read[:, 0], read[:, 1], read[:, 2:]
    # Banks of a stream have a ledger each; a row that both lack is missing once.
    found = {
        Gap(int(np.searchsorted(n, first)), int(count), names(stream).index(channel) if channel else None)
        for first, count, channel in ledger
    }
    events = [
        Event(float(np.interp(at, times, np.arange(len(n))) if said_of is None else np.searchsorted(n, said_of)), text)
        for at, text, said_of in marks
    ]
    return Reading(values, times, Layout.ROWS, sorted(found, key=lambda g: g.row), events)
