"""Headsets without memory: what was sent while nobody heard it is lost, and nothing else."""

from __future__ import annotations

from functools import partial

from guest.clock import now
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
)

from .range import away

# TP9 of a Muse; everything of an Athena.
_CHANNEL = "273e0003"
_MULTIPLEXED = "273e0013"



def _killed(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        lost = lab.acquisition.kill()
        # As in the comparison with other programs: the restart comes 2 s later.
        lab.pass_time(2)
        since = lab.start_acquisition()
        lab.expect_return("left", since, "killed, restarted after 2 s", Goal.PROCESS, lost)
    lab.undisturbed()


def _bluetoothd_killed(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        lost = now()
        lab.bluetooth.kill()
        lab.pass_time(1)
        since = now()
        lab.bluetooth.start()
        lab.expect_return("left", since, "bluetoothd killed", Goal.SYSTEM, lost, advertising=True)
    lab.undisturbed()


def _notification_lost(lab: Lab, characteristic: str = _CHANNEL) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        lab.tell("lose", "left", characteristic, 1)
    lab.undisturbed()


def _stalled(lab: Lab, seconds: float) -> None:
    lab.start()
    lab.record("left")
    lab.pass_time(10)
    lab.tell("stall", "left", seconds)
    lab.pass_time(20)


def _buttons(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        lab.tell("press", "left")
    lab.undisturbed()
    stored = lab.annotation_count("left", "Button A pressed")
    if stored != 3:
        raise LabError(f"a button was pressed 3 times, and {stored} times are stored")


def _muse(name: str, title: str, step: Step) -> Scenario:
    return Scenario(19, f"muse-{name}", f"Muse: {title}", [step], headsets=(MUSE, OTHER_MUSE))


def _athena(name: str, title: str, step: Step) -> Scenario:
    return Scenario(19, f"athena-{name}", f"Muse S Athena: {title}", [step], headsets=(ATHENA, OTHER_MUSE))


def _ganglion(name: str, title: str, step: Step) -> Scenario:
    return Scenario(20, f"ganglion-{name}", f"Ganglion: {title}", [step], headsets=(GANGLION, OTHER_GANGLION))


def _hermes(name: str, title: str, step: Step) -> Scenario:
    return Scenario(34, f"hermes-{name}", f"Hermes V1: {title}", [step], headsets=(HERMES, OTHER_HERMES))


def _mindwave(name: str, title: str, step: Step) -> Scenario:
    return Scenario(35, f"mindwave-{name}", f"MindWave Mobile 2: {title}", [step], headsets=(MINDWAVE_2, OTHER_MINDWAVE_2))


def _module(headset: LabHeadset, name: str, title: str, step: Step) -> Scenario:
    return Scenario(35, name, title, [step], headsets=(headset, OTHER_MINDWAVE_2))


def _explore(name: str, title: str, step: Step) -> Scenario:
    return Scenario(24, f"explore-{name}", f"Explore: {title}", [step], headsets=(EXPLORE, OTHER_EXPLORE))


def _cyton(name: str, title: str, step: Step) -> Scenario:
    return Scenario(25, f"cyton-ble-{name}", f"Cyton BLE: {title}", [step], headsets=(CYTON_BLE, OTHER_CYTON_BLE))


SCENARIOS = [
    _muse("away-5s", "out of range for 5 s", partial(away, seconds=5, times=4)),
    _muse("away-60s", "out of range for 60 s", partial(away, seconds=60, times=2)),
    _muse("kill", "eegsync killed (-9), restarted after 2 s", _killed),
    _muse("bluetoothd", "bluetoothd killed and restarted", _bluetoothd_killed),
    _muse("lost", "one notification of one channel lost", _notification_lost),
    _muse("stall", "5 s stall, nothing lost", partial(_stalled, seconds=5)),
    _athena("away-5s", "out of range for 5 s", partial(away, seconds=5, times=4)),
    _athena("kill", "eegsync killed (-9), restarted after 2 s", _killed),
    _athena("lost", "one notification of several streams lost", partial(_notification_lost, characteristic=_MULTIPLEXED)),
    _ganglion("away-5s", "out of range for 5 s", partial(away, seconds=5, times=4)),
    _ganglion("kill", "eegsync killed (-9), restarted after 2 s", _killed),
    _ganglion("bluetoothd", "bluetoothd killed and restarted", _bluetoothd_killed),
    _hermes("away-5s", "out of range for 5 s, about a turn of its counter", partial(away, seconds=5, times=4)),
    _hermes("kill", "eegsync killed (-9), restarted after 2 s", _killed),
    _hermes("bluetoothd", "bluetoothd killed and restarted", _bluetoothd_killed),
    _hermes("buttons", "a person presses a button", _buttons),
    _hermes("stall", "2 s stall, nothing lost", partial(_stalled, seconds=2)),
    _mindwave("away-5s", "out of range for 5 s", partial(away, seconds=5, times=4)),
    _mindwave("kill", "eegsync killed (-9), restarted after 2 s", _killed),
    _mindwave("bluetoothd", "bluetoothd killed and restarted", _bluetoothd_killed),
    _module(MINDWAVE_2013, "mindwave-2013-away-5s", "MindWave of 2013: out of range for 5 s", partial(away, seconds=5, times=4)),
    _module(MINDWAVE_2013, "mindwave-2013-kill", "MindWave of 2013: eegsync killed (-9)", _killed),
    _module(TGAM_HM10, "tgam-away-5s", "TGAM board, HM-10: out of range for 5 s", partial(away, seconds=5, times=4)),
    _module(TGAM_HM10, "tgam-kill", "TGAM board, HM-10: eegsync killed (-9)", _killed),
    _module(TGAM_ISSC, "tgam-issc-away-5s", "TGAM board, ISSC: out of range for 5 s", partial(away, seconds=5, times=4)),
    _module(TGAM_ISSC, "tgam-issc-kill", "TGAM board, ISSC: eegsync killed (-9)", _killed),
    _explore("away-5s", "out of range for 5 s", partial(away, seconds=5, times=4)),
    _explore("kill", "eegsync killed (-9), restarted after 2 s", _killed),
    _cyton("away-5s", "out of range for 5 s", partial(away, seconds=5, times=4)),
    _cyton("kill", "eegsync killed (-9), restarted after 2 s", _killed),
]
