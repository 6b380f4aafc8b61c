"""As many notifications as a headset can send, with the host's clock: the only scenarios where computing takes time.

What eegsync takes for them on the kernel's route must not be more than what the route over bluetoothd takes, bluetoothd and the
bus included. Beside both stands what a bare C program takes that reads the same descriptor and does nothing else.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from guest.clock import NANOSECONDS, now
from guest.lab import Lab
from guest.process import Program
from lab.measurements import Reader
from lab.scenario import LEFT

from .flood import LEAST_SHARE, ROUTES, Flood, read_barely, record_over

_SECONDS = 20.0


def _compare_routes(lab: Lab, flood: Flood) -> None:
    sums = {}
    for route in ROUTES:
        record_over(lab, route)
        shares = _record(lab, flood, _programs(lab, route))
        lab.finish()
        lab.note_measurement(flood.measurement(route, Reader.EEGSYNC, processors=shares))
        sums[route] = sum(shares.values())
        bare = read_barely(lab, flood, route, _SECONDS)
        # Messages and processor time are of the same seconds.
        share = bare["processorSeconds"] * 1000 / bare["messages"]
        lab.note_measurement(flood.measurement(route, Reader.BARE, processors={"reader": share}))
    more = f"the kernel's route takes {sums['kernel']:.1%} of a processor, the one over bluetoothd {sums['bluez']:.1%}"
    lab.require(sums["kernel"] <= sums["bluez"], more)


def _programs(lab: Lab, route: str) -> dict[str, Program]:
    if route == "kernel":
        return {"eegsync": lab.acquisition.program}
    return {"eegsync": lab.acquisition.program, "bluetoothd": lab.bluetooth.bluetoothd, "dbus-daemon": lab.bluetooth.bus}


def _record(lab: Lab, flood: Flood, programs: dict[str, Program]) -> dict[str, float]:
    """Records for a while and loses nothing; the processors that each program takes for 1,000 notifications/s."""
    began, before = now(), lab.headsets.statistics(LEFT.name)
    used = {name: program.processor_seconds() for name, program in programs.items()}
    lab.pass_time(_SECONDS)
    after, seconds = lab.headsets.statistics(LEFT.name), (now() - began) / NANOSECONDS
    spent = {name: program.processor_seconds() - used[name] for name, program in programs.items()}
    count = after["counts"]["notified"] - before["counts"]["notified"]
    rate = count / seconds
    lab.require(rate >= LEAST_SHARE * flood.rate, f"the headset sent {rate:.0f} notifications/s, not {flood.rate}")
    skipped = _grown(before, after, "skippedLive")
    lab.require(skipped == 0, f"the machine is too busy: {skipped} samples are late in the headset itself and not sent live")
    # Each live block that did not arrive would be read from memory and leave no gap.
    again = _grown(before, after, "sentFromMemory")
    lab.require(again == 0, f"not all that was sent live arrived: {again} samples were read from memory")
    lab.undisturbed()
    lab.require(lab.missing("left") == 0, f"{lab.missing('left')} samples are missing on a link that never failed")
    return {name: share * 1000 / count for name, share in spent.items()}


def _grown(before: dict[str, Any], after: dict[str, Any], count: str) -> int:
    return int(after["firmware"]["streams"][0][count]) - int(before["firmware"]["streams"][0][count])


_FLOODS = {
    # 21 bytes: no block is smaller.
    "throughput-small": Flood(rate=1000, channels=1, instants=1),
    # 198 bytes.
    "throughput-medium": Flood(rate=500, channels=6, instants=10),
    # 234 bytes: the largest block of 8 channels, as 244 bytes fit.
    "throughput": Flood(rate=500, channels=8, instants=9),
}
SCENARIOS = [
    flood.scenario(name, f"processor time for {flood.sent}", partial(_compare_routes, flood=flood))
    for name, flood in _FLOODS.items()
]
