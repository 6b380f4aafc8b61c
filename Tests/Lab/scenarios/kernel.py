"""The same things happen to people who record without bluetoothd, over the kernel's sockets."""

from __future__ import annotations

import dataclasses

from lab.scenario import Scenario

from . import acquisition, headset, range, recording, unbuffered

# What bluetoothd does or holds: there is nothing like it here.
_OF_BLUETOOTHD = ("link-left-over", "other-client", "rotation-bonded", "rotation-passkey")


def _over_the_kernel(scenario: Scenario) -> Scenario:
    return dataclasses.replace(
        scenario,
        number=30,
        name=f"kernel-{scenario.name}",
        title=f"without bluetoothd: {scenario.title}",
        central="kernel",
    )


SCENARIOS = [
    _over_the_kernel(scenario)
    for module in (range, acquisition, headset, recording, unbuffered)
    for scenario in module.SCENARIOS
    if scenario.name not in _OF_BLUETOOTHD and "bluetoothd" not in scenario.name
]
