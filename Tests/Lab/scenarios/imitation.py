"""`eegsync imitate` on one adapter of the machine, recorded by `eegsync run` on the other: everything real but the air."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import partial

from checks.database import StoredStream, read_database
from checks.played import PlayedRun, compare, read_played
from guest.acquisition import ConfiguredHeadset
from guest.clock import now
from guest.lab import Lab
from guest.process import Program
from lab.marks import Goal
from lab.scenario import Scenario

_HEADSET_ADAPTER = "hci1"
_ADAPTER = "hci0"
# Between two outages, and how long each lasts.
_EVERY_SECONDS = 30
_AWAY_SECONDS = 8
# Of what was played so much must be stored at least: 70 s with two outages, and what it takes to come back.
_SHARE = 0.6
# How long a tape is recorded.
_TAPE_SECONDS = 30


@dataclass(frozen=True)
class _Imitated:
    model: str
    serial: str | None
    frequency: float
    fault: str = "away"


def start_imitation(lab: Lab, *arguments: str) -> Program:
    """Starts a headset on the second adapter."""
    command = [lab.acquisition.program_path, "imitate", *arguments, "--adapter", _HEADSET_ADAPTER, "--json"]
    program = Program(command, lab.share / "imitate.log")
    program.start()
    return program


def _recorded(lab: Lab, imitated: _Imitated) -> None:
    lab.acquisition.headsets = [ConfiguredHeadset("left", imitated.model, imitated.serial)]
    lab.acquisition.adapter = _ADAPTER
    lab.start_bluetooth()
    played = lab.share / "played.csv"
    faults = ["--fault", imitated.fault, "--every", str(_EVERY_SECONDS), "--for", str(_AWAY_SECONDS)]
    headset = start_imitation(lab, imitated.model, "--played", str(played), *faults)
    lab.start_acquisition()
    lab.record("left")
    for _ in range(2):
        lost = now()
        lab.pass_time(_EVERY_SECONDS)
        found = lab.acquisition.first_sample_since("left", lost, 2 * _EVERY_SECONDS)
        lab.require(found is not None, f"nothing came again after: {imitated.fault}")
    lab.expect_rows("left", now(), f"imitated: {imitated.fault}", Goal.GATE)
    lab.pass_time(5)
    lab.acquisition.command("record", "stop", "left")
    lab.pass_time(3)
    lab.require(headset.end() == 0, "the imitation did not end in order")
    lab.acquisition.command("audit")
    facts = json.loads((lab.share / "imitate.log").read_text(encoding="utf-8"))
    lab.require(facts["connections"] >= 3, f"connected {facts['connections']} times")
    lab.require(facts["too_long"] == 0 and facts["dropped"] == 0, f"not everything was sent: {facts}")
    lab.require(facts["faults"][0]["count"] >= 2, "the fault did not befall it")
    _compare(lab, imitated)


def _compare(lab: Lab, imitated: _Imitated) -> None:
    runs = read_played(lab.share / "played.csv")
    streams = [s for recording in read_database(lab.share / "eegsync.sqlite").recordings for s in recording.streams]
    lab.require(bool(streams), "nothing is stored")
    for stream in streams:
        _require_equal(lab, stream, runs, imitated, 2 * _EVERY_SECONDS + 5)


def _played_again(lab: Lab, imitated: _Imitated) -> None:
    lab.acquisition.headsets = [ConfiguredHeadset("left", imitated.model, imitated.serial)]
    lab.acquisition.adapter = _ADAPTER
    lab.start_bluetooth()
    # Some packets are missing amid the tape; what a memory holds is not.
    headset = start_imitation(lab, imitated.model, "--fault", "lost", "--every", str(_TAPE_SECONDS // 3), "--for", "1")
    lab.start_acquisition()
    lab.record("left")
    lab.pass_time(_TAPE_SECONDS)
    lab.acquisition.command("record", "stop", "left")
    lab.pass_time(3)
    lab.require(headset.end() == 0, "the imitation did not end in order")
    database, played = lab.share / "eegsync.sqlite", lab.share / "played.csv"
    headset = start_imitation(lab, str(database), "--recording", "1", "--played", str(played))
    lab.record("left")
    lab.require(headset.status(3 * _TAPE_SECONDS) == 0, "the imitation did not end with the tape")
    lab.acquisition.command("record", "stop", "left")
    lab.pass_time(3)
    lab.acquisition.command("audit")
    runs = read_played(played)
    tape, again = read_database(database).recordings
    for stream in tape.streams:
        # All of it was played; when, it does not say.
        _require_equal(lab, replace(stream, segments=[]), runs, imitated, _TAPE_SECONDS)
    for stream in again.streams:
        _require_equal(lab, stream, runs, imitated, _TAPE_SECONDS)


def _require_equal(lab: Lab, stream: StoredStream, runs: list[PlayedRun], imitated: _Imitated, seconds: float) -> None:
    found = compare(stream, runs)
    lab.require(not found.problems, "\n    ".join(found.problems))
    if stream.name == "eeg":
        least = _SHARE * seconds * imitated.frequency
        lab.require(found.compared > least, f"{found.compared} rows of EEG are stored, fewer than {least:.0f}")


_HEADSETS = (
    _Imitated("muse", "2031-TZRW-1301", 256),
    _Imitated("ganglion", None, 200, "drop"),
    _Imitated("buffered-eeg", "BE-2026-10001", 250),
    _Imitated("hermes", None, 250, "reboot"),
)


def _scenario(name: str, description: str, steps: partial[None]) -> Scenario:
    return Scenario(42, name, description, [steps], headsets=(), is_recorded=False, has_second_adapter=True)


SCENARIOS = [
    _scenario(
        f"imitate-{imitated.model}",
        f"eegsync imitate {imitated.model} is recorded with faults ({imitated.fault})",
        partial(_recorded, imitated=imitated),
    )
    for imitated in _HEADSETS
] + [
    _scenario(
        f"imitate-recording-{imitated.model}",
        f"eegsync imitate plays a recording of a {imitated.model} again",
        partial(_played_again, imitated=imitated),
    )
    for imitated in _HEADSETS
]
