"""`eegsync imitate` on one adapter of the machine, recorded by `eegsync run` on the other: everything real but the air."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial

from checks.database import read_database
from checks.played import compare, read_played
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
        found = compare(stream, runs)
        lab.require(not found.problems, "\n    ".join(found.problems))
        if stream.name == "eeg":
            least = _SHARE * (2 * _EVERY_SECONDS + 5) * imitated.frequency
            lab.require(found.compared > least, f"{found.compared} rows of EEG are stored, fewer than {least:.0f}")


_HEADSETS = (
    _Imitated("muse", "2031-TZRW-1301", 256),
    _Imitated("ganglion", None, 200, "drop"),
    _Imitated("buffered-eeg", "BE-2026-10001", 250),
    _Imitated("hermes", None, 250, "reboot"),
)

SCENARIOS = [
    Scenario(
        42,
        f"imitate-{imitated.model}",
        f"eegsync imitate {imitated.model} is recorded with faults ({imitated.fault})",
        [partial(_recorded, imitated=imitated)],
        headsets=(),
        is_recorded=False,
        has_second_adapter=True,
    )
    for imitated in _HEADSETS
]
