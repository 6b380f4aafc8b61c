"""What a program of others was delivered of an imitated headset, beside what `eegsync imitate` says that it has played."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from checks.played import PlayedRow, PlayedRun

# A program's value, as counts of the headset, may be so far from a whole number.
_ROUNDING = 0.01
# BrainFlow's scale of a Ganglion is one of single precision.
_SINGLE_PRECISION = 1.2e-7
# So many rows show where the first one stands: the signal is noise, so that they occur once.
_WINDOW = 8
# So many rows a program may leave out at the beginning: until it has heard of each channel.
_SKIPPED = 24
# Between a call of the program and when the headset has done it.
_COMMAND_SECONDS = 1.0


@dataclass(frozen=True)
class Scale:
    """How a program makes its units of the headset's counts: units = (counts - zero) * size."""

    size: float
    zero: int = 0

    def counts(self, value: float) -> int | None:
        """The counts of a value; None where it is of none."""
        counts = value / self.size + self.zero
        tolerance = _ROUNDING + abs(counts) * _SINGLE_PRECISION
        return round(counts) if abs(counts - round(counts)) <= tolerance else None


@dataclass(frozen=True)
class Numbers:
    """How a program numbers packets."""

    # So many rows have the same number.
    rows: int
    modulus: int
    first: int = 0

    def compare(self, numbers: Sequence[float]) -> list[str]:
        """Problems: the numbers follow each other."""
        packets = [int(number) for number in numbers[:: self.rows]]
        for n, (before, after) in enumerate(pairwise(packets)):
            same = set(map(int, numbers[n * self.rows : (n + 1) * self.rows]))
            if after != (before + 1 - self.first) % self.modulus + self.first or same != {before}:
                return [f"the packet behind number {before} is {after}, and its rows are numbered {sorted(same)}"]
        return []


def read_events(path: Path) -> list[dict[str, Any]]:
    """The lines of JSON that a program has written; whatever else it said is left out."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def boottime(events: Sequence[dict[str, Any]], name: str) -> int | None:
    """When something happened to a program for the first time; None for never."""
    return next((int(event["boottime"]) for event in events if event.get("event") == name), None)


def compare_delivered(rows: Sequence[Sequence[float]], scale: Scale, runs: Sequence[PlayedRun]) -> list[str]:
    """Problems: each row is what was played, in order, none missing in between, from the beginning of a run on.

    What the headset by design never sends of a run stands in no row.
    """
    if len(rows) < _WINDOW:
        return [f"{len(rows)} rows were delivered"]
    for sent in map(_sent, runs):
        origin = _origin(rows, sent, scale)
        if origin is not None:
            break
    else:
        return [f"the first rows were never played: {[list(row) for row in rows[:2]]}"]
    sent = sent[origin:]
    if len(rows) > len(sent):
        return [f"{len(rows)} rows were delivered, {len(sent)} were played"]
    for n, row in enumerate(rows):
        if not _is(row, sent[n], scale):
            return [f"row {n} is {list(row)}, played was {sent[n].values[: len(row)]} at index {sent[n].index}"]
    return []


def compare_commands(events: Sequence[dict[str, Any]], run: PlayedRun) -> list[str]:
    """Problems: the headset has begun and ended when the program said so to it."""
    problems = []
    for name, played in (("started", run.rows[0].boottime), ("stops", run.rows[-1].boottime)):
        said = boottime(events, name)
        if said is None or abs(said - played) > _COMMAND_SECONDS * 1e9:
            problems.append(f"{name} at {said}, the headset at {played}")
    return problems


def _origin(rows: Sequence[Sequence[float]], sent: Sequence[PlayedRow], scale: Scale) -> int | None:
    for start in range(min(_SKIPPED, len(sent) - _WINDOW) + 1):
        if all(_is(rows[n], sent[start + n], scale) for n in range(_WINDOW)):
            return start
    return None


def _sent(run: PlayedRun) -> list[PlayedRow]:
    return [row for row in run.rows if any(value is not None for value in row.values)]


def _is(row: Sequence[float], played: PlayedRow, scale: Scale) -> bool:
    pairs = zip(row, played.values, strict=False)
    return all(true is None or scale.counts(value) == true for value, true in pairs)
