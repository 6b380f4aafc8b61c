"""Headsets with a serial port over Bluetooth Classic (RFCOMM): paged by their address, without memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from guest.bluetooth import bluetoothctl
from guest.clock import now
from guest.lab import Lab
from headsets.kinds import kinds
from lab.marks import Goal
from lab.scenario import LEFT, STRANGER, Scenario, Step, lab_headset

from .range import away

_HEADSET = lab_headset("thinkgear")
# What a real MindWave sent in 322 s; not part of the project, so the scenario exists where the file does.
_RECORDING = Path(__file__).resolve().parents[4] / "shared/data/mindwave-rfcomm-baseline.bytes"
_RECORDED = dataclasses.replace(_HEADSET, details={"recording": str(_RECORDING)})
_SECOND = dataclasses.replace(_HEADSET, name="MindWaveMobile-0002", alias="right", address="20:68:9D:00:00:02", seed=42)
# Its Service Discovery Protocol lists nothing.
_UNLISTED = dataclasses.replace(_HEADSET, details={"record": False})
_BESIDE = dataclasses.replace(_HEADSET, alias="right")
_away = partial(away, is_paged=True)


def _disconnected(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        lost = lab.tell("disconnect", "left")
        lab.expect_return("left", lost, "disconnected by the headset", Goal.GATE, lost, advertising=True)
    for _ in range(2):
        lab.undisturbed()
        lost = now()
        bluetoothctl("disconnect", lab.address("left"))
        lab.expect_return("left", lost, "disconnected by another program", Goal.GATE, lost, advertising=True)
    lab.undisturbed()


def _killed(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        lab.kill_acquisition("left", "kill -9, restarted at once")
    lab.undisturbed()


def _taken_while_paged(lab: Lab) -> None:
    """The adapter goes while it pages: a connection that is being made then is where kernels were seen to fail."""
    lab.start()
    lab.record("left")
    for way in ("power", "unplug"):
        lab.undisturbed()
        lost = lab.tell("vanish", "left")
        # Its own link has timed out, and it is being paged.
        lab.pass_time(25)
        lab.undisturbed()
        if way == "power":
            bluetoothctl("power", "off")
        else:
            lab.headsets.tell("adapter", "unplug")
        lab.pass_time(5)
        lab.tell("return", "left")
        since = now()
        if way == "power":
            bluetoothctl("power", "on")
        else:
            since = lab.headsets.tell("adapter", "plug")
        lab.expect_return("left", since, f"adapter gone while paging ({way})", Goal.GATE, lost, advertising=True)
    lab.undisturbed()


def _two(lab: Lab) -> None:
    lab.start()
    lab.record("left", "right")
    for name in ("left", "right"):
        lab.undisturbed()
        lost = lab.tell("vanish", name)
        lab.pass_time(30)
        since = lab.tell("return", name)
        lab.expect_return(name, since, "away 30 s while the other one streams", Goal.GATE, lost, advertising=True)
    lab.undisturbed()
    lost = lab.tell("vanish", "left")
    lab.tell("vanish", "right")
    # They take turns at being paged.
    lab.pass_time(30)
    for name in ("left", "right"):
        since = lab.tell("return", name)
        lab.expect_return(name, since, "both away 30 s", Goal.GATE, lost, advertising=True)
    lab.undisturbed()


def _without_bluetoothd(lab: Lab) -> None:
    lab.start_bluetooth()
    # The adapter stays on.
    lab.bluetooth.kill()
    lab.start_acquisition()
    lab.record("left")
    lab.undisturbed()
    lost = lab.tell("disconnect", "left")
    lab.expect_return("left", lost, "disconnected by the headset, no bluetoothd", Goal.GATE, lost, advertising=True)
    lab.undisturbed()
    lab.kill_acquisition("left", "kill -9, no bluetoothd")
    lab.undisturbed()


def _bluetoothd_restarted(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.pass_time(5)
    missing = lab.missing("left")
    lab.bluetooth.kill()
    lab.undisturbed(5)
    lab.bluetooth.start()
    lab.undisturbed(5)
    lab.expect_rows("left", now(), "bluetoothd killed and restarted, link kept", Goal.GATE)
    lab.require(lab.missing("left") == missing, "samples are missing although the link was kept")


def _beside(lab: Lab) -> None:
    lab.start()
    lab.record("left", "right")
    for name in ("left", "right", "left", "right"):
        lab.undisturbed()
        lost = lab.tell("vanish", name)
        lab.pass_time(8)
        since = lab.tell("return", name)
        lab.expect_return(name, since, "away 8 s while the other one streams", Goal.GATE, lost, advertising=True)
    lab.undisturbed()


def _recorded(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.pass_time(100)
    lost = lab.tell("disconnect", "left")
    lab.expect_return("left", lost, "disconnected by the headset", Goal.GATE, lost, advertising=True)
    lab.pass_time(100)
    lost = lab.tell("vanish", "left")
    lab.pass_time(30)
    since = lab.tell("return", "left")
    lab.expect_return("left", since, "away 30 s", Goal.GATE, lost, advertising=True)
    lab.pass_time(100)


def _serial(name: str, title: str, step: Step) -> Scenario:
    return Scenario(22, f"serial-{name}", f"serial port: {title}", [step], headsets=(_HEADSET,))


def _of_commands() -> Iterator[Scenario]:
    for kind in kinds().values():
        if not kind.is_serial:
            continue
        for number, specimen in enumerate(kind.specimens):
            if not specimen.scenario:
                continue
            headsets, name, title = (lab_headset(kind.name, number),), specimen.scenario, specimen.title
            yield Scenario(kind.number, f"{name}-away-5s", f"{title}: out of range for 5 s", [_away(5, times=4)], headsets)
            yield Scenario(kind.number, f"{name}-kill", f"{title}: eegsync killed (-9)", [_killed], headsets)


SCENARIOS = [
    _serial("away-5s", "out of range for 5 s", _away(5, times=2)),
    _serial("away-60s", "out of range for 60 s", _away(60, times=2)),
    # By then it may have another address: there are scans, which must not keep the pages waiting.
    _serial("away-5min", "out of range for 5 min", _away(300, times=2)),
    _serial("disconnect", "link ended by a program or by the headset", _disconnected),
    _serial("kill", "eegsync killed (-9)", _killed),
    _serial("paged", "adapter switched off and pulled out while it pages", _taken_while_paged),
    _serial("alone", "without bluetoothd", _without_bluetoothd),
    _serial("bluetoothd", "bluetoothd killed and restarted", _bluetoothd_restarted),
    Scenario(22, "serial-no-record", "serial port: the headset lists no service", [_away(5, times=2)], headsets=(_UNLISTED,)),
    Scenario(22, "serial-two", "serial port: two headsets", [_two], headsets=(_HEADSET, _SECOND)),
    Scenario(
        22,
        "serial-beside",
        "serial port: beside a headset of Bluetooth Low Energy, either fails",
        [_beside],
        headsets=(LEFT, _BESIDE, STRANGER),
    ),
    # Headsets that are asked and started by commands; some stream on when their link ends.
    *_of_commands(),
]
if _RECORDING.exists():
    SCENARIOS.append(
        Scenario(
            22,
            "serial-recorded",
            "serial port: what a real headset sent, disconnected twice",
            [_recorded],
            headsets=(_RECORDED,),
        )
    )
