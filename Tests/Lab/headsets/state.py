"""A headset outlives the machine that it is simulated on.

When the lab kills the whole guest and boots it again, a real headset would have gone on sampling. With `--state DIRECTORY`,
each headset's state is saved once a second; the next process finds it there and goes on, `--off SECONDS` after the last save.
CLOCK_BOOTTIME begins anew with each guest: `shift` is what is added to old instants to have them in the new one's time.
"""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

from .clock import NANOSECONDS, now
from .headset import Headset

_SAVE_PERIOD = 1.0


class StateFile:
    """Saves and resumes one headset."""

    def __init__(self, headset: Headset, directory: Path) -> None:
        self._headset = headset
        self._path = directory / f"{headset.description.name}.json"

    async def power_on(self, off_seconds: float) -> None:
        """Switches the headset on for the first time, or lets it go on."""
        if self._path.exists():
            saved = json.loads(self._path.read_text(encoding="utf-8"))
            shift = now() - saved["time"] - round(off_seconds * NANOSECONDS)
            await self._headset.resume(saved["state"], shift)
        else:
            await self._headset.power_on()
        self._save()

    def _save(self) -> None:
        state = self._headset.state()
        if state is not None:
            # A file that is replaced is whole, whenever the machine is killed.
            fresh = self._path.with_suffix(".new")
            fresh.write_text(json.dumps({"time": now(), "state": state}), encoding="utf-8")
            os.replace(fresh, self._path)
        asyncio.get_running_loop().call_later(_SAVE_PERIOD, self._save)
