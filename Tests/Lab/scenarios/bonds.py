"""Headsets that insist on a bond, and headsets that hide: what was once agreed must last, however the machine is treated."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

from guest.clock import now
from guest.lab import Lab
from lab.marks import Goal
from lab.scenario import LEFT, STRANGER, LabHeadset, Scenario

_BONDING = dataclasses.replace(LEFT, details={**LEFT.details, "encrypted": True})
# Nobody has seen its identity address before it was paired.
_HIDING = dataclasses.replace(_BONDING, details={**_BONDING.details, "private": True})
_OLDER = dataclasses.replace(_BONDING, details={**_BONDING.details, "secure_connections": False})

# What eegsync needs to ask before it subscribes: the size of packets, one question about the map, the subscription; and once
# more what is refused before the link is encrypted. A discovery is more than twice as much.
_FEW_REQUESTS = 5


def _events(lab: Lab, name: str) -> list[dict[str, Any]]:
    headset = next(headset for headset in lab.scenario.headsets if headset.alias == name)
    lines = (lab.share / "journals" / f"{headset.name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _pairings(lab: Lab) -> int:
    return sum(1 for event in _events(lab, "left") if event["event"] == "paired")


def require_pairings(lab: Lab, count: int) -> None:
    """The headset was paired so often since the beginning."""
    found = _pairings(lab)
    lab.require(found == count, f"the headset was paired {found} times instead of {count}")


def _require_warm(lab: Lab) -> None:
    """On its last link the headset was asked little."""
    events = _events(lab, "left")
    begin = max(place for place, event in enumerate(events) if event["event"] == "connected")
    requests = next(event["requests"] for event in events[begin:] if event["event"] == "subscribed")
    lab.require(requests <= _FEW_REQUESTS, f"{requests} requests before the first subscription: it was discovered again")


def restart(lab: Lab) -> None:
    """eegsync ends in order and starts again."""
    lab.acquisition.program.end()
    since = lab.start_acquisition()
    lab.expect_return("left", since, "eegsync ended and started again", Goal.PROCESS)


def replug(lab: Lab) -> None:
    """The adapter is pulled out and put in."""
    lost = lab.headsets.tell("adapter", "unplug")
    lab.pass_time(5)
    since = lab.headsets.tell("adapter", "plug")
    lab.expect_return("left", since, "adapter replugged", Goal.SYSTEM, lost, advertising=True)


def _warm_start(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        restart(lab)
        _require_warm(lab)
    lab.undisturbed()


def _bonded(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.undisturbed()
    restart(lab)
    _require_warm(lab)
    lab.undisturbed()
    lab.kill_acquisition("left", "eegsync killed")
    lab.undisturbed()
    replug(lab)
    require_pairings(lab, 1)
    # Saved once a second, as the headset's state is.
    lab.pass_time(3)


def _bonded_after_power_cut(lab: Lab) -> None:
    since = now()
    lab.start()
    lab.expect_return("left", since, "power cut and boot of the machine", Goal.GATE)
    _require_warm(lab)
    lab.undisturbed()
    require_pairings(lab, 1)


def _hidden(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for is_killed in (False, True, False):
        lab.undisturbed()
        lost = lab.tell("vanish", "left")
        lab.pass_time(10)
        lab.tell("rotate", "left")
        if is_killed:
            lab.acquisition.kill()
            lab.start_acquisition()
            lab.pass_time(1)
        since = lab.tell("return", "left")
        lab.expect_return("left", since, "new private address", Goal.GATE, lost)
    lab.undisturbed()
    require_pairings(lab, 1)


def lost_keys(lab: Lab, command: str, fault: str, seconds: float = 5) -> None:
    """The headset is away so long that its link has ended, and comes back without its keys, or with others."""
    lab.start()
    lab.record("left")
    for count in (2, 3):
        lab.undisturbed()
        lost = lab.tell("vanish", "left")
        lab.pass_time(seconds)
        lab.tell(command, "left")
        since = lab.tell("return", "left")
        lab.expect_return("left", since, fault, Goal.GATE, lost)
        require_pairings(lab, count)
    # bluetoothd says nothing of it.
    is_told = lab.route != "kernel" or any("lost the keys of its pairing" in line for line in lab.acquisition.lines())
    lab.require(is_told, "the log says nothing of lost keys")
    lab.undisturbed()


def _forgotten(lab: Lab) -> None:
    lost_keys(lab, "forget", "headset has lost its keys")


def _confused(lab: Lab) -> None:
    lost_keys(lab, "confuse", "headset has other keys")


def _scenario(name: str, title: str, steps: list[Any], headset: LabHeadset = _BONDING) -> Scenario:
    return Scenario(30, f"kernel-{name}", f"without bluetoothd: {title}", steps, headsets=(headset, STRANGER), central="kernel")


SCENARIOS = [
    _scenario("warm-start", "handles kept while eegsync is away", [_warm_start], LEFT),
    _scenario("bonded", "a bond and all that is restarted", [_bonded, _bonded_after_power_cut]),
    _scenario("bonded-older", "a bond without Secure Connections", [_bonded, _bonded_after_power_cut], _OLDER),
    _scenario("private-address", "a headset that hides", [_hidden], _HIDING),
    _scenario("keys-forgotten", "a headset that was reset", [_forgotten]),
    _scenario("keys-changed", "a headset with other keys", [_confused]),
]
