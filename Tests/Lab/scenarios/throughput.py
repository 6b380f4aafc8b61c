"""As many notifications as a headset can send, with the host's clock: the only scenario where computing takes time."""

from __future__ import annotations

import dataclasses

from guest.clock import NANOSECONDS, now
from guest.lab import Lab
from lab.scenario import LEFT, Scenario

_SECONDS = 20.0
# 10 instants of 8 channels fill a notification of 244 bytes.
_FAST = dataclasses.replace(
    LEFT, details={"streams": [{"name": "eeg", "frequency": 5000, "channels": 8}], "packets_per_interval": 30}
)


def _flood(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.pass_time(2)
    began, sent = now(), _sent(lab)
    programs = {"eegsync": lab.acquisition.program, "bluetoothd": lab.bluetooth.bluetoothd}
    used = {name: program.processor_seconds() for name, program in programs.items()}
    lab.pass_time(_SECONDS)
    rate = (_sent(lab) - sent) / ((now() - began) / NANOSECONDS)
    for name, program in programs.items():
        share = (program.processor_seconds() - used[name]) / _SECONDS
        lab.note_figure(f"{rate:.0f} notifications/s of 244 bytes: {name} uses {share:.1%} of a processor")
    lab.undisturbed()
    lab.require(lab.missing("left") == 0, f"{lab.missing('left')} samples are missing on a link that never failed")


def _sent(lab: Lab) -> int:
    return int(lab.headsets.statistics("BEEG-0001")["counts"]["notified"])


SCENARIOS = [
    Scenario(
        21,
        "throughput",
        "500 notifications/s of 244 bytes",
        [_flood],
        headsets=(_FAST,),
        is_time_simulated=False,
        is_long=True,
        # Here the machine's speed counts.
        time_error_seconds=0.5,
    ),
]
