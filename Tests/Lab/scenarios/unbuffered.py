"""Headsets without memory: what was sent while nobody heard it is lost, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from guest.lab import Lab
from guest.process import LabError
from headsets.kind import Kind
from headsets.kinds import kinds
from lab.marks import Goal
from lab.scenario import Scenario, Step, room, through

from .range import away


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


def _scenarios(kind: Kind, number: int) -> Iterator[Scenario]:
    """Those of one headset."""
    specimen = kind.specimens[number]
    headsets = room(kind.name, number)

    def scenario(name: str, title: str, step: Step) -> Scenario:
        return Scenario(kind.number, f"{specimen.scenario}-{name}", f"{specimen.title}: {title}", [step], headsets)

    yield scenario("away-5s", "out of range for 5 s", away(5, times=4))
    yield scenario("kill", "eegsync killed (-9), restarted after 2 s", through(_killed, times=3))
    for name in kind.scenarios:
        yield scenario(name, *_FURTHER[name])
    if kind.lost is not None:
        title, characteristic = kind.lost
        yield scenario("lost", title, through(partial(_notification_lost, characteristic=characteristic), times=3))
    if kind.stall_seconds is not None:
        seconds = kind.stall_seconds
        yield scenario("stall", f"{seconds:.0f} s stall, nothing lost", partial(_stalled, seconds=seconds))


# What not all are put through: title and step.
_FURTHER: dict[str, tuple[str, Step]] = {
    "bluetoothd": ("bluetoothd killed and restarted", through(_bluetoothd_killed, times=3)),
    "away-60s": ("out of range for 60 s", away(60, times=2)),
    "buttons": ("a person presses a button", _buttons),
}
SCENARIOS = [
    scenario
    for kind in kinds().values()
    if not kind.is_serial and not kind.has_memory
    for number in range(len(kind.specimens))
    for scenario in _scenarios(kind, number)
]
