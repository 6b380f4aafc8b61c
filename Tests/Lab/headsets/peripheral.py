"""What headsets of every transport have in common: their place in the room, and the faults of what they send."""

from __future__ import annotations

import asyncio

from radio import Radio
from radio.controller import LowEnergyController

from .description import HeadsetDescription
from .faults import NotificationFaults
from .firmware import Firmware
from .journal import Journal


class Peripheral:
    """A firmware with a controller on the radio. The public methods are what the control socket calls."""

    _controller: LowEnergyController

    def __init__(self, description: HeadsetDescription, firmware: Firmware, journal: Journal, radio: Radio) -> None:
        self.description = description
        self.firmware = firmware
        self.journal = journal
        self.faults = NotificationFaults()
        self.counts = {"notified": 0, "lost": 0, "duplicated": 0, "connections": 0}
        self._radio = radio

    @property
    def is_in_range(self) -> bool:
        """False while it has vanished."""
        return not self._radio.link.is_away(self._controller)

    def vanish(self, seconds: float | None = None) -> None:
        """Out of range, for some time or until `return_`."""
        self._radio.link.vanish(self._controller)
        self.journal.note("vanished")
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, self.return_)

    def return_(self) -> None:
        """Into range again."""
        raise NotImplementedError

    def stall(self, seconds: float) -> None:
        """Holds back all that is sent, and then delivers it as fast as the transport does."""
        self.faults.stalled = True
        self.journal.note("stalled", seconds=seconds)
        asyncio.get_running_loop().call_later(seconds, self._release)

    def _release(self) -> None:
        raise NotImplementedError
