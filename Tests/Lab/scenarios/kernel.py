"""The same things happen to people who record without bluetoothd, over the kernel's sockets."""

from __future__ import annotations

import dataclasses

from lab.scenario import Scenario

from . import acquisition, headset, range, recording, unbuffered

# Those in which neither bluetoothd nor a tool of it has a part.
_NAMES = (
    "away-5s",
    "away-60s",
    "away-1h",
    "kill-streaming",
    "kill-connecting",
    "kill-scanning",
    "kill-draining",
    "stop-5s",
    "rotation-bonded",
    "rotation-passkey",
    "reboot-away",
    "reboot-streaming",
    "two-headsets",
    "six-headsets",
    "record-stop",
    "sigterm",
    "muse-away-5s",
    "muse-kill",
    "ganglion-away-5s",
    "ganglion-kill",
)


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
    if scenario.name in _NAMES
]
