"""The comparison of a recording with what was played, each time with a defect that it must notice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from checks.database import Epoch, Segment, StoredStream
from checks.played import PlayedRow, PlayedRun, compare, read_played

_PERIOD = 4_000_000


def _played(run: int = 0) -> PlayedRun:
    noise = random.Random(run)
    rows = [
        PlayedRow(100 + n, 1_000_000_000 + n * _PERIOD, (noise.randrange(4096), noise.randrange(4096), *[None] * 6))
        for n in range(400)
    ]
    return PlayedRun("eeg", rows)


def _stored(played: PlayedRun, shift: int = 0) -> StoredStream:
    """The rows 50 to 349, with a gap; n begins at 7."""
    kept = {7 + n: played.rows[n + shift].values[:2] for n in range(50, 350) if not 100 <= n < 120}
    stream = StoredStream(1, 0, "eeg", 250.0, 2)
    stream.epochs = [Epoch(None, 57, 150, None, 1, 0)]
    stream.segments = [Segment(57, 356, 1, 57, 1_000_000_000 + 50 * _PERIOD, float(_PERIOD))]
    stream.rows = dict(kept)
    return stream


def test_what_was_played_is_what_is_stored() -> None:
    played = _played()
    found = compare(_stored(played), [_played(1), played])
    assert found.problems == []
    assert found.compared == 280
    assert found.time_error < 1e-6


def test_a_wrong_value_is_noticed() -> None:
    stream = _stored(_played())
    stream.rows[200] = (stream.rows[200][0], 5000)
    assert "n 200" in compare(stream, [_played()]).problems[0]


def test_a_shift_behind_a_gap_is_noticed() -> None:
    played = _played()
    stream = _stored(played)
    late = _stored(played, shift=1)
    stream.rows = {n: late.rows[n] if n > 130 else row for n, row in stream.rows.items()}
    assert compare(stream, [played]).problems


def test_a_wrong_time_is_noticed() -> None:
    stream = _stored(_played())
    first = stream.segments[0]
    stream.segments = [Segment(first.first_n, first.last_n, 1, 57, first.reference_boottime + 60_000_000, first.period)]
    assert compare(stream, [_played()]).problems == ["eeg: a sample's time is wrong by 0.060 s"]


def test_what_was_never_played_is_noticed() -> None:
    assert compare(_stored(_played(2)), [_played()]).problems == ["eeg: the rows from n 57 on were never played"]


def test_a_missing_channel_is_no_defect() -> None:
    stream = _stored(_played())
    stream.rows[200] = (None, stream.rows[200][1])
    assert compare(stream, [_played()]).problems == []


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "played.csv"
    path.write_text(
        "run,stream,index,boottime_ns,c1,c2,c3,c4,c5,c6,c7,c8\n0,eeg,12,5,1,-2,,,,,,\n1,eeg,0,9,3,4,,,,,,\n", encoding="ascii"
    )
    return path


def test_reads_runs_apart(file: Path) -> None:
    first, second = read_played(file)
    assert first.rows == [PlayedRow(12, 5, (1, -2, None, None, None, None, None, None))]
    assert second.rows[0].index == 0
