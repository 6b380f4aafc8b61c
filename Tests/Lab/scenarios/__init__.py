"""The scenarios, in the order of the documentation's table."""

from __future__ import annotations

from lab.scenario import Scenario

from . import acquisition, range

ALL: list[Scenario] = [*range.SCENARIOS, *acquisition.SCENARIOS]


def find(name: str) -> Scenario:
    """A scenario by its name; raises KeyError."""
    return {scenario.name: scenario for scenario in ALL}[name]
