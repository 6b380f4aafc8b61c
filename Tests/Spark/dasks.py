"""A folder of Parquet as Dask reads it."""

import pathlib
from typing import Any

import dask.dataframe as dd
import pandas
import pyarrow.parquet as pq

from study import Channels, Stream

FACTS = ["n", "time", "recording", "day"]


def table(folder: pathlib.Path, **options: Any) -> Any:
    """As the page Exporting says it. Its columns are those of the first file."""
    return dd.read_parquet(folder, **options)


def channels(folder: pathlib.Path) -> list[str]:
    """Of all files."""
    found = {name: None for file in sorted(folder.rglob("*.parquet")) for name in pq.read_schema(file).names}
    return [name for name in found if name not in {*FACTS, "headset", "number", "subject", "task"}]


def named(folder: pathlib.Path, columns: list[str]) -> Any:
    """One table with these channels, whether or not a recording has them."""

    def part(file: pathlib.Path) -> Any:
        frame = pandas.read_parquet(file)
        frame["recording"], frame["day"] = (file.parents[i].name.partition("=")[2] for i in (1, 0))
        return frame.reindex(columns=[*FACTS, *columns]).astype(dict.fromkeys(columns, float))

    return dd.from_map(part, sorted(folder.rglob("*.parquet")))


def streams(folder: pathlib.Path) -> dict[str, Stream]:
    """What the table says of each recording."""
    columns = channels(folder)
    frame = named(folder, columns)
    groups = frame.groupby("recording")
    asked = {"n": ["count"], "time": ["min", "max"], **{name: ["count", "mean"] for name in columns}}
    by_recording = groups.agg(asked).compute()
    by_day = frame.groupby(["recording", "day"]).n.count().compute()
    found = {}
    for recording, row in by_recording.iterrows():
        read: Channels = {name: (int(row[name, "count"]), float(row[name, "mean"])) for name in columns if row[name, "count"]}
        first, last = (int(row["time", which].value) // 1000 for which in ("min", "max"))
        days = {day: int(count) for (owner, day), count in by_day.items() if owner == recording}
        found[str(recording)] = Stream(int(row["n", "count"]), first, last, read, days)
    return found
