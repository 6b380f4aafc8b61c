#!/usr/bin/env python3
"""Reads a study's folder of Parquet as one table: check.py PROGRAM DIRECTORY. Tests/Spark/run calls it."""

import math
import os
import pathlib
import shutil
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow.compute
import pyarrow.parquet as pq

import dasks
import spark as sparks
import study
from checklist import check, conclude, notices
from study import Recorded, Stream

RECORDINGS = 50
Streams = dict[str, Stream]
Reader = Callable[[pathlib.Path], Streams]


def of_database(recorded: list[Recorded], name: str) -> Streams:
    return {each.uuid: each.streams[name] for each in recorded if name in each.streams}


def agree(read: Streams, expected: Streams) -> None:
    """The same recordings, with the same rows, days, times, and counts and means of each channel."""
    assert read.keys() == expected.keys(), read.keys() ^ expected.keys()
    for uuid, stream in expected.items():
        found = read[uuid]
        assert (found.rows, found.days) == (stream.rows, stream.days), (uuid, found.rows, stream.rows, found.days, stream.days)
        assert (found.first, found.last) == (stream.first, stream.last), (uuid, found.first, stream.first)
        # FP1 of one headset and Fp1 of another are one column for Spark.
        ours = {name.casefold(): values for name, values in found.channels.items()}
        theirs = {name.casefold(): values for name, values in stream.channels.items() if values[0]}
        assert ours.keys() == theirs.keys(), (uuid, ours.keys() ^ theirs.keys())
        for name, (count, mean) in theirs.items():
            assert ours[name][0] == count, (uuid, name, ours[name][0], count)
            assert math.isclose(ours[name][1] or 0, mean or 0, rel_tol=1e-9, abs_tol=1e-6), (uuid, name, ours[name], mean)


def is_one_table(table: Any, rows: int) -> None:
    assert table.count() == rows
    assert table.select("recording").distinct().count() == RECORDINGS


def leaves_unread(spark: Any, folder: pathlib.Path, expected: Streams) -> None:
    """A question of one recording, or of one day, opens no other file."""
    table = sparks.table(spark, folder)
    assert sparks.files_read(table.select("n").groupBy().count()) == sum(len(s.days) for s in expected.values())
    for uuid, stream in expected.items():
        assert sparks.files_read(table.where(table.recording == uuid).select("n").limit(1)) == len(stream.days)
    uuid, over_midnight = next((u, s) for u, s in expected.items() if len(s.days) > 1)
    day, rows = next(iter(over_midnight.days.items()))
    of_day = table.where(table.day == day)
    assert sparks.files_read(of_day.select("n").limit(1)) == sum(day in s.days for s in expected.values())
    one = of_day.where(table.recording == uuid)
    assert sparks.files_read(one.select("n").limit(1)) == 1
    assert one.count() == rows


def dask_counts(folder: pathlib.Path, expected: Streams) -> None:
    """As it is read without naming columns, and with a filter that leaves the other files unread."""
    counted = dasks.table(folder).groupby("recording", observed=True).n.count().compute()
    assert {str(uuid): int(count) for uuid, count in counted.items()} == {u: s.rows for u, s in expected.items()}
    for uuid, stream in list(expected.items())[:10]:
        filtered = dasks.table(folder, columns=["n"], filters=[("recording", "==", uuid)])
        assert (filtered.npartitions, len(filtered)) == (len(stream.days), stream.rows)


def planted(folder: pathlib.Path, to: pathlib.Path, plant: Callable[[pathlib.Path], None]) -> pathlib.Path:
    """A copy with a defect in its smallest file."""
    shutil.copytree(folder, to, copy_function=os.link)
    plant(min(to.rglob("*.parquet"), key=lambda file: file.stat().st_size))
    return to


def change(file: pathlib.Path, column: str, by: Any) -> None:
    """Of the middle row of the first channel, or of the first row of a named column."""
    table = pq.read_table(file, partitioning=None)
    index = table.schema.get_field_index(column) if column else 2
    values = table.column(index).to_pylist()
    row = next(i for i in range(len(values) // 2 if not column else 0, len(values)) if values[i] is not None)
    values[row] += by
    field = table.schema.field(index)
    table = table.set_column(index, field, pyarrow.array(values, field.type))
    # The file has another name in the folder that is as it was written.
    file.unlink()
    pq.write_table(table, file)


DEFECTS: dict[str, Callable[[pathlib.Path], None]] = {
    "a file that is gone": lambda file: file.unlink(),
    "a file that is there twice": lambda file: file.with_name("part-1.parquet").hardlink_to(file),
    "a value that is another": lambda file: change(file, "", 1.0),
    "a time one microsecond late": lambda file: change(file, "time", study.MICROSECOND),
}


def main() -> int:
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    recorded: list[Recorded] = []
    check(
        f"{RECORDINGS} recordings are exported into one folder", lambda: recorded.extend(study.make(program, work, RECORDINGS))
    )
    tables, eeg = work / "tables", work / "tables/stream=eeg"
    names = sorted({name for each in recorded for name in each.streams})
    rows = sum(stream.rows for each in recorded for stream in each.streams.values())
    models = {each.model for each in recorded}
    print(f"{len(recorded)} recordings of {len(models)} models, {len(names)} streams, {rows:,} rows", flush=True)
    spark = sparks.session()
    check("Spark reads the study as one table", lambda: is_one_table(sparks.table(spark, tables), rows))
    by_spark: Reader = partial(sparks.streams, spark)
    by_dask: Reader = dasks.streams
    for name in names:
        folder, expected = tables / f"stream={name}", of_database(recorded, name)
        check(f"Spark's {name} is the databases'", lambda: agree(by_spark(folder), expected))  # noqa: B023 - called at once
        check(f"Dask's {name} is the databases'", lambda: agree(by_dask(folder), expected))  # noqa: B023 - called at once
    expected = of_database(recorded, "eeg")
    check("Spark leaves unread what a question does not need", lambda: leaves_unread(spark, eeg, expected))
    check("Dask counts all files, and filters", lambda: dask_counts(eeg, expected))
    for number, (name, plant) in enumerate(DEFECTS.items()):
        copy = planted(eeg, work / f"planted-{number}" / eeg.name, plant)
        for who, read in {"Spark": by_spark, "Dask": by_dask}.items():
            check(f"{name} is noticed with {who}", lambda: notices(lambda: agree(read(copy), expected)))  # noqa: B023 - at once
    spark.stop()
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
