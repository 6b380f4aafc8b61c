"""Each question of the page, four ways, on a day of 8 channels: the same answer, by the key of the samples."""

import pathlib
from typing import Any

import duckdb
import pandas as pd
import pytest

import eegsync
import questions
from databases import DAY
from questions import QUESTIONS


def test_there_are_fifteen() -> None:
    assert len(QUESTIONS) == 15


def test_all_four_give_the_same_answer(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_r, r_seconds = questions.r_language(tmp_path)
    lines = ["", "question     rows   sqlite3   Python        R   DuckDB  (seconds on a day of 8 channels)"]
    for number, question in enumerate(QUESTIONS):
        reference, in_shell = questions.seconds(questions.shell, question)
        by_python, in_python = questions.seconds(questions.python, question)
        by_duckdb, in_duckdb = questions.seconds(questions.duck, question)
        assert len(reference) > 0, f"question {number + 1} found nothing: its answer says nothing"
        for name, answer in (("Python", by_python), ("R", by_r[number]), ("DuckDB", by_duckdb)):
            assert questions.same(reference, answer), f"question {number + 1} in {name}: {answer[:3]} is not {reference[:3]}"
        lines.append(
            f"{number + 1:8} {len(reference):8} {in_shell:9.3f} {in_python:8.3f} {r_seconds[number]:8.3f} {in_duckdb:8.3f}"
        )
    with capsys.disabled():
        print("\n".join(lines))


def test_the_comparison_sees_what_differs() -> None:
    table: questions.Answer = [["1", "0.1", None], ["2", "x", "3"]]
    assert questions.same(table, [["1", "0.10000000000000001", ""], ["2.0", "x", "3"]])
    changed: questions.Answer = [["1", "0.1000001", None], ["1", "0.1", "0"], ["1", None, None], ["1", "0.1"]]
    others: list[questions.Answer] = [table[:1], [], *([row, table[1]] for row in changed), [table[0], ["2", "y", "3"]]]
    for other in others:
        assert not questions.same(table, other)


@pytest.mark.parametrize("number", range(1, 16))
def test_samples_are_found_by_their_key(number: int) -> None:
    steps = questions.plan(QUESTIONS[number - 1])
    assert steps and questions.unbounded(steps) == []


@pytest.mark.parametrize(
    "question",
    [
        "SELECT TP9 FROM eeg_1 WHERE time > '2026-03-01T10:00'",
        "SELECT avg(c1) FROM sample",
        "SELECT value FROM sample_long WHERE recording_id = 1 AND stream = 'eeg' AND unix_ns > 5",
    ],
)
def test_a_question_that_reads_all_rows_is_noticed(question: str) -> None:
    assert questions.unbounded(questions.plan(question)) != []


def test_what_the_page_says_in_python(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "eegsync.sqlite").symlink_to(DAY)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    found = questions.blocks("python")
    assert len(found) == 17
    for block in found:
        # The last line is shown, as in a notebook.
        *lines, last = block.strip().splitlines()
        exec("\n".join(lines if last[0] != "d" else [*lines, last]), names)
        if last[0] != "d":
            shown = eval(last, names)
            assert shown is not None and not (isinstance(shown, pd.DataFrame | pd.Series) and shown.empty), block
    assert len(names["hour"]) > 890_000
    names["database"].close()


def test_what_the_page_says_in_duckdb(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "eegsync.sqlite").symlink_to(DAY)
    monkeypatch.chdir(tmp_path)
    (block,) = questions.blocks("duckdb")
    connection = duckdb.connect()
    connection.execute(f"LOAD '{questions.EXTENSION}'")
    found = connection.execute(block).fetchall()
    assert len(found) == 2560 and [row[0] for row in found[:3]] == [0, 1, 2]
    connection.close()
    frame = eegsync.read(eegsync.recording(DAY), stop=2560).frame()
    (mean,) = duckdb.sql("SELECT avg(TP9) FROM frame").fetchall()[0]
    assert mean == pytest.approx(frame["TP9"].mean())
