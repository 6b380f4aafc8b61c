"""What headsets do: new addresses, other advertising, restarts, full memories, no answers."""

from __future__ import annotations

import dataclasses
from functools import partial

from guest.lab import Lab
from headsets.kinds import kinds
from lab.marks import Goal
from lab.scenario import LEFT, RIGHT, STRANGER, Scenario, Step, lab_headset, through

# By model: a headset of which nothing but the address says which one it is.
_ADDRESSED = {
    kind.model: lab_headset(kind.name) for kind in reversed(kinds().values()) if kind.is_known_by_address and not kind.is_serial
}
# 20 s of samples: what a minute away overruns.
_SMALL_MEMORY = dataclasses.replace(LEFT, details={**LEFT.details, "capacity": 5000})

# They let nobody read or subscribe without a bond.
_BONDING = dataclasses.replace(LEFT, details={**LEFT.details, "encrypted": True})
_ASKING = dataclasses.replace(_BONDING, passkey=123_456)


def _changed_while_away(
    lab: Lab, command: str, fault: str, goal: Goal = Goal.GATE, before: float = 5.0, after: float = 0.0
) -> None:
    """It leaves, a command is told to it some seconds later, and it returns some seconds after that."""
    lost = lab.tell("vanish", "left")
    lab.pass_time(before)
    verb, *words = command.split()
    lab.tell(verb, "left", *words)
    lab.pass_time(after)
    since = lab.tell("return", "left")
    lab.expect_return("left", since, fault, goal, lost)


def _rotated(fault: str) -> Step:
    return through(partial(_changed_while_away, command="rotate", fault=fault, before=10), times=3)


# Longer than the known address has to be silent (`adopt_after_seconds`).
_moved = through(partial(_changed_while_away, command="rotate", fault="new address, no serial number", before=65), times=2)


def _pairing_mode(lab: Lab) -> None:
    _changed_while_away(lab, "advertise pairing", "advertises in pairing mode", before=10)
    lab.tell("advertise", "left", "on")


def _rebooted_away(lab: Lab) -> None:
    _changed_while_away(lab, "reboot", "rebooted while away", Goal.RADIO, after=5)


def _rebooted_connected(lab: Lab) -> None:
    lost = lab.tell("reboot", "left")
    lab.expect_return("left", lost, "rebooted while streaming", Goal.RADIO, lost, advertising=True)


def _overrun(lab: Lab) -> None:
    lab.away("left", 60, "memory overrun while away")


def _low_power(lab: Lab) -> None:
    _changed_while_away(lab, "low-power", "asleep after the return", after=5)


def _muted(lab: Lab) -> None:
    _changed_while_away(lab, "mute-status on", "status query never answered")
    lab.pass_time(5)
    lab.tell("mute-status", "left", "off")


def _mute(lab: Lab) -> None:
    lab.record_through(_muted, times=2)
    # Without a status, memory cannot be read; the next link has one again.
    lab.away("left", 5, "away 5 s after that")
    lab.undisturbed()


def _one_of_two(lab: Lab) -> None:
    lab.away("left", 8, "away 8 s while the other one streams")


def _two_away(lab: Lab) -> None:
    """One comes back while the other one is still looked for."""
    for first, second in (("left", "right"), ("right", "left")):
        lab.undisturbed()
        lost = lab.tell("vanish", first)
        lab.tell("vanish", second)
        lab.pass_time(lab.random.uniform(15, 25))
        lab.expect_return(first, lab.tell("return", first), "back while the other one is away", Goal.RADIO, lost)
        lab.pass_time(lab.random.uniform(1, 10))
        lab.expect_return(second, lab.tell("return", second), "back after the other one", Goal.RADIO, lost)


def _six_headsets(lab: Lab) -> None:
    lab.start()
    lab.record_all()
    lab.pass_time(30)
    lab.away("h3", 5, "away 5 s among six")
    lab.undisturbed()


_SIX = tuple(
    dataclasses.replace(LEFT, name=f"BEEG-000{n}", alias=f"h{n}", address=f"C0:00:00:00:00:0{n}", seed=n, serial=f"LAB-000{n}")
    for n in range(1, 7)
)

SCENARIOS = [
    Scenario(10, "rotation", "new private address", [_rotated("new address, not bonded")]),
    Scenario(
        10,
        "rotation-bonded",
        "new private address of a bonded headset",
        [_rotated("new address, bonded")],
        headsets=(_BONDING, STRANGER),
    ),
    Scenario(
        10,
        "rotation-passkey",
        "new private address of a headset bonded by passkey",
        [_rotated("new address, bonded by passkey")],
        headsets=(_ASKING, STRANGER),
    ),
    *(
        Scenario(10, f"adoption-{moved.kind}", f"new address of a {moved.model}", [_moved], headsets=(moved,))
        for moved in _ADDRESSED.values()
    ),
    Scenario(11, "pairing-mode", "advertises in pairing mode after the outage", [through(_pairing_mode, times=2)]),
    Scenario(12, "reboot-away", "headset restarts while away", [through(_rebooted_away, times=2)]),
    Scenario(12, "reboot-streaming", "headset restarts while streaming", [through(_rebooted_connected, times=2)]),
    Scenario(12, "overrun", "memory overrun during the outage", [through(_overrun)], (_SMALL_MEMORY, STRANGER)),
    Scenario(12, "low-power", "headset asleep after the outage", [through(_low_power)]),
    Scenario(13, "mute-status", "status query never answered", [_mute]),
    Scenario(
        15,
        "two-headsets",
        "two headsets, one fails",
        [through(_one_of_two, times=4, names=("left", "right"))],
        headsets=(LEFT, RIGHT, STRANGER),
    ),
    Scenario(
        15,
        "two-away",
        "two headsets, both away",
        [through(_two_away, names=("left", "right"))],
        headsets=(LEFT, RIGHT, STRANGER),
    ),
    Scenario(15, "six-headsets", "six headsets at once", [_six_headsets], headsets=_SIX),
]
