"""How long a notification is on its way to its time stamp, with the host's clock.

It begins when the adapter's controller hands the packet to the kernel, and ends at the time of arrival that eegsync keeps:
It begins when the adapter's controller hands the packet to the kernel, and ends at the time of arrival that eegsync keeps:
the clock after each message.
"""

from __future__ import annotations

from functools import partial

from guest import arrivals
from guest.lab import Lab
from guest.process import LabError
from lab.measurements import Reader, percentile
from lab.scenario import LEFT

from .flood import ROUTES, Flood, read_barely, record_over

_SECONDS = 20
# By how much the median of eegsync may exceed that of the bare reader on the kernel's route.
_MOST = 1.2


def _compare_readers(lab: Lab, flood: Flood) -> None:
    interval = 0.0
    for route in ROUTES:
        record_over(lab, route)
        interval = lab.headsets.statistics(LEFT.name)["interval"]
        mine = _measured(lab, flood, route, Reader.EEGSYNC, _captured(lab, route))
        lab.finish()
        file = lab.share / f"{route}.arrivals"
        lab.headsets.ask("adapter", "note-handovers")
        read_barely(lab, flood, route, _SECONDS, file)
        bare = _measured(lab, flood, route, Reader.BARE, arrivals.of_reader(file))
        if route == "kernel":
            more = f"eegsync's median is {mine * 1e6:.0f} us, that of the bare reader {bare * 1e6:.0f} us"
            lab.require(mine <= _MOST * bare, f"{more}: more than {_MOST} times as much")
    lab.note_figure(f"the connection interval is {interval / 1e6:g} ms")


def _captured(lab: Lab, route: str) -> dict[int, int]:
    file = lab.share / f"{route}.btsnoop"
    lab.headsets.ask("adapter", "note-handovers")
    lab.acquisition.command("capture", "left", "-o", str(file), "--seconds", str(_SECONDS))
    return arrivals.of_capture(file, lab.clock_offset())


def _measured(lab: Lab, flood: Flood, route: str, reader: Reader, arrived: dict[int, int]) -> float:
    """Notes the latencies; their median in seconds."""
    handed = arrivals.of_handovers(lab.headsets.ask("adapter", "take-handovers")["handovers"])
    unknown = len(arrived.keys() - handed.keys())
    lab.require(unknown == 0, f"{unknown} blocks arrived that were never handed to the kernel")
    seconds = sorted((instant - handed[index]) / 1e9 for index, instant in arrived.items() if index in handed)
    # Beginning and end are not those of the handovers.
    if len(seconds) < 0.9 * flood.rate * _SECONDS:
        raise LabError(f"only {len(seconds)} of {flood.rate * _SECONDS} latencies are known ({route}, {reader.value})")
    found = {f"p{percent}": percentile(seconds, percent) for percent in (50, 95, 99)}
    lab.note_measurement(flood.measurement(route, reader, seconds=found))
    return found["p50"]


_TYPICAL = Flood(rate=256, channels=8, instants=1)
SCENARIOS = [_TYPICAL.scenario("latency", f"latency of {_TYPICAL.sent}", partial(_compare_readers, flood=_TYPICAL))]
