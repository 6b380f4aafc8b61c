"""How long a sample is on its way from the radio to a program that reads the tap, with the host's clock.

It begins when the adapter's controller hands the packet to the kernel, and ends when the reader has it.
"""

from __future__ import annotations

import sys
from functools import partial

from guest import arrivals
from guest.lab import Lab
from guest.process import LabError, output_of
from lab.measurements import percentile

from .flood import ROUTES, Flood, record_over

_SECONDS = 20
# At most so long, of so many of 100 blocks.
_GOALS = {50: 0.005, 99: 0.020}


def _measure(lab: Lab, flood: Flood) -> None:
    for route in ROUTES:
        record_over(lab, route)
        file = lab.share / f"{route}.tap"
        lab.headsets.ask("adapter", "note-handovers")
        socket = str(lab.share / "eegsync.sqlite-tap")
        output_of([sys.executable, "-B", "-m", "guest.tap_reader", socket, str(_SECONDS), str(file)])
        handed = arrivals.of_handovers(lab.headsets.ask("adapter", "take-handovers")["handovers"])
        lab.finish()
        read = arrivals.of_tap(file, lab.first_index(), handed)
        # A reader that comes gets what was assembled since the last commit: blocks that were handed over before it came.
        came = min(read.values(), default=0)
        seconds = sorted((instant - handed[index]) / 1e9 for index, instant in read.items() if handed[index] >= came)
        # Beginning and end are not those of the handovers.
        if len(seconds) < 0.9 * flood.rate * _SECONDS:
            raise LabError(f"only {len(seconds)} of {flood.rate * _SECONDS} latencies are known ({route})")
        found = {percent: percentile(seconds, percent) for percent in (50, 95, 99)}
        text = ", ".join(f"p{percent} {value * 1e3:.2f} ms" for percent, value in found.items())
        lab.note_figure(f"{flood.sent}, {route}: from the radio to a reader of the tap {text}")
        missed = [percent for percent, goal in _GOALS.items() if found[percent] > goal]
        lab.require(not missed, f"a reader of the tap waits too long ({route}): {text}")


_FLOODS = {
    "tap": Flood(rate=256, channels=8, instants=1),
    # The largest block of 8 channels, as in the scenario "throughput".
    "tap-throughput": Flood(rate=500, channels=8, instants=9),
}
SCENARIOS = [
    flood.scenario(name, f"from the radio to a reader of the tap, {flood.sent}", partial(_measure, flood=flood))
    for name, flood in _FLOODS.items()
]
