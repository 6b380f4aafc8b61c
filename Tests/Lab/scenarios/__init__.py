"""The scenarios, in the order of the documentation's table."""

from __future__ import annotations

from lab.scenario import Scenario

from . import (
    acquisition,
    adapter,
    bluetooth,
    bonds,
    capture,
    companion,
    contract,
    handles,
    headset,
    imitation,
    impedance,
    kernel,
    latency,
    range,  # noqa: A004, the scenarios of that name
    recording,
    serial_pairing,
    serial_port,
    strangers,
    tap,
    throughput,
    unbuffered,
)

_MODULES = (
    contract,
    range,
    acquisition,
    bluetooth,
    adapter,
    recording,
    headset,
    unbuffered,
    impedance,
    serial_port,
    serial_pairing,
    kernel,
    bonds,
    handles,
    throughput,
    latency,
    tap,
    capture,
    imitation,
    companion,
    strangers,
)
ALL: list[Scenario] = sorted((s for module in _MODULES for s in module.SCENARIOS), key=lambda scenario: scenario.number)


def find(name: str) -> Scenario:
    """A scenario by its name; raises KeyError."""
    return {scenario.name: scenario for scenario in ALL}[name]
