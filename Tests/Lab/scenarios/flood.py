"""A headset that sends as many notifications as the scenario wants, and both readers of them on both routes."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

from guest.lab import Lab
from guest.process import output_of
from lab.measurements import Measurement, Reader
from lab.scenario import LEFT, LabHeadset, Scenario, Step

ROUTES = ("bluez", "kernel")
# The headset runs on the same machine; a machine that is busy with something else measures nothing.
LEAST_SHARE = 0.97


@dataclasses.dataclass(frozen=True)
class Flood:
    """Live blocks of one size at one rate; a block has 18 bytes and 3 for each value."""

    rate: int
    channels: int
    instants: int

    @property
    def length(self) -> int:
        return 18 + 3 * self.channels * self.instants

    @property
    def sent(self) -> str:
        """What the tables call it."""
        return f"{self.rate:,}/s of {self.length} bytes"

    def headset(self) -> LabHeadset:
        """A headset that sends these. More than the rate fits into a connection interval, so that it never lags behind."""
        stream = {"name": "eeg", "frequency": self.rate * self.instants, "channels": self.channels}
        details = {"streams": [stream], "packets_per_interval": 60, "instants_per_block": self.instants}
        return dataclasses.replace(LEFT, details=details)

    def scenario(self, name: str, title: str, step: Step) -> Scenario:
        """A scenario with this headset and the host's clock."""
        return Scenario(
            21,
            name,
            title,
            [step],
            headsets=(self.headset(),),
            is_time_simulated=False,
            is_long=True,
            # Here the machine's speed counts.
            time_error_seconds=0.5,
        )

    def measurement(self, route: str, reader: Reader, **figures: dict[str, float]) -> Measurement:
        """Figures for the report."""
        return Measurement(self.sent, route, reader, **figures)


def record_over(lab: Lab, route: str) -> None:
    """Starts a recording over a route, and waits until it is under way."""
    lab.take_route(route)
    lab.start()
    lab.record("left")
    lab.pass_time(3)


def read_barely(lab: Lab, flood: Flood, route: str, seconds: float, arrivals: Path | None = None) -> dict[str, Any]:
    """Lets the bare reader have the headset, and demands that it gets everything; its line."""
    command = [sys.executable, "-B", "-m", "guest.bare_reader", route, lab.address("left"), os.environ["LAB_READER"]]
    command += [f"{seconds:.0f}", *([str(arrivals)] if arrivals is not None else [])]
    found: dict[str, Any] = json.loads(output_of(command))
    lab.require(found["missing"] == 0, f"the bare reader misses {found['missing']} sampling periods")
    rate = found["messages"] / found["seconds"]
    lab.require(rate >= LEAST_SHARE * flood.rate, f"the bare reader got {rate:.0f} notifications/s, not {flood.rate}")
    lab.require(found["bytes"] == found["messages"] * flood.length, f"the bare reader got {found['bytes']} bytes: other blocks")
    return found
