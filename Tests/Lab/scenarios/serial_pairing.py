"""Headsets of Bluetooth Classic that are paired by a PIN: once, however the machine is treated."""

from __future__ import annotations

import dataclasses

from guest import management
from guest.clock import now
from guest.lab import Lab
from lab.marks import Goal
from lab.scenario import LabHeadset, Scenario, Step, lab_headset

from .bonds import lost_keys, replug, require_pairings, restart

_SERIAL = lab_headset("thinkgear")
_USUAL = dataclasses.replace(_SERIAL, details={"pin": "0000"})
# It asks when its serial port is opened, not when it is connected.
_AT_PORT = dataclasses.replace(_SERIAL, details={"pin": "0000", "pin_at": "port"})
# What the configuration says of it is wrong.
_MISTAKEN = dataclasses.replace(_SERIAL, passkey=9999, details={"pin": "0042"})
_MISTAKEN_AT_PORT = dataclasses.replace(_MISTAKEN, details={"pin": "0042", "pin_at": "port"})
_RIGHT_PASSKEY = 42
# Longer than the supervision timeout of Bluetooth Classic, 20 s.
_AWAY_SECONDS = 25
_REFUSED = "waiting for a person: the headset does not accept the PIN of its pairing"
# In a minute with a wrong PIN: the pauses are 5 s, 10 s, and so on.
_ATTEMPTS = 4


def _kept(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    require_pairings(lab, 1)
    lab.undisturbed()
    restart(lab)
    lab.undisturbed()
    lab.kill_acquisition("left", "eegsync killed")
    lab.undisturbed()
    lost = now()
    management.set_powered(False)
    lab.pass_time(5)
    since = now()
    management.set_powered(True)
    lab.expect_return("left", since, "adapter off and on", Goal.GATE, lost, advertising=True)
    lab.undisturbed()
    replug(lab)
    lab.undisturbed()
    require_pairings(lab, 1)


def _forgotten(lab: Lab) -> None:
    lost_keys(lab, "forget", "headset has lost its key", _AWAY_SECONDS)


def _changed(lab: Lab) -> None:
    lost_keys(lab, "confuse", "headset has another key", _AWAY_SECONDS)


def _wrong(lab: Lab) -> None:
    lab.start()
    lab.acquisition.command("record", "start", "left")
    lab.pass_time(60)
    status = " ".join(lab.acquisition.status_text().split())
    lab.require("write the headset's PIN as its 'passkey'" in status, "eegsync status does not say what a person can do")
    attempts = sum(_REFUSED in line for line in lab.acquisition.lines())
    lab.require(attempts == _ATTEMPTS, f"{attempts} attempts in a minute with a wrong PIN instead of {_ATTEMPTS}")
    require_pairings(lab, 0)
    # A person corrects it.
    lab.acquisition.program.end()
    configured = lab.acquisition.headsets
    configured[:] = [dataclasses.replace(headset, passkey=_RIGHT_PASSKEY) for headset in configured]
    lab.acquisition.configure()
    since = lab.start_acquisition()
    lab.expect_return("left", since, "PIN corrected", Goal.GATE)
    lab.undisturbed()
    require_pairings(lab, 1)


def _with_and_without(name: str, title: str, step: Step, headset: LabHeadset = _USUAL) -> list[Scenario]:
    """With bluetoothd, which asks eegsync's agent for the PIN and keeps the keys; and without."""
    with_bluetoothd = Scenario(22, f"serial-{name}", f"serial port: {title}", [step], headsets=(headset,))
    return [with_bluetoothd, _alone(name, title, step, headset)]


def _alone(name: str, title: str, step: Step, headset: LabHeadset = _USUAL) -> Scenario:
    title = f"serial port: {title}, without bluetoothd"
    return Scenario(22, f"serial-{name}-alone", title, [step], headsets=(headset,), central="kernel")


SCENARIOS = [
    *_with_and_without("pin", "paired by PIN, and all that is restarted", _kept),
    *_with_and_without("pin-forgotten", "paired by PIN, the headset was reset", _forgotten),
    # The key that bluetoothd keeps is a person's to remove.
    _alone("pin-changed", "paired by PIN, the headset has another key", _changed),
    *_with_and_without("pin-wrong", "the PIN of the configuration is wrong", _wrong, _MISTAKEN),
    *_with_and_without("pin-port", "paired by PIN when its port is opened, and all that is restarted", _kept, _AT_PORT),
    _alone("pin-port-forgotten", "paired by PIN when its port is opened, the headset was reset", _forgotten, _AT_PORT),
    _alone("pin-port-changed", "paired by PIN when its port is opened, other key", _changed, _AT_PORT),
    _alone("pin-port-wrong", "the PIN is wrong when the port is opened", _wrong, _MISTAKEN_AT_PORT),
]
