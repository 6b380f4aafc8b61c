"""The comparison of what a program delivered with what was played, each time with a defect that it must notice."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from checks.delivered import Numbers, Scale, compare_commands, compare_delivered, read_events
from checks.played import PlayedRow, PlayedRun

_SCALE = Scale(0.48828125, 2048)
_SECOND = 1_000_000_000


def _run() -> PlayedRun:
    noise = random.Random(3)
    rows = [
        PlayedRow(24 + n, 5 * _SECOND + n * 4_000_000, (noise.randrange(4096), noise.randrange(4096), *[None] * 6))
        for n in range(300)
    ]
    return PlayedRun("eeg", rows)


def _delivered(first: int = 12, last: int = 288) -> list[list[float]]:
    return [[(value - 2048) * 0.48828125 for value in row.values[:2] if value is not None] for row in _run().rows[first:last]]


def test_what_was_played_is_what_is_delivered() -> None:
    assert compare_delivered(_delivered(), _SCALE, [_run()]) == []


def test_a_wrong_value_is_noticed() -> None:
    rows = _delivered()
    rows[100][1] += 0.48828125
    assert "row 100" in compare_delivered(rows, _SCALE, [_run()])[0]


def test_a_value_of_no_count_is_noticed() -> None:
    rows = _delivered()
    rows[100][1] += 0.1
    assert "row 100" in compare_delivered(rows, _SCALE, [_run()])[0]


def test_a_missing_row_is_noticed() -> None:
    rows = _delivered()
    del rows[100]
    assert "row 100" in compare_delivered(rows, _SCALE, [_run()])[0]


def test_channels_of_two_instants_are_noticed() -> None:
    rows = [[now[0], before[1]] for now, before in zip(_delivered()[1:], _delivered(), strict=False)]
    assert "never played" in compare_delivered(rows, _SCALE, [_run()])[0]


def test_a_late_beginning_and_an_empty_recording_are_noticed() -> None:
    assert "never played" in compare_delivered(_delivered(first=48), _SCALE, [_run()])[0]
    assert compare_delivered([], _SCALE, [_run()]) == ["0 rows were delivered"]


def test_what_is_never_sent_stands_in_no_row() -> None:
    run = _run()
    run.rows[60] = PlayedRow(84, run.rows[60].boottime, (None,) * 8)
    rows = _delivered()
    assert "row 48" in compare_delivered(rows, _SCALE, [run])[0]
    del rows[48]
    assert compare_delivered(rows, _SCALE, [run]) == []


def test_numbers_follow_each_other() -> None:
    numbers = Numbers(rows=2, modulus=100, first=100)
    assert numbers.compare([198, 198, 199, 199, 100, 100, 101, 101]) == []
    assert numbers.compare([198, 198, 100, 100]) == ["the packet behind number 198 is 100, and its rows are numbered [198]"]
    assert numbers.compare([198, 197, 199, 199]) != []


def _events(started: float, stops: float) -> list[dict[str, Any]]:
    return [{"event": "started", "boottime": round(started * _SECOND)}, {"event": "stops", "boottime": round(stops * _SECOND)}]


def test_commands_are_compared_with_the_beginning_and_the_end() -> None:
    assert compare_commands(_events(5.0, 6.2), _run()) == []
    assert "started" in compare_commands(_events(3.0, 6.2), _run())[0]
    assert "stops" in compare_commands(_events(5.0, 9.0), _run())[0]
    assert len(compare_commands([], _run())) == 2


def test_reads_events_among_other_words(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('[info] found\n{"event": "found", "boottime": 3}\n{\n', encoding="utf-8")
    assert read_events(path) == [{"event": "found", "boottime": 3}]
