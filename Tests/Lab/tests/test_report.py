"""The report's tables, and where they go."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from lab.findings import Findings
from lab.marks import RECORD_START, Goal, Mark
from lab.measurements import Measurement, Reader
from lab.page import PAGE, replaced
from lab.performance import Performance
from lab.report import LOG_LINES, failures, tables
from lab.scenario import LEFT, Scenario, lab_headset

AWAY = Scenario(1, "away-5s", "out of range for 5 s", [], headsets=(LEFT,))
KERNEL_AWAY = dataclasses.replace(
    AWAY, number=30, name="kernel-away-5s", title="without bluetoothd: out of range for 5 s", central="kernel"
)
SERIAL_AWAY = Scenario(22, "serial-away-5s", "serial port: out of range for 5 s", [], headsets=(lab_headset("thinkgear"),))


def mark(milliseconds: int | None, fault: str = "away 5 s", goal: Goal = Goal.RADIO, route: str = "bluez") -> Mark:
    first_sample = None if milliseconds is None else milliseconds * 1_000_000
    return Mark("left", fault, goal, available=0, first_sample=first_sample, route=route)


def performed(scenario: Scenario, *milliseconds: int | None) -> Performance:
    marks = [mark(each, route=scenario.central) for each in milliseconds]
    return Performance(scenario, 1, Findings(marks=marks, gaps=2, recovered=10, missing=3))


def rows(performances: list[Performance], table: str = "returns") -> list[list[str]]:
    lines = tables(performances)[table].splitlines()[2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_both_routes_stand_side_by_side() -> None:
    assert rows([performed(AWAY, 100, 200, 300), performed(KERNEL_AWAY, 150)]) == [
        [
            "1. out of range for 5 s",
            "away 5 s",
            "3",
            "0.20 s",
            "0.30 s",
            "0.30 s",
            "1",
            "0.15 s",
            "0.15 s",
            "0.15 s",
            "p50 ≤ 0.4 s, p95 ≤ 1 s: met",
        ]
    ]


@pytest.mark.parametrize(
    ("bluetoothd", "kernel", "verdict"),
    [
        (100, 600, "missed (kernel)"),
        (600, 100, "missed (bluetoothd)"),
        (600, 600, "missed"),
        (None, 100, "missed (bluetoothd)"),
    ],
)
def test_the_route_that_misses_the_goal_is_named(bluetoothd: int | None, kernel: int, verdict: str) -> None:
    found = rows([performed(AWAY, bluetoothd), performed(KERNEL_AWAY, kernel)])
    assert found[0][-1] == f"p50 ≤ 0.4 s, p95 ≤ 1 s: {verdict}"


def test_a_headset_that_never_returned_shows() -> None:
    assert rows([performed(AWAY, 100, None)])[0][2:6] == ["2", "0.10 s", "0.10 s", "never"]


def test_a_serial_port_is_the_kernels() -> None:
    assert rows([performed(SERIAL_AWAY, 100)])[0][2:7] == ["", "", "", "", "1"]


def test_what_the_kernel_alone_does_is_there_too() -> None:
    assert rows([performed(KERNEL_AWAY, 100)])[0][0] == "30. without bluetoothd: out of range for 5 s"


def test_starts_of_recordings_are_one_row() -> None:
    start = Performance(AWAY, 1, Findings(marks=[mark(500, RECORD_START, Goal.GATE), mark(100)]))
    found = rows([start, start])
    assert found[0][:4] == ["every scenario", RECORD_START, "2", "0.50 s"]
    assert found[1][2] == "2"


def test_a_scenario_without_returns_says_whether_it_passed() -> None:
    failed = performed(KERNEL_AWAY)
    failed.findings.problem("broken")
    assert rows([performed(AWAY), failed])[0][2:7] == ["passed", "", "", "", "failed"]


def test_losses_of_both_routes() -> None:
    assert rows([performed(AWAY, 1), performed(KERNEL_AWAY, 1)], "losses") == [
        ["1. out of range for 5 s", "2", "10", "3", "", "2", "10", "3", ""]
    ]


def measured(route: str, reader: Reader, seconds: float, processors: dict[str, float]) -> list[Measurement]:
    times = {"p50": seconds, "p95": seconds, "p99": seconds}
    return [Measurement("256/s", route, reader, seconds=times), Measurement("256/s", route, reader, processors=processors)]


def test_readers_stand_beside_each_other() -> None:
    performance = Performance(dataclasses.replace(AWAY, is_time_simulated=False), 1)
    performance.findings.measurements += [
        *measured("bluez", Reader.EEGSYNC, 0.002, {"eegsync": 0.1, "bluetoothd": 0.2, "dbus-daemon": 0.0}),
        *measured("kernel", Reader.EEGSYNC, 0.001, {"eegsync": 0.1}),
        *measured("kernel", Reader.BARE, 0.002, {"reader": 0.05}),
    ]
    assert rows([performance], "latency") == [
        ["256/s", "eegsync", *["2.000 ms"] * 3, *["1.000 ms"] * 3],
        ["", "bare C reader", *[""] * 3, *["2.000 ms"] * 3],
        ["", "ratio", *[""] * 3, *["0.50"] * 3],
    ]
    assert rows([performance], "processor") == [
        ["256/s", "bluetoothd", "10.0 %", "20.0 %", "0.0 %", "30.0 %", "", ""],
        ["", "kernel", "10.0 %", "", "", "10.0 %", "5.0 %", "2.00"],
    ]
    assert "returns" not in tables([performance])


def test_the_page_takes_tables_and_keeps_the_others() -> None:
    page = "a\n<!-- returns table begin -->\nold\n<!-- returns table end -->\nb\n"
    assert replaced(page, {"returns": "new"}) == page.replace("old", "new")
    with pytest.raises(ValueError, match="losses"):
        replaced(page, {"losses": "new"})


def test_the_documentation_has_a_place_for_each_table() -> None:
    names = ("returns", "losses", "latency", "processor")
    assert "NEW" in replaced(PAGE.read_text(encoding="utf-8"), dict.fromkeys(names, "NEW"))


def test_a_failed_scenario_is_named_with_its_problems_and_the_end_of_its_log(tmp_path: Path) -> None:
    (tmp_path / "eegsync.log").write_text("\n".join(f"line {number}" for number in range(LOG_LINES + 5)), encoding="utf-8")
    failed = performed(AWAY, 12_000)
    failed.findings.problem("back after 12.0 s")
    failed.directory = tmp_path
    lines = failures([performed(KERNEL_AWAY, 100), failed])
    assert lines[:3] == ["failed: away-5s --first-seed 1", "    back after 12.0 s", "    | line 5"]
    assert lines[-1] == f"    | line {LOG_LINES + 4}"
