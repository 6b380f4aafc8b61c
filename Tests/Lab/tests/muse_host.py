"""A central for the headsets that speak as a Muse does."""

from __future__ import annotations

from headsets import muse_packets as p
from headsets.clock import NANOSECONDS as S
from headsets.firmware import Link
from headsets.muse import MuseFirmware


class MuseHost:
    """Takes every turn, in virtual time."""

    def __init__(self, firmware: MuseFirmware, *uuids: str) -> None:
        self.firmware = firmware
        self.now = 0
        self.packets: list[tuple[str, bytes]] = []
        self.firmware.power_on(0)
        self.firmware.connected(Link(notifying={p.CONTROL, *uuids}), 0)

    def say(self, *texts: str) -> None:
        for text in texts:
            self.firmware.write(p.CONTROL, bytes([len(text) + 1]) + text.encode() + b"\n", self.now)

    def run(self, seconds: float) -> None:
        end = self.now + round(seconds * S)
        while (due := self.firmware.next_turn(self.now)) is not None and due <= end:
            self.now = max(self.now, due)
            self.packets += [(n.uuid, n.value) for n in self.firmware.turn(self.now)]
        self.now = end
