"""As many notifications as a headset can send, with the host's clock: the only scenarios where computing takes time.

What eegsync takes for them is reported beside what a bare C program takes that reads the same descriptor and does nothing else.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from functools import partial
from typing import Any

from guest.clock import NANOSECONDS, now
from guest.lab import Lab
from guest.process import output_of
from lab.scenario import LEFT, LabHeadset, Scenario

_SECONDS = 20.0
# The headset runs on the same machine; a machine that is busy with something else measures nothing.
_LEAST_SHARE = 0.97


@dataclasses.dataclass(frozen=True)
class _Flood:
    """Live blocks of one size at one rate; a block has 18 bytes and 3 for each value."""

    rate: int
    channels: int
    instants: int

    @property
    def length(self) -> int:
        return 18 + 3 * self.channels * self.instants

    def headset(self) -> LabHeadset:
        """A headset that sends these. More than the rate fits into a connection interval, so that it never lags behind."""
        stream = {"name": "eeg", "frequency": self.rate * self.instants, "channels": self.channels}
        details = {"streams": [stream], "packets_per_interval": 60, "instants_per_block": self.instants}
        return dataclasses.replace(LEFT, details=details)


def _flood(lab: Lab, flood: _Flood) -> None:
    lab.start()
    lab.record("left")
    lab.pass_time(2)
    began, before = now(), lab.headsets.statistics(LEFT.name)
    programs = {"eegsync": lab.acquisition.program, "bluetoothd": lab.bluetooth.bluetoothd}
    used = {name: program.processor_seconds() for name, program in programs.items()}
    lab.pass_time(_SECONDS)
    after, seconds = lab.headsets.statistics(LEFT.name), (now() - began) / NANOSECONDS
    shares = {name: (program.processor_seconds() - used[name]) / seconds for name, program in programs.items()}
    rate = (after["counts"]["notified"] - before["counts"]["notified"]) / seconds
    lab.require(rate >= _LEAST_SHARE * flood.rate, f"the headset sent {rate:.0f} notifications/s, not {flood.rate}")
    skipped = _grown(before, after, "skippedLive")
    lab.require(skipped == 0, f"the machine is too busy: {skipped} samples are late in the headset itself and not sent live")
    # Each live block that did not arrive would be read from memory and leave no gap.
    again = _grown(before, after, "sentFromMemory")
    lab.require(again == 0, f"not all that was sent live arrived: {again} samples were read from memory")
    lab.undisturbed()
    lab.require(lab.missing("left") == 0, f"{lab.missing('left')} samples are missing on a link that never failed")
    lab.finish()
    _compare(lab, flood, rate, shares)


def _compare(lab: Lab, flood: _Flood, rate: float, shares: dict[str, float]) -> None:
    used = lab.bluetooth.bluetoothd.processor_seconds()
    bare = _read_barely(lab)
    # With what the connection took, which is little.
    bluetoothd = (lab.bluetooth.bluetoothd.processor_seconds() - used) / bare["seconds"]
    bare_rate, share = bare["messages"] / bare["seconds"], bare["processorSeconds"] / bare["seconds"]
    lab.require(bare["missing"] == 0, f"the bare reader misses {bare['missing']} sampling periods")
    lab.require(bare_rate >= _LEAST_SHARE * flood.rate, f"the bare reader got {bare_rate:.0f} notifications/s")
    lab.require(bare["bytes"] == bare["messages"] * flood.length, f"the bare reader got {bare['bytes']} bytes: other blocks")
    mine, floor = shares["eegsync"] * 1000 / rate, share * 1000 / bare_rate
    beside, alone = shares["bluetoothd"] * 1000 / rate, bluetoothd * 1000 / bare_rate
    ratio = f"{mine / floor:.1f} times as much" if floor > 0 else "too little to compare"
    lab.note_figure(f"{rate:.0f} notifications/s of {flood.length} bytes, none lost. For 1,000 notifications/s:")
    lab.note_figure(f"eegsync uses {mine:.1%} of a processor, a bare C reader {floor:.1%}: {ratio}")
    lab.note_figure(f"bluetoothd uses {beside:.1%} with eegsync, {alone:.1%} with the reader")
    lab.note_figure(f"the reader was woken {bare['awakenings'] / bare['seconds']:.0f} times/s")


def _read_barely(lab: Lab) -> dict[str, Any]:
    command = [sys.executable, "-B", "-m", "guest.bare_reader", lab.address("left"), os.environ["LAB_READER"]]
    found: dict[str, Any] = json.loads(output_of([*command, f"{_SECONDS:.0f}"]))
    return found


def _grown(before: dict[str, Any], after: dict[str, Any], count: str) -> int:
    return int(after["firmware"]["streams"][0][count]) - int(before["firmware"]["streams"][0][count])


def _scenario(name: str, flood: _Flood) -> Scenario:
    return Scenario(
        21,
        name,
        f"{flood.rate} notifications/s of {flood.length} bytes",
        [partial(_flood, flood=flood)],
        headsets=(flood.headset(),),
        is_time_simulated=False,
        is_long=True,
        # Here the machine's speed counts.
        time_error_seconds=0.5,
    )


SCENARIOS = [
    # 21 bytes: no block is smaller.
    _scenario("throughput-small", _Flood(rate=1000, channels=1, instants=1)),
    # 198 bytes.
    _scenario("throughput-medium", _Flood(rate=500, channels=6, instants=10)),
    # 234 bytes: the largest block of 8 channels, as 244 bytes fit.
    _scenario("throughput", _Flood(rate=500, channels=8, instants=9)),
]
