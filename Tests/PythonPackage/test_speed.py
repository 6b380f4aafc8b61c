"""An hour of 8 channels, read the fast way; what that takes is printed, beside what SQLite alone takes."""

import datetime
import sqlite3
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import eegsync
from databases import DAY
from eegsync import rows

HOUR = datetime.timedelta(hours=1)


def seconds(work: Callable[[], Any]) -> float:
    """Processor time, the least of three: other programs slow a machine and quicken none."""
    found = []
    for _ in range(3):
        began = time.process_time()
        work()
        found.append(time.process_time() - began)
    return min(found)


def test_an_hour_with_gaps_is_read_the_fast_way(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    recording = eegsync.recording(DAY)
    # What reads lost channels and wide values is not needed, and numbers of rows are read only around the bounds.
    monkeypatch.setattr(rows.RowReader, "sparse", None)
    read: list[int] = []
    original = rows.RowReader.numbers

    def numbers(self: rows.RowReader, first: int, last: int) -> NDArray[np.int64]:
        read.append(last - first + 1)
        return original(self, first, last)

    monkeypatch.setattr(rows.RowReader, "numbers", numbers)
    hour = eegsync.read(recording, start=5 * HOUR, stop=6 * HOUR)
    assert len(hour) > 890_000 and hour.missing is None
    assert sum(read) < len(hour) / 50
    ours = seconds(lambda: eegsync.read(recording, start=5 * HOUR, stop=6 * HOUR).values)
    connection = sqlite3.connect(f"file:{DAY}?mode=ro", uri=True)
    bounds = [int(hour.n[0]), int(hour.n[-1])]
    columns = "n, c1, c2, c3, c4, c5, c6, c7, c8"
    tuples = f"SELECT {columns} FROM sample WHERE stream_id = 1 AND n BETWEEN ? AND ?"
    table = seconds(lambda: connection.execute(tuples, bounds).fetchall())
    began = time.process_time()
    connection.execute("SELECT * FROM eeg_1 WHERE n BETWEEN ? AND ?", bounds).fetchall()
    view = time.process_time() - began
    connection.close()
    with capsys.disabled():
        print(
            f"\nan hour of 8 channels: read {ours:.2f} s, tuples of the table {table:.2f} s, SELECT * of the view {view:.2f} s"
        )
