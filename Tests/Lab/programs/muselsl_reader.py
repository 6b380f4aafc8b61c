"""muselsl connects to a Muse, starts it, listens, stops it, and writes what was delivered, a line of JSON for each event.

Arguments: the part of the name to look for, and how many seconds to listen.

Its classes for the headset and for bleak are used as they are, but for two things. It writes and recognises characteristics by
the handles of a real Muse; bluetoothd gives out handles itself, and its own services stand where a Muse has its, so the handles
are translated here by the characteristics' UUIDs. And bleak takes any adapter of the machine, of which one is the headset's.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from bleak.backends.bluezdbus.manager import BlueZManager
from muselsl import backends, constants
from muselsl.muse import Muse

# Handles of the values in a real Muse, as the comments in muselsl.constants have them.
_HANDLES = {
    constants.MUSE_GATT_ATTR_STREAM_TOGGLE: 0x0E,
    constants.MUSE_GATT_ATTR_TP9: 0x20,
    constants.MUSE_GATT_ATTR_AF7: 0x23,
    constants.MUSE_GATT_ATTR_AF8: 0x26,
    constants.MUSE_GATT_ATTR_TP10: 0x29,
    constants.MUSE_GATT_ATTR_RIGHTAUX: 0x2C,
}
_SCAN_SECONDS = 5


def _say(**event: Any) -> None:
    print(json.dumps({"boottime": time.clock_gettime_ns(time.CLOCK_BOOTTIME), **event}), flush=True)


class _TranslatedDevice(backends.BleakDevice):  # type: ignore[misc]
    """A device whose handles are those of a real Muse."""

    def char_write_handle(self, value_handle: int, value: Any, wait_for_response: bool = True, timeout: float = 30) -> None:
        uuid = next(uuid for uuid, handle in _HANDLES.items() if handle == value_handle)
        _say(event="command", text=bytes(value[1:-1]).decode("ascii"))
        self.char_write_uuid(uuid, value, wait_for_response)

    def subscribe(self, uuid: str, callback: Any = None, indication: bool = False, wait_for_response: bool = True) -> None:
        super().subscribe(uuid, lambda _, data: callback(_HANDLES[uuid], data))


def main() -> None:
    BlueZManager.get_default_adapter = lambda _: "/org/bluez/hci0"
    backends.BleakDevice = _TranslatedDevice
    found = [device for device in backends.BleakBackend().scan(_SCAN_SECONDS) if sys.argv[1] in (device["name"] or "")]
    _say(event="found", devices=found)

    def deliver(data: Any, _: Any) -> None:
        _say(event="eeg", number=muse.last_tm, rows=data.T.tolist())

    muse = Muse(
        found[0]["address"], callback_eeg=deliver, callback_control=lambda message: _say(event="reply", text=message), preset=21
    )
    if not muse.connect():
        sys.exit("muselsl did not connect")
    muse.ask_control()
    backends.sleep(1)
    muse.start()
    _say(event="started")
    backends.sleep(float(sys.argv[2]))
    _say(event="stops")
    muse.stop()
    backends.sleep(2)
    muse.disconnect()
    _say(event="disconnected")


main()
