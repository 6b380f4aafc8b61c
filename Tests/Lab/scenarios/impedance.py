"""Impedances are measured when a person asks, and the headset samples again whatever becomes of that person's command."""

from __future__ import annotations

import json
import signal

from guest.lab import Lab
from guest.process import Program
from lab.marks import Goal
from lab.scenario import Scenario, room

_HEADSETS = room("ganglion")

_ELECTRODES = ["Ch1", "Ch2", "Ch3", "Ch4", "reference"]
# What the headset of the lab tells of them.
_KILOHMS = [5, 10, 15, 20, 25]
# The wish of a killed command lasts so long.
_LEASE_SECONDS = 30.0


def _samples_again(lab: Lab, seconds: float, after: str) -> None:
    def is_sampling() -> bool:
        firmware = lab.headsets.statistics(_HEADSETS[0].name)["firmware"]
        return bool(firmware["streaming"]) and not firmware["measuresImpedance"]

    lab.wait_until(is_sampling, seconds, f"the headset samples again after {after}")
    lab.undisturbed()


def _measures(lab: Lab) -> bool:
    return bool(lab.headsets.statistics(_HEADSETS[0].name)["firmware"]["measuresImpedance"])


def _begin(lab: Lab) -> Program:
    words = ["impedance", "left", "--config", str(lab.acquisition.configuration)]
    command = Program([lab.acquisition.program_path, *words], lab.share / "impedance.log")
    command.start()
    lab.wait_until(lambda: _measures(lab), 10, "the headset measures")
    lab.undisturbed()
    return command


def _asked_for(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.undisturbed()
    facts = json.loads(lab.acquisition.command("impedance", "left", "--seconds", "6", "--json"))
    found = [(entry["electrode"], entry["kilohms"]) for entry in facts["electrodes"]]
    lab.require(found == list(zip(_ELECTRODES, _KILOHMS, strict=True)), f"the impedances are {found}")
    # Values are seen, and the end is asked for, within a second or two, although transactions are rarer.
    lab.require(facts["seconds"] <= 6 + 3, f"6 s were asked for, {facts['seconds']} s were measured")
    _samples_again(lab, 5, "the command")
    paused = lab.missing("left", "impedance")
    lab.require(paused > 6 * 200, f"only {paused} samples are missing because impedances were measured")
    lab.require(lab.missing("left", "packetLost") == 0, "packets count as lost")


def _interrupted(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.undisturbed()
    command = _begin(lab)
    command.send(signal.SIGINT)
    status = command.status(15)
    lab.require(status == 0, f"Ctrl-C: exit {status}")
    _samples_again(lab, 5, "Ctrl-C")
    command = _begin(lab)
    command.kill()
    _samples_again(lab, _LEASE_SECONDS + 5, "the command was killed")
    command = _begin(lab)
    lab.acquisition.kill()
    lab.pass_time(2)
    since = lab.start_acquisition()
    lab.expect_return("left", since, "killed while impedances are measured", Goal.PROCESS)
    lab.wait_until(lambda: _measures(lab), 10, "the headset measures again")
    lab.away("left", 20, "away 20 s while impedances are measured")
    lab.wait_until(lambda: _measures(lab), 10, "the headset measures again")
    command.end()
    _samples_again(lab, 5, "SIGTERM")


def _alone(lab: Lab) -> None:
    lab.start_bluetooth()
    lab.acquisition.configure()
    facts = json.loads(lab.acquisition.command("impedance", "left", "--seconds", "3", "--json"))
    found = [entry["kilohms"] for entry in facts["electrodes"]]
    lab.require(found == _KILOHMS, f"the impedances are {found}")
    lab.require(not (lab.share / "eegsync.sqlite").exists(), "a measurement made a database")


SCENARIOS = [
    Scenario(41, "ganglion-impedance", "Ganglion: impedances while it is recorded", [_asked_for], _HEADSETS),
    Scenario(41, "ganglion-impedance-interrupted", "Ganglion: commands and daemons that end", [_interrupted], _HEADSETS),
    Scenario(41, "ganglion-impedance-alone", "Ganglion: without a daemon", [_alone], _HEADSETS, is_recorded=False),
]
