"""The adapter is switched off, blocked or pulled out, on each way to the headsets."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from guest import management
from guest.bluetooth import bluetoothctl
from guest.clock import now
from guest.lab import Lab
from guest.process import output_of
from lab.marks import Goal
from lab.scenario import Scenario, lab_headset


@dataclass(frozen=True)
class _Fault:
    """What takes the adapter away, and what brings it back; each says when."""

    words: str
    begin: Callable[[Lab], int]
    end: Callable[[Lab], int]


def _switch(is_on: bool, _: Lab) -> int:
    instant = now()
    bluetoothctl("power", "on" if is_on else "off")
    return instant


def _switch_off_alone(_: Lab) -> int:
    instant = now()
    management.set_powered(False)
    return instant


def _switch_on_alone(lab: Lab) -> int:
    lab.require(not management.is_powered(), "eegsync switched on an adapter that a person had switched off")
    instant = now()
    management.set_powered(True)
    return instant


def _rfkill(word: str, _: Lab) -> int:
    instant = now()
    output_of(["rfkill", word, "bluetooth"])
    return instant


def _plug(word: str, lab: Lab) -> int:
    return lab.headsets.tell("adapter", word)


_POWER = _Fault("adapter off and on", partial(_switch, False), partial(_switch, True))
_POWER_ALONE = _Fault("adapter off and on", _switch_off_alone, _switch_on_alone)
_RFKILL = _Fault("rfkill block and unblock", partial(_rfkill, "block"), partial(_rfkill, "unblock"))
_UNPLUG = _Fault("adapter replugged", partial(_plug, "unplug"), partial(_plug, "plug"))
_RENUMBER = _Fault("adapter back as another number", partial(_plug, "unplug"), partial(_plug, "plug-elsewhere"))


def _happens(lab: Lab, faults: Sequence[_Fault], pauses: Sequence[float], goal: Goal) -> None:
    lab.start()
    lab.record("left")
    for fault in faults:
        for seconds in pauses:
            lab.undisturbed()
            lost = fault.begin(lab)
            lab.pass_time(seconds)
            lab.expect_return("left", fault.end(lab), fault.words, goal, lost, advertising=True)
    lab.undisturbed()


def _stays_off(lab: Lab) -> None:
    """A person's switching off outlives that the adapter is pulled out, put in, blocked and unblocked, and eegsync."""
    lab.start()
    lab.record("left")
    lab.undisturbed()
    _switch_off_alone(lab)
    lab.pass_time(10)
    for fault in (_UNPLUG, _RFKILL, _RENUMBER):
        fault.begin(lab)
        lab.pass_time(5)
        fault.end(lab)
        lab.expect_no_rows("left", 10, f"a person had switched the adapter off: {fault.words}")
    lab.acquisition.kill()
    lab.start_acquisition()
    lab.expect_no_rows("left", 10, "a person had switched the adapter off: eegsync killed and restarted")


def _stays_off_after_power_cut(lab: Lab) -> None:
    lab.start()
    lab.expect_no_rows("left", 10, "a person had switched the adapter off: power cut and boot of the machine")
    lab.expect_return("left", _switch_on_alone(lab), "switched off, and on again by a person", Goal.SYSTEM)
    lab.undisturbed()


def _way(power: _Fault, goal: Goal) -> list[Scenario]:
    """The faults on a way to the headsets."""

    def happens(*faults: _Fault, pauses: Sequence[float]) -> Callable[[Lab], None]:
        return partial(_happens, faults=faults, pauses=pauses, goal=goal)

    return [
        Scenario(5, "power", "adapter switched off and on", [happens(power, pauses=(2, 5, 30))]),
        Scenario(6, "rfkill", "Bluetooth blocked and unblocked", [happens(_RFKILL, pauses=(1, 5, 60))]),
        Scenario(14, "unplug", "adapter pulled out and put in", [happens(_UNPLUG, pauses=(2, 20))]),
        Scenario(14, "unplug-renumbered", "adapter back under another number", [happens(_RENUMBER, pauses=(2, 20))]),
    ]


def _over_a_serial_port(scenario: Scenario) -> Scenario:
    name, title = f"serial-{scenario.name}", f"serial port: {scenario.title}"
    return dataclasses.replace(scenario, number=22, name=name, title=title, headsets=(lab_headset("thinkgear"),))


SCENARIOS = [*_way(_POWER, Goal.SYSTEM), *map(_over_a_serial_port, _way(_POWER, Goal.GATE))]
# For the way without bluetoothd, where `kernel` gives them their names.
WITHOUT_BLUETOOTHD = [
    *_way(_POWER_ALONE, Goal.SYSTEM),
    Scenario(5, "power-kept-off", "a person's switching off outlives everything", [_stays_off, _stays_off_after_power_cut]),
]
