"""Rows of a recording to and from files of Parquet, by pyarrow. `eegsync export --format parquet` runs it.

It says `ready` where what it needs is there. Then standard input has requests, a line of JSON each:

    {"write": DIRECTORY, "facts": ...}    the rows that follow, into files; the answer is a line of JSON: name and day of each
    {"read": [FILE...]}                   the answer is the rows of the files

Rows go in batches, little endian: their number (32 bits), their n (64 bits), their times in microseconds of UTC since 1970
(64 bits), then of each channel the counts (32 bits), then of each channel whether there is one (8 bits). A batch without rows
is the last one.
"""

import datetime
import gc
import json
import os
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

# Threads that wait for matrices which nobody multiplies here take their time, too.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

# Rows of a row group: some minutes, which a reader skips or reads together.
GROUP = 131_072
DAY = 86_400_000_000
EPOCH = datetime.date(1970, 1, 1)

Numbers = np.ndarray[Any, Any]
# The n, the times, the counts and what is present of each channel.
Batch = tuple[Numbers, Numbers, list[Numbers], list[Numbers]]


def read_exactly(count: int) -> bytes:
    data = sys.stdin.buffer.read(count)
    if len(data) != count:
        sys.exit("the rows end too early")
    return data


def batches(channel_count: int) -> Iterator[Batch]:
    while count := int.from_bytes(read_exactly(4), "little"):
        n = np.frombuffer(read_exactly(8 * count), "<i8")
        time = np.frombuffer(read_exactly(8 * count), "<i8")
        values = [np.frombuffer(read_exactly(4 * count), "<i4") for _ in range(channel_count)]
        present = [np.frombuffer(read_exactly(count), "u1") for _ in range(channel_count)]
        yield n, time, values, present


def groups(channel_count: int) -> Iterator[Batch]:
    """Batches put together until they are a row group."""
    waiting: list[Batch] = []
    for batch in batches(channel_count):
        waiting.append(batch)
        if sum(len(b[0]) for b in waiting) >= GROUP:
            yield joined(waiting)
            waiting = []
    if waiting:
        yield joined(waiting)


def joined(waiting: list[Batch]) -> Batch:
    channels = range(len(waiting[0][2]))
    return (
        np.concatenate([b[0] for b in waiting]),
        np.concatenate([b[1] for b in waiting]),
        [np.concatenate([b[2][c] for b in waiting]) for c in channels],
        [np.concatenate([b[3][c] for b in waiting]) for c in channels],
    )


class Files:
    """The files of one stream, one a day; a day that comes again after another one has a further file."""

    def __init__(self, directory: Path, facts: dict[str, Any]) -> None:
        self.directory = directory
        self.facts = facts
        self.writer: Any = None
        self.day: int | None = None
        self.names: list[tuple[str, str]] = []
        is_raw = facts["values"] == "raw"
        fields = [pa.field("n", pa.int64()), pa.field("time", pa.timestamp("us", tz="UTC"))]
        for channel in facts["channels"]:
            metadata = {key: str(channel[key]) for key in ("type", "unit", "scale", "offset")}
            fields.append(pa.field(channel["name"], pa.int32() if is_raw else pa.float64(), metadata=metadata))
        self.texts = sorted(facts["texts"].items())
        fields += [pa.field(name, pa.dictionary(pa.int32(), pa.string())) for name, _ in self.texts]
        self.schema = pa.schema(fields, metadata={"values": facts["values"]})

    def write(self, batch: Batch) -> None:
        days = batch[1] // DAY if self.facts["has_times"] else np.zeros(len(batch[1]), dtype=np.int64)
        edges = [0, *(np.flatnonzero(np.diff(days)) + 1), len(days)]
        for start, end in pairwise(edges):
            self.begin(int(days[start]))
            n, time, values, present = batch
            part = slice(int(start), int(end))
            self.writer.write_table(self.table((n[part], time[part], [v[part] for v in values], [p[part] for p in present])))

    def begin(self, day: int) -> None:
        if self.day == day and self.writer is not None:
            return
        self.finish()
        self.day = day
        name = f"{len(self.names)}_{self.facts['prefix']}.parquet"
        self.names.append((name, (EPOCH + datetime.timedelta(days=day)).isoformat()))
        dictionaries = [name for name, _ in self.texts]
        self.writer = pq.ParquetWriter(self.directory / name, self.schema, compression="zstd", use_dictionary=dictionaries)

    def table(self, batch: Batch) -> Any:
        n, time, values, present = batch
        times = pa.array(time, mask=None if self.facts["has_times"] else np.ones(len(time), dtype=bool))
        columns = [pa.array(n), times.view(self.schema.field("time").type)]
        for channel, counts, there in zip(self.facts["channels"], values, present, strict=True):
            column = counts
            if self.facts["values"] != "raw":
                column = np.multiply(counts, channel["scale"])
                column += channel["offset"]
            # A mask is gone through value by value: most channels need none.
            columns.append(pa.array(column, mask=None if there.all() else there == 0))
        zeros = pa.array(np.zeros(len(n), dtype=np.int32))
        columns += [pa.DictionaryArray.from_arrays(zeros, pa.array([text], pa.string())) for _, text in self.texts]
        return pa.table(columns, schema=self.schema)

    def finish(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.writer = None


def write(directory: Path, facts: dict[str, Any]) -> None:
    files = Files(directory, facts)
    for group in groups(len(facts["channels"])):
        files.write(group)
    files.finish()
    answer(json.dumps(files.names).encode() + b"\n")


def answer(data: bytes | memoryview) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def counts(column: Any, field: Any, *, is_raw: bool) -> tuple[Numbers, Numbers]:
    """The counts of a channel, 0 where there is none, and where there is one."""
    has_all = column.null_count == 0
    present = np.ones(len(column), "u1") if has_all else np.asarray(column.is_valid()).astype("u1")
    filled = column.to_numpy() if has_all else column.fill_null(0).to_numpy(zero_copy_only=False)
    if not is_raw:
        scale, offset = (float(field.metadata[key]) for key in (b"scale", b"offset"))
        values = filled - offset
        values /= scale
        np.rint(values, out=values)
        filled = values if has_all else np.where(present == 1, values, 0)
    return filled.astype("<i4", copy=False), present


def read(paths: list[str]) -> None:
    for path in paths:
        file = pq.ParquetFile(path)
        schema = file.schema_arrow
        is_raw = schema.metadata[b"values"] == b"raw"
        channels = [name for name in schema.names if schema.field(name).metadata and b"scale" in schema.field(name).metadata]
        for batch in file.iter_batches(batch_size=GROUP, columns=["n", "time", *channels]):
            time = batch.column("time").view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
            columns = [counts(batch.column(name), schema.field(name), is_raw=is_raw) for name in channels]
            answer(len(batch).to_bytes(4, "little"))
            for column in (batch.column("n").to_numpy(), time):
                answer(column.astype("<i8", copy=False).data)
            for column in (*(values for values, _ in columns), *(there for _, there in columns)):
                answer(column.data)
    answer(bytes(4))


def main() -> None:
    # What was imported stays as long as the program.
    gc.freeze()
    answer(b"ready\n")
    for line in iter(sys.stdin.buffer.readline, b""):
        request = json.loads(line)
        if "write" in request:
            write(Path(request["write"]), request["facts"])
        else:
            read(request["read"])


main()
