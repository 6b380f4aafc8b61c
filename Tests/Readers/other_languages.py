"""EEGLAB's datasets as Octave gives them; CSV and SQLite as R gives them. tables.R and datasets.m are what runs there.

EEGLAB itself, which is no package of Debian, is not asked: Octave loads the .set as the MAT-file that it is, and the .fdt.
"""

import csv
import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from multiplexed_files import gap, path
from recordings import RECORDINGS, Numbers, Recording
from scores import Event, Layout, Reading, gaps_of_cells
from signal_files import MISSING, TABLE
from table_files import of_database, tables

HERE = Path(__file__).parent
R = ["Rscript", "--vanilla", str(HERE / "tables.R")]
OCTAVE = ["octave-cli", "--no-init-file", "--no-history", "--quiet", str(HERE / "datasets.m")]
# What they have written; one process reads all files of a kind.
Written = dict[str, bytes]


@cache
def written(command: tuple[str, ...], files: tuple[Path, ...]) -> Written:
    assert shutil.which(command[0]), f"{command[0]} is not installed; Tests/run installs it"
    with tempfile.TemporaryDirectory() as directory:
        # Texts are UTF-8 whatever the machine's language is.
        subprocess.run([*command, directory, *files], check=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
        return {file.name: file.read_bytes() for file in Path(directory).iterdir()}


def numbers(data: bytes) -> Numbers:
    return np.frombuffer(data, dtype="<f8")


def read_octave(recording: Recording, gaps: str) -> Iterator[Reading]:
    files = [path(r, i, gaps, "set") for r in RECORDINGS for i in range(len(r["streams"]))]
    read = written(tuple(OCTAVE), tuple(files))
    for index, stream in enumerate(recording["streams"]):
        name = path(recording, index, gaps, "set").stem
        data = numbers(read[f"{name}.rows"])
        rows, columns = int(data[0]), int(data[1])
        times, values = data[2 : 2 + rows], data[2 + rows :].reshape(rows, columns)
        found, events = [], []
        for event in json.loads(read[f"{name}.events.json"].decode(errors="replace")):
            text, row, count = event["type"], event["latency"] - 1, round(event["duration"] or 0)
            if text == "boundary" or text.startswith(MISSING):
                found.append(gap(row, count, text.removeprefix(MISSING).strip(), [], stream))
            else:
                events.append(Event(row, text))
        yield Reading(values, times, Layout.ROWS if gaps == "discontinuous" else Layout.GRID, found, events)


def rows_of_r(data: bytes) -> tuple[Numbers, Numbers, Numbers]:
    """n, times and values."""
    read = numbers(data)
    rows, columns = int(read[0]), int(read[1])
    body = read[2:].reshape(columns + 2, rows)
    return body[0], body[1], body[2:].T


def r_tables(recording: Recording) -> Sequence[Sequence[Path]]:
    return [tables(recording, stream) for stream in recording["streams"]]


def read_r_csv(recording: Recording, chosen: Sequence[Recording]) -> Iterator[Reading]:
    """Base R has no reader of JSON, so the marks beside the table are not read."""
    read = written(tuple(R), tuple(f for r in chosen for files in r_tables(r) for f in files))
    for files in r_tables(recording):
        parts = [rows_of_r(read[f"{file.stem}.rows"]) for file in files]
        values = np.hstack([part[2] for part in parts])
        yield Reading(values, parts[0][1], Layout.GRID, gaps_of_cells(values))


def read_r_sqlite(recording: Recording, chosen: Sequence[Recording]) -> Iterator[Reading]:
    read = written(tuple(R), tuple(TABLE / f"{r['name']}.sqlite" for r in chosen))
    name = recording["name"]
    listed = list(csv.DictReader(read[f"{name}.events.csv"].decode().splitlines()))
    marks = [(int(row["onset"]) / 1e9, row["description"], int(row["n"]) if row["n"] else None) for row in listed]
    for stream in recording["streams"]:
        n, times, values = rows_of_r(read[f"{name}-{stream['name']}.rows"])
        ledger = [
            (int(row["first_n"]), int(row["count"]), row["channel_name"])
            for row in csv.DictReader(read[f"{name}-{stream['name']}.gaps.csv"].decode().splitlines())
        ]
        yield of_database(np.column_stack([n, times, values]), ledger, marks, stream)
