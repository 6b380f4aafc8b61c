"""How soon a headset is back without bluetoothd: with the handles of an earlier link (warm), and without (cold).

So many returns that a goal is missed by no chance; the headset comes back at any point of its advertising interval.
"""

from __future__ import annotations

import sqlite3

from guest.lab import Lab
from lab.marks import Goal
from lab.scenario import Scenario, Step, through

_RETURNS = 32


def _warm(lab: Lab) -> None:
    lab.away("left", lab.random.uniform(4, 8), "away 4 to 8 s", Goal.WARM)


def _cold(lab: Lab) -> None:
    lost = lab.tell("vanish", "left")
    lab.pass_time(2)
    lab.acquisition.kill()
    _forget_handles(lab)
    lab.start_acquisition()
    lab.pass_time(lab.random.uniform(2, 6))
    since = lab.tell("return", "left")
    lab.expect_return("left", since, "away, and its handles forgotten", Goal.COLD, lost)


def _forget_handles(lab: Lab) -> None:
    """The next link discovers, as the first link to a headset does."""
    connection = sqlite3.connect(lab.share / "eegsync.sqlite", timeout=5)
    with connection:
        connection.execute("DELETE FROM handle_map")
    connection.close()


def _scenario(name: str, title: str, fault: Step) -> Scenario:
    step = through(fault, _RETURNS)
    return Scenario(31, name, title, [step], central="kernel", timeout_seconds=900, is_long=True, must_meet_goals=True)


SCENARIOS = [
    _scenario("handles-known", "without bluetoothd, handles known: out of range", _warm),
    _scenario("handles-forgotten", "without bluetoothd, handles forgotten: out of range", _cold),
]
