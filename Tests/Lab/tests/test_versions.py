"""What is kept of scenarios performed with several versions, and the table of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.findings import Findings
from lab.marks import RECORD_START, Goal, Mark
from lab.page import replaced
from lab.performance import Performance
from lab.results import Result, Versions, read_results
from lab.scenario import LEFT, Scenario
from lab.versions import PAGE, table

OLD = Versions("5.66-1+deb12u2", "6.1.170")
NEWER = Versions("5.82-1.1", "6.1.170")
NEWEST = Versions("5.82-1.1", "6.12.117")
AWAY = Scenario(1, "away-5s", "out of range for 5 s", [], headsets=(LEFT,))


def result(versions: Versions, *seconds: float | None, scenario: str = "away-5s", problems: tuple[str, ...] = ()) -> Result:
    return Result(versions, scenario, f"title of {scenario}", seconds, problems, "2026-11-25")


def cells(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if not line.startswith("|---")]


def test_a_row_is_a_scenario_and_a_column_a_version_from_old_to_new() -> None:
    results = [result(NEWEST, 0.2, 0.3, 0.7), result(NEWER, 0.5), result(OLD, 0.1), result(OLD, scenario="contract")]
    found = cells(table(results))
    assert found == [
        ["scenario", "5.66-1+deb12u2, Linux 6.1.170", "5.82-1.1, Linux 6.1.170", "5.82-1.1, Linux 6.12.117"],
        ["`away-5s`: title of away-5s", "0.10 s, 0.10 s (1)", "0.50 s, 0.50 s (1)", "0.30 s, 0.70 s (3)"],
        ["`contract`: title of contract", "passed", "", ""],
    ]


def test_what_failed_is_named_and_not_hidden_by_its_figures() -> None:
    text = table([result(OLD, 0.1, None, problems=("left never returned\nafter: away 5 s",)), result(NEWER, 0.2)])
    assert cells(text)[1][1:] == ["**failed** 0.10 s, 0.10 s (1)", "0.20 s, 0.20 s (1)"]
    assert "- 5.66-1+deb12u2, Linux 6.1.170, `away-5s`: left never returned after: away 5 s" in text.splitlines()
    assert "failed" not in table([result(NEWER, 0.2)])


def test_the_last_performance_counts() -> None:
    failed, passed = result(OLD, problems=("the machine ended without a word",)), result(OLD, 0.2)
    assert cells(table([failed, passed]))[1][1] == "0.20 s, 0.20 s (1)"
    assert cells(table([passed, failed]))[1][1] == "**failed**"


def test_old_is_by_numbers() -> None:
    columns = cells(table([result(Versions("5.66-1", "6.12.117"), 0.1), result(Versions("5.9-1", "6.2"), 0.1)]))[0]
    assert columns[1:] == ["5.9-1, Linux 6.2", "5.66-1, Linux 6.12.117"]


def test_results_outlive_their_file_without_the_start_of_a_recording(tmp_path: Path) -> None:
    marks = [Mark("left", fault, Goal.RADIO, 0, first) for fault, first in ((RECORD_START, 9), ("away", 10**9), ("away", None))]
    kept = Result.of(Performance(AWAY, 1, Findings(marks=marks, problems=["left never returned"])), OLD)
    assert kept.seconds == (1.0, None)
    path = tmp_path / "cache" / "versions.jsonl"
    assert read_results(path) == []
    kept.append_to(path)
    result(NEWER, 0.25).append_to(path)
    assert read_results(path) == [kept, result(NEWER, 0.25)]


def test_versions_are_those_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "version").write_text("5.82-1.1\n", encoding="utf-8")
    kernel = tmp_path / "linux"
    kernel.write_text('#!/bin/sh\n[ "$1" = --version ] && echo 6.12.117\n', encoding="utf-8")
    kernel.chmod(0o755)
    assert Versions.of(kernel, tmp_path) == NEWEST
    with pytest.raises(FileNotFoundError):
        Versions.of(kernel, tmp_path / "absent")


def test_the_page_has_room_for_the_table() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert "| new |" in replaced(page, {"versions": "| new |"})
