"""What goes over the air, captured with the real bluetoothd, and replayed to the same rows."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

from guest.lab import Lab
from lab.scenario import Scenario, lab_headset, room

_FREQUENCY = 256
_GANGLION_FREQUENCY = 200
_CHANNELS = "c1, c2, c3, c4"


def eeg_rows(database: Path) -> list[tuple[int | None, ...]]:
    """The rows of the only EEG stream, in order, without their numbers."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=5)
    try:
        return connection.execute(
            f"SELECT {_CHANNELS} FROM sample WHERE stream_id = (SELECT id FROM stream WHERE name = 'eeg') ORDER BY n"
        ).fetchall()
    finally:
        connection.close()


def is_contained(part: list[tuple[int | None, ...]], whole: list[tuple[int | None, ...]]) -> bool:
    """Whether the rows of a part stand one behind the other in the whole.

    The first packets of a capture hold some of the channels; a row that lacks one fits any value.
    """
    complete = [place for place, row in enumerate(part) if None not in row]
    if not complete or part[complete[0]] not in whole:
        return False
    start = whole.index(part[complete[0]]) - complete[0]
    if start < 0 or start + len(part) > len(whole):
        return False
    return all(
        mine is None or mine == other
        for row, original in zip(part, whole[start:], strict=False)
        for mine, other in zip(row, original, strict=True)
    )


def _replay(lab: Lab, file: Path, model: str) -> Path:
    database = lab.share / f"{file.stem}-replayed.sqlite"
    lab.acquisition.command("replay", str(file), "--model", model, "--database", str(database))
    return database


def _while_recorded(lab: Lab) -> None:
    _capture_recording(lab, "muse", _FREQUENCY)
    lab.require(lab.missing("left") == 0, "the recording lost rows to the capture")


def _while_a_ganglion_is_recorded(lab: Lab) -> None:
    """Its firmware, by which its samples are decoded, was read when the link came about."""
    _capture_recording(lab, "ganglion", _GANGLION_FREQUENCY)


def _capture_recording(lab: Lab, model: str, frequency: int) -> None:
    """Captures 20 s of a link that is up already, and compares what a replay of it stores."""
    lab.start()
    lab.record("left")
    lab.undisturbed()
    file = lab.share / "left.btsnoop"
    facts = json.loads(lab.acquisition.command("capture", "left", "-o", str(file), "--seconds", "20", "--json"))
    lab.require(facts["packets"] > 1000, f"only {facts['packets']} packets were captured in 20 s")
    lab.undisturbed()
    rows = eeg_rows(_replay(lab, file, model))
    lab.require(len(rows) > 18 * frequency, f"the replay of 20 s has {len(rows)} rows")
    lab.require(is_contained(rows, eeg_rows(lab.share / "eegsync.sqlite")), "the replay holds other rows than the recording")


def _alone(lab: Lab) -> None:
    lab.start_bluetooth()
    lab.acquisition.configure()
    file = lab.share / "alone.btsnoop"
    lab.acquisition.command("capture", "left", "-o", str(file), "--seconds", "15")
    rows = eeg_rows(_replay(lab, file, "muse"))
    lab.require(len(rows) > 8 * _FREQUENCY, f"the replay of 15 s has {len(rows)} rows")
    lab.require(not (lab.share / "eegsync.sqlite").exists(), "a capture made a database")


_HEADSETS = room("muse")
SCENARIOS = [
    Scenario(40, "capture-recorded", "Muse: captured while it is recorded, and replayed", [_while_recorded], _HEADSETS),
    Scenario(
        40,
        "capture-ganglion",
        "Ganglion: captured while it is recorded, and replayed",
        [_while_a_ganglion_is_recorded],
        (lab_headset("ganglion"),),
    ),
    Scenario(40, "capture-alone", "Muse: captured without a daemon", [_alone], _HEADSETS, is_recorded=False),
]
