"""The questions of the page QueryingTheDatabase, asked as the page says: in SQLite's shell, in Python, in R and in DuckDB."""

import csv
import json
import pathlib
import re
import sqlite3
import subprocess
import time
from typing import Any

import duckdb
import duckdb_extension_sqlite_scanner

from databases import DAY, TOP

PAGE = TOP / "Sources/eegsync/eegsync.docc/QueryingTheDatabase.md"
# Rows of a table, all as text; None is NULL.
Answer = list[list[str | None]]
# DuckDB loads its extension for SQLite only with the signature of DuckDB's own developers, whoever has packed it for PyPI.
EXTENSION = next(pathlib.Path(duckdb_extension_sqlite_scanner.__path__[0]).rglob("*.duckdb_extension"))


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(), re.DOTALL)


QUESTIONS = blocks("sql")


def same(first: Answer, second: Answer) -> bool:
    """Whether two tables agree; numbers up to what their decimals leave open."""
    if len(first) != len(second):
        return False
    return all(
        len(ours) == len(theirs) and all(map(_same_cell, ours, theirs)) for ours, theirs in zip(first, second, strict=True)
    )


def _same_cell(ours: str | None, theirs: str | None) -> bool:
    if ours in (None, "") or theirs in (None, ""):
        return ours in (None, "") and theirs in (None, "")
    if ours == theirs:
        return True
    try:
        left, right = float(str(ours)), float(str(theirs))
    except ValueError:
        return False
    return abs(left - right) <= 1e-12 * max(abs(left), abs(right))


def shell(question: str) -> Answer:
    """SQLite's shell, as JSON."""
    said = subprocess.run(["sqlite3", "-readonly", "-json", DAY, question], check=True, capture_output=True, text=True).stdout
    found: list[dict[str, Any]] = json.loads(said, parse_int=str, parse_float=str)
    return [[None if value is None else str(value) for value in row.values()] for row in found]


def python(question: str) -> Answer:
    connection = sqlite3.connect(f"file:{DAY}?mode=ro", uri=True)
    rows = connection.execute(question).fetchall()
    connection.close()
    return [[None if value is None else str(value) for value in row] for row in rows]


def duck(question: str) -> Answer:
    connection = duckdb.connect()
    connection.execute(f"LOAD '{EXTENSION}'")
    connection.execute(f"ATTACH '{DAY}' AS recorded (TYPE sqlite, READ_ONLY)")
    rows = connection.execute(f"SELECT * FROM sqlite_query('recorded', $${question.rstrip().rstrip(';')}$$)").fetchall()
    connection.close()
    return [[None if value is None else str(value) for value in row] for row in rows]


def r_language(directory: pathlib.Path) -> tuple[list[Answer], list[float]]:
    """All questions in one process of R, with the seconds that each took."""
    (snippet,) = blocks("r")
    (directory / "snippet.R").write_text(snippet)
    (directory / "eegsync.sqlite").symlink_to(DAY)
    for number, question in enumerate(QUESTIONS):
        (directory / f"{number:02}.sql").write_text(question)
    script = pathlib.Path(__file__).with_name("questions.R")
    asked = ["Rscript", "--vanilla", str(script), str(directory / "snippet.R"), str(directory)]
    said = subprocess.run(asked, check=True, capture_output=True, text=True, cwd=directory).stdout
    answers: list[Answer] = []
    for number in range(len(QUESTIONS)):
        with (directory / f"{number:02}.csv").open() as file:
            answers.append([[cell or None for cell in row] for row in list(csv.reader(file))[1:]])
    return answers, [float(line.split()[1]) for line in said.splitlines()]


def plan(question: str) -> list[str]:
    connection = sqlite3.connect(f"file:{DAY}?mode=ro", uri=True)
    steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {question}")]
    connection.close()
    return steps


def unbounded(steps: list[str]) -> list[str]:
    """The steps of a plan that read all rows of a stream: they search samples by the stream alone, or by nothing."""
    # Views of streams call the table s0, s1, ..., sample_long calls it s, as other views call others. The least and the
    # greatest n of a stream, one row each, are searched by the table's own name.
    everything = r"SCAN (s\d+|sample)\b|SEARCH s\d* USING PRIMARY KEY \(stream_id=\?\)"
    return [step for step in steps if re.match(everything, step)]


def seconds(ask: Any, question: str) -> tuple[Answer, float]:
    began = time.monotonic()
    answer: Answer = ask(question)
    return answer, time.monotonic() - began
