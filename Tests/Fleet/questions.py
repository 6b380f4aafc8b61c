#!/usr/bin/env python3
"""Asks a centre what is asked of a machine: questions.py DATABASE SERVER ROLE MACHINE [--plant].

DATABASE is a machine's own, whose first recording ROLE may read at the centre whose socket lies in SERVER; MACHINE is the role
that has shipped it. Each query of the page QueryingTheCentre, with the recording's number there, must have the rows of the
query of the same number of the page QueryingTheDatabase, and views of one name the same rows. Says what differs; exit 1 then.
With --plant one value of the machine's is another.
"""

import contextlib
import csv
import functools
import io
import math
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator

PAGES = pathlib.Path(__file__).resolve().parents[2] / "Sources/eegsync/eegsync.docc"
# As the pages call the first channels.
PAGE_CHANNELS = ["TP9", "AF7", "AF8", "TP10"]
# Numbers that a database gives: the centre has others.
OWN_NUMBERS = {
    "recording_id",
    "stream_id",
    "annotation_id",
    "host_boot_id",
    "link",
    "gap_id",
    "replaces",
    "replaced_by",
    "said_of_stream_id",
}
# Views of both.
VIEWS = [
    "recording_overview", "stream_overview", "gap_time", "segment_time", "annotation_time", "annotation_onset",
    "annotation_sample", "annotation_history", "signal_check_time", "impedance_time", "stream_certainty", "epoch_link",
    "history",
]  # fmt: skip
# Which of their rows are the recording's.
CONDITIONS = {"epoch_link": "stream_id IN (SELECT id FROM stream WHERE recording_id = {})", "history": "time IS NOT NULL"}
Table = tuple[list[str], list[list[str]]]


def queries(page: str) -> Iterator[str]:
    for part in re.findall(r"```sql\n(.*?)```", (PAGES / f"{page}.md").read_text(encoding="utf-8"), re.DOTALL):
        yield part.strip().rstrip(";")


def centre(server: str, role: str, sql: str) -> Table:
    command = ["psql", "--no-psqlrc", "--csv", "--pset", "null=NULL", "--username", role, "--dbname", "study", "--command", sql]
    done = subprocess.run(command, env=os.environ | {"PGHOST": server}, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"psql could not: {sql}: {done.stderr}")
    heads, *rows = csv.reader(io.StringIO(done.stdout))
    return heads, rows


def machine(db: sqlite3.Connection, sql: str) -> Table:
    cursor = db.execute(sql)
    heads = [each[0] for each in cursor.description]
    return heads, [["NULL" if each is None else str(each) for each in row] for row in cursor]


def value(text: str) -> tuple[int, float, str]:
    """Numbers as numbers, to nine digits; whatever comes first in an order comes first in both."""
    if re.fullmatch(r"-?\d+", text):
        return 0, int(text), ""
    try:
        number = float(text)
    except ValueError:
        return 1, 0, text
    if number == 0 or not math.isfinite(number):
        return 0, number, ""
    digits = 8 - math.floor(math.log10(abs(number)))
    return 0, round(number, digits), ""


def rows(table: Table, names: list[str]) -> list[list[tuple[int, float, str]]]:
    heads, content = table
    at = [heads.index(name) for name in names]
    return sorted([value(row[index]) for index in at] for row in content)


def differences(what: str, own: Table, there: Table, *, is_same_columns: bool = True) -> Iterator[str]:
    lacking = [name for name in own[0] if name not in there[0] and name not in OWN_NUMBERS]
    if is_same_columns and lacking:
        yield f"{what}: no column {', '.join(lacking)}"
    names = [name for name in own[0] if name in there[0] and name not in OWN_NUMBERS]
    mine, its = rows(own, names), rows(there, names)
    if mine != its:
        pairs = zip(mine, its, strict=False)
        first = next((pair for pair in pairs if pair[0] != pair[1]), (mine[-1:], its[-1:]))
        yield f"{what}: {len(mine)} rows here, {len(its)} there; {names}: {first[0]}, {first[1]}"


def main() -> int:
    path, server, role, of_machine = sys.argv[1:5]
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
            file.backup(db)
        if "--plant" in sys.argv:
            db.execute("UPDATE annotation SET description = 'planted' WHERE id = (SELECT max(id) FROM annotation)")
        uuid = db.execute("SELECT uuid FROM recording WHERE id = 1").fetchone()[0]
        number = centre(server, role, f"SELECT id FROM recording WHERE uuid = '{uuid}'")[1][0][0]
        found = []
        channels = [name for (name,) in db.execute("SELECT name FROM channel WHERE stream_id = 1 ORDER BY number")]
        named = functools.partial(re.sub, r"TP9|AF7|AF8|TP10", lambda word: channels[PAGE_CHANNELS.index(word[0])])
        own, there = list(queries("QueryingTheDatabase")), list(queries("QueryingTheCentre"))
        if len(own) != len(there):
            found.append(f"{len(own)} questions here, {len(there)} there")
        for index, (asked, asked_there) in enumerate(zip(own, there, strict=False), 1):
            text = named(asked_there).replace("'pi-07'", f"'{of_machine}'")
            text = re.sub(r"(recording_id = |samples\()12\b", rf"\g<1>{number}", text)
            if "12" in text and text == asked_there:
                found.append(f"query {index} asks for no recording")
            answer = machine(db, named(asked))
            if not answer[1]:
                found.append(f"query {index} has no row here")
            its = centre(server, role, text)
            if index == 1:
                at = its[0].index("recording_id")
                its = (its[0], [row for row in its[1] if row[at] == number])
            found += differences(f"query {index}", answer, its)
        for name in VIEWS:
            condition = CONDITIONS.get(name, "recording_id = {}")
            mine = machine(db, f"SELECT * FROM {name} WHERE {condition.format(1)}")
            wanted = f"machine = '{of_machine}'" if name == "history" else condition.format(number)
            found += differences(f"view {name}", mine, centre(server, role, f"SELECT * FROM {name} WHERE {wanted}"))
    print("\n".join(found[:20]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
