"""Headsets outlive the machine that they are simulated on.

When the lab cuts the power of the whole guest and boots it again, real headsets would have gone on sampling. With `--state
DIRECTORY`, their state is saved once a second; the next process finds it there and goes on, `--off SECONDS` after the last
save. The headsets' time goes on, too, while CLOCK_BOOTTIME begins anew with each machine.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from . import clock
from .control import AnyHeadset

_SAVE_PERIOD = 1.0
_CONNECTION_TIMEOUT = 0x08


class StateDirectory:
    """Saves all headsets, and lets them go on."""

    def __init__(self, headsets: list[AnyHeadset], path: Path) -> None:
        self._headsets = headsets
        self._path = path

    async def power_on(self, off_seconds: float) -> None:
        """Switches the headsets on for the first time, or lets them go on."""
        saved = {h: json.loads(p.read_text(encoding="utf-8")) for h in self._headsets if (p := self._file(h)).exists()}
        if saved:
            newest = max(entry["time"] for entry in saved.values())
            clock.go_on_from(newest + round(off_seconds * clock.NANOSECONDS))
        for headset, entry in saved.items():
            if entry["state"]["isConnected"]:
                headset.journal.note("disconnected", entry["time"], reason=_CONNECTION_TIMEOUT)
        for headset in self._headsets:
            headset.journal.note("machineBooted", shift=clock.shift())
            if headset in saved:
                await headset.resume(saved[headset]["state"])
            else:
                await headset.power_on()
        self._save()

    def _file(self, headset: AnyHeadset) -> Path:
        return self._path / f"{headset.description.name}.json"

    def _save(self) -> None:
        for headset in self._headsets:
            # A file that is replaced is whole, whenever the power is cut.
            fresh = self._file(headset).with_suffix(".new")
            fresh.write_text(json.dumps({"time": clock.now(), "state": headset.state()}), encoding="utf-8")
            fresh.replace(self._file(headset))
        asyncio.get_running_loop().call_later(_SAVE_PERIOD, self._save)
