"""The table of the page ReadersOfExports: what each reader makes of each format, of the same recordings.

    EEGSYNC_WRITE_TABLE=1 EEGSYNC_EXPORT_FIXTURES=DIRECTORY Tests/Readers/run_readers test_table.py

writes it into the page; without the variable the page must have what was measured. What may be wrong of a cell, and why,
stands in cells.py; everything else must be right.
"""

import os
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import multiplexed_files as multiplexed
import signal_files as signals
import table_files as tables
from cells import CELLS, CHOSEN, FLOAT, Cell, measured
from recordings import Recording
from scores import FileRows, Gap, Reading, Score, judge

PAGE = Path(__file__).resolve().parents[2] / "Sources/eegsync/eegsync.docc/ReadersOfExports.md"
BEGIN, END = "<!-- readers table begin -->\n", "<!-- readers table end -->"
HEAD = """\
| reader | format | samples | values off by, µV | times off by, ms | times of `drift`, ms | gaps | events | why |
|---|---|---|---|---|---|---|---|---|
"""


def recording(name: str) -> Recording:
    return next(r for r in CHOSEN if r["name"] == name)


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_cell(cell: Cell) -> None:
    """A reader finds everything but what is said of it."""
    if cell.is_refused:
        with pytest.raises(OSError, match="discontinuous"):
            measured(cell)
        return
    score = measured(cell)
    streams = [s for r in CHOSEN for s in r["streams"] if s["name"] == "eeg" or "bids" not in cell.format]
    assert score.of_samples == sum(len(s["n"]) for s in streams)
    assert (score.of_gaps, score.of_events) == (12, 8)
    # Each sample is where it should be, and as near as the format allows.
    assert score.microvolts <= cell.microvolts
    assert score.samples == score.of_samples or cell.microvolts > FLOAT
    assert score.milliseconds <= cell.milliseconds
    assert score.drift_milliseconds <= cell.drift_milliseconds
    assert score.gaps == score.of_gaps - cell.lost_gaps
    assert score.false_gaps == cell.false_gaps
    assert score.events == score.of_events - cell.lost_events


def row(cell: Cell) -> str:
    if cell.is_refused:
        cells = ["refused", *5 * [""]]
    else:
        score = measured(cell)
        errors = [score.microvolts, score.milliseconds, score.drift_milliseconds]
        cells = [f"{score.samples:,} of {score.of_samples:,}", *(f"{error:,.2f}" for error in errors)]
        cells += [f"{score.gaps} of {score.of_gaps}", f"{score.events} of {score.of_events}"]
    return " | ".join([f"| {cell.reader}", cell.format, *cells, cell.why]).rstrip() + " |\n"


def test_table() -> None:
    """The page has what was measured."""
    table = HEAD + "".join(row(cell) for cell in CELLS)
    text = PAGE.read_text()
    begin, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    if os.environ.get("EEGSYNC_WRITE_TABLE"):
        PAGE.write_text(text[:begin] + table + text[end:])
    else:
        assert text[begin:end] == table, "EEGSYNC_WRITE_TABLE=1 writes it"


def readings() -> list[tuple[Reading, Recording]]:
    """One of each layout, with gaps and events."""
    plain, wide = recording("plain"), recording("wide")
    return [
        (next(signals.read_edfio(plain, "fill", "edf")), plain),
        (next(tables.read_pandas_csv(plain)), plain),
        (next(multiplexed.read_pyxdf(wide)), wide),
        (next(signals.read_edfio(wide, "discontinuous", "bdf")), wide),
    ]


def judged(reading: Reading, of: Recording) -> Score:
    return judge(reading, of, 0)


def test_the_checks_bite() -> None:
    """A value off by a count or lost, samples or times one late, a gap or an event one off or lost: all are seen."""
    for reading, of in readings():
        stream = of["streams"][0]
        right = judged(reading, of)
        at = round(FileRows(stream, reading.layout).row(stream["n"][200]))
        off = deepcopy(reading)
        off.values[at, 1] += stream["channels"][1]["scale"] * (2 if right.samples < right.of_samples else 1)
        assert judged(off, of).samples == right.samples - 1 or judged(off, of).microvolts > right.microvolts
        lost = deepcopy(reading)
        lost.values[at, 1] = np.nan
        assert np.isinf(judged(lost, of).microvolts)
        moved = judged(replace(reading, values=np.roll(reading.values, 1, axis=0)), of)
        assert moved.samples < right.of_samples / 2 and moved.microvolts > 1
        late = judged(replace(reading, times=reading.times + 1 / stream["samplingFrequency"]), of)
        assert late.milliseconds == pytest.approx(right.milliseconds + 1000 / stream["samplingFrequency"], abs=0.01)
        assert judged(replace(reading, values=reading.values[:-600], times=reading.times[:-600]), of).samples < right.samples
        assert_gaps_bite(reading, of, right)
        assert_events_bite(reading, of, right)


def assert_gaps_bite(reading: Reading, of: Recording, right: Score) -> None:
    first = next(gap for gap in reading.gaps if gap.channel is None)
    rest = [gap for gap in reading.gaps if gap != first]
    for planted in (
        [],
        [replace(first, row=first.row + 1)],
        [replace(first, count=first.count - 1)],
        [replace(first, channel=0)],
    ):
        assert judged(replace(reading, gaps=rest + planted), of).gaps == right.gaps - 1
    assert judged(replace(reading, gaps=[*reading.gaps, Gap(20, 3)]), of).false_gaps == right.false_gaps + 1


def assert_events_bite(reading: Reading, of: Recording, right: Score) -> None:
    texts = {a["text"] for a in of["annotations"]}
    first = next(event for event in reading.events if event.text in texts)
    rest = [event for event in reading.events if event is not first]
    for planted in ([], [replace(first, row=first.row + 1)], [replace(first, row=first.row - 1)], [replace(first, text="x")]):
        assert judged(replace(reading, events=rest + planted), of).events == right.events - 1
