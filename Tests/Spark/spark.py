"""A folder of Parquet as PySpark reads it, in local mode."""

import pathlib
from typing import Any

from pyspark.sql import SparkSession, functions

from study import Stream

# What is no channel.
FACTS = {"n", "time", "headset", "number", "subject", "task", "stream", "recording", "day"}


def session() -> Any:
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.memory", "1g")
        .config("spark.sql.session.timeZone", "UTC")
        # So that the plan that ran is the plan whose figures are read.
        .config("spark.sql.adaptive.enabled", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )


def table(spark: Any, folder: pathlib.Path) -> Any:
    """As the page Exporting says it; headsets of several models have several columns."""
    return spark.read.option("mergeSchema", True).parquet(str(folder))


def streams(spark: Any, folder: pathlib.Path) -> dict[str, Stream]:
    """What the table says of each recording."""
    frame = table(spark, folder)
    channels = [name for name in frame.columns if name not in FACTS]
    asked = [
        functions.count(functions.lit(1)),
        functions.unix_micros(functions.min("time")),
        functions.unix_micros(functions.max("time")),
    ]
    asked += [each for name in channels for each in (functions.count(f"`{name}`"), functions.avg(f"`{name}`"))]
    days: dict[str, dict[str, int]] = {}
    for recording, day, count in frame.groupBy("recording", "day").count().collect():
        days.setdefault(recording, {})[str(day)] = count
    found = {}
    for recording, rows, first, last, *values in frame.groupBy("recording").agg(*asked).collect():
        pairs = dict(zip(channels, zip(values[::2], values[1::2], strict=True), strict=True))
        found[recording] = Stream(rows, first, last, {k: v for k, v in pairs.items() if v[0]}, days[recording])
    return found


def files_read(frame: Any) -> int:
    """How many files a question opens."""
    frame.collect()
    leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()  # noqa: SLF001 - nothing public has the figures
    return int(leaves.apply(0).metrics().apply("numFiles").value())
