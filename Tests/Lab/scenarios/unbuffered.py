"""Headsets without memory: what was sent while nobody heard it is lost, and nothing else."""

from __future__ import annotations

from functools import partial

from guest.lab import Lab
from guest.process import LabError
from lab.marks import Goal
from lab.scenario import (
    ATHENA,
    CYTON_BLE,
    EXPLORE,
    GANGLION,
    HERMES,
    MINDWAVE_2,
    MINDWAVE_2013,
    MUSE,
    OTHER_CYTON_BLE,
    OTHER_EXPLORE,
    OTHER_GANGLION,
    OTHER_HERMES,
    OTHER_MINDWAVE_2,
    OTHER_MUSE,
    TGAM_HM10,
    TGAM_ISSC,
    LabHeadset,
    Scenario,
    Step,
    through,
)

from .range import away

# TP9 of a Muse; everything of an Athena.
_CHANNEL = "273e0003"
_MULTIPLEXED = "273e0013"


def _killed(lab: Lab) -> None:
    lost = lab.acquisition.kill()
    # As in the comparison with other programs: the restart comes 2 s later.
    lab.pass_time(2)
    since = lab.start_acquisition()
    lab.expect_return("left", since, "killed, restarted after 2 s", Goal.PROCESS, lost)


def _bluetoothd_killed(lab: Lab) -> None:
    lab.kill_bluetooth("left", "bluetoothd killed")


def _notification_lost(lab: Lab, characteristic: str) -> None:
    lab.tell("lose", "left", characteristic, 1)


def _stalled(lab: Lab, seconds: float) -> None:
    lab.start()
    lab.record("left")
    lab.pass_time(10)
    lab.tell("stall", "left", seconds)
    lab.pass_time(20)


def _pressed(lab: Lab) -> None:
    lab.tell("press", "left")


def _buttons(lab: Lab) -> None:
    lab.record_through(_pressed, times=3)
    stored = lab.annotation_count("left", "Button A pressed")
    if stored != 3:
        raise LabError(f"a button was pressed 3 times, and {stored} times are stored")


# Number, beginning of the names, beginning of the titles, the headset, and another one of its model.
_Model = tuple[int, str, str, LabHeadset, LabHeadset]
_MUSE: _Model = (19, "muse", "Muse", MUSE, OTHER_MUSE)
_ATHENA: _Model = (19, "athena", "Muse S Athena", ATHENA, OTHER_MUSE)
_GANGLION: _Model = (20, "ganglion", "Ganglion", GANGLION, OTHER_GANGLION)
_EXPLORE: _Model = (24, "explore", "Explore", EXPLORE, OTHER_EXPLORE)
_CYTON: _Model = (25, "cyton-ble", "Cyton BLE", CYTON_BLE, OTHER_CYTON_BLE)
_HERMES: _Model = (34, "hermes", "Hermes V1", HERMES, OTHER_HERMES)
_MINDWAVE: _Model = (35, "mindwave", "MindWave Mobile 2", MINDWAVE_2, OTHER_MINDWAVE_2)
_MINDWAVE_2013: _Model = (35, "mindwave-2013", "MindWave of 2013", MINDWAVE_2013, OTHER_MINDWAVE_2)
_TGAM: _Model = (35, "tgam", "TGAM board, HM-10", TGAM_HM10, OTHER_MINDWAVE_2)
_TGAM_ISSC: _Model = (35, "tgam-issc", "TGAM board, ISSC", TGAM_ISSC, OTHER_MINDWAVE_2)


def _scenario(model: _Model, name: str, title: str, step: Step) -> Scenario:
    number, beginning, label, *headsets = model
    return Scenario(number, f"{beginning}-{name}", f"{label}: {title}", [step], headsets)


def _away(model: _Model) -> Scenario:
    return _scenario(model, "away-5s", "out of range for 5 s", away(5, times=4))


def _kill(model: _Model) -> Scenario:
    return _scenario(model, "kill", "eegsync killed (-9), restarted after 2 s", through(_killed, times=3))


def _bluetoothd(model: _Model) -> Scenario:
    return _scenario(model, "bluetoothd", "bluetoothd killed and restarted", through(_bluetoothd_killed, times=3))


def _lost(model: _Model, title: str, characteristic: str) -> Scenario:
    return _scenario(model, "lost", title, through(partial(_notification_lost, characteristic=characteristic), times=3))


def _stall(model: _Model, seconds: float) -> Scenario:
    return _scenario(model, "stall", f"{seconds:.0f} s stall, nothing lost", partial(_stalled, seconds=seconds))


# The Hermes is away for about a turn of its counter.
_ALL = (_MUSE, _ATHENA, _GANGLION, _EXPLORE, _CYTON, _HERMES, _MINDWAVE, _MINDWAVE_2013, _TGAM, _TGAM_ISSC)
SCENARIOS = [
    *map(_away, _ALL),
    *map(_kill, _ALL),
    *map(_bluetoothd, (_MUSE, _GANGLION, _HERMES, _MINDWAVE)),
    _scenario(_MUSE, "away-60s", "out of range for 60 s", away(60, times=2)),
    _lost(_MUSE, "one notification of one channel lost", _CHANNEL),
    _lost(_ATHENA, "one notification of several streams lost", _MULTIPLEXED),
    _stall(_MUSE, seconds=5),
    _stall(_HERMES, seconds=2),
    _scenario(_HERMES, "buttons", "a person presses a button", _buttons),
]
