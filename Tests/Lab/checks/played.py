"""A recording beside what `eegsync imitate` says that it has played: values and times, row by row."""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from checks.database import StoredStream

Row = tuple[int | None, ...]

# So many rows show where an epoch begins: the signal is noise, so that they occur once.
_WINDOW = 16
# As for the headsets of the lab.
_TOLERANCE_SECONDS = 0.05


@dataclass(frozen=True)
class PlayedRow:
    """What was measured at one instant."""

    index: int
    boottime: int
    values: Row


@dataclass(frozen=True)
class PlayedRun:
    """What one stream measured from a start to a stop."""

    stream: str
    rows: list[PlayedRow]


def read_played(path: Path) -> list[PlayedRun]:
    """Every run of every stream, in order."""
    runs: defaultdict[tuple[int, str], list[PlayedRow]] = defaultdict(list)
    with path.open(encoding="ascii", newline="") as file:
        for line in csv.DictReader(file):
            values = tuple(int(line[f"c{number}"]) if line[f"c{number}"] else None for number in range(1, 9))
            runs[int(line["run"]), line["stream"]].append(PlayedRow(int(line["index"]), int(line["boottime_ns"]), values))
    return [PlayedRun(stream, rows) for (_, stream), rows in sorted(runs.items())]


@dataclass
class Comparison:
    """What was found about one stream."""

    problems: list[str]
    compared: int = 0
    # Of the middles of the time map's pieces, in seconds.
    time_error: float = 0.0


def compare(stored: StoredStream, played: list[PlayedRun]) -> Comparison:
    """Each row of a stream is what was played at its n, and has the time at which it was measured."""
    found = Comparison([])
    for epoch in stored.epochs:
        ns = sorted(n for n in stored.rows if epoch.holds(n))
        if not ns:
            continue
        origin = _origin(stored, ns, played)
        if origin is None:
            found.problems.append(f"{stored.name}: the rows from n {ns[0]} on were never played")
            continue
        run, shift = origin
        for n in ns:
            number = n + shift
            right = run.rows[number].values if 0 <= number < len(run.rows) else ()
            if not _agrees(stored.rows[n], right):
                found.problems.append(f"{stored.name}: n {n} is {stored.rows[n]}, played was {right}")
                break
            found.compared += 1
        for segment in stored.segments:
            middle = (segment.first_n + segment.last_n) // 2
            if epoch.holds(middle) and 0 <= middle + shift < len(run.rows):
                error = (segment.boottime(middle) - run.rows[middle + shift].boottime) / 1e9
                found.time_error = max(found.time_error, abs(error))
    if found.time_error > _TOLERANCE_SECONDS:
        found.problems.append(f"{stored.name}: a sample's time is wrong by {found.time_error:.3f} s")
    return found


def _origin(stored: StoredStream, ns: list[int], played: list[PlayedRun]) -> tuple[PlayedRun, int] | None:
    """The run that an epoch is of, and what is added to n for the row in it."""
    for start in range(len(ns) - _WINDOW):
        window = ns[start : start + _WINDOW]
        if any(None in stored.rows[n] for n in window):
            continue
        for run in played:
            if run.stream != stored.name:
                continue
            for number in range(len(run.rows) - (window[-1] - window[0])):
                if all(_agrees(stored.rows[n], run.rows[number + n - window[0]].values) for n in window):
                    return run, number - window[0]
        return None
    return None


def _agrees(row: Row, right: Row) -> bool:
    """Whether what is stored of a row is what was measured; a channel may be missing."""
    return len(row) <= len(right) and all(value is None or value == true for value, true in zip(row, right, strict=False))
