"""A headset: its firmware, its Bumble host and controller, its place in the room."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Coroutine
from typing import Any

from bumble import att, hci
from bumble.device import Connection, DeviceConfiguration
from bumble.hci import Address
from bumble.host import Host

from radio import PeripheralController, Radio

from .advertisement import advertising_data, scan_response_data
from .clock import NANOSECONDS, now, shift
from .database import GattDatabase
from .description import HeadsetDescription
from .device import HeadsetDevice
from .firmware import Firmware, Link, Notification
from .journal import Journal
from .pairing import Bonds, configure_pairing
from .peripheral import Peripheral

_ATT_CHANNEL = 4
_ATT_HEADER = 3
# The largest notification of a link with data length extension: 251 less L2CAP and ATT headers.
_LONGEST_NOTIFICATION = 244
# Notifications in a connection interval after a stall. All at once would be more than a radio can do, and more than the
# socket between bluetoothd and its client takes: 278 of 20 bytes were seen, the rest was dropped.
_BURST = 20


class Headset(Peripheral):
    """One headset of the lab with a GATT database."""

    _controller: PeripheralController

    def __init__(self, description: HeadsetDescription, firmware: Firmware, journal: Journal, radio: Radio) -> None:
        super().__init__(description, firmware, journal, radio)
        self._mode = description.mode
        self._is_off = False
        self._connection: Connection | None = None
        self._link: Link | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._was_available = False
        self._rotations = 0
        address = description.address
        self._controller = radio.peripheral(description.name, address)
        host = Host()
        host.controller = self._controller
        configuration = DeviceConfiguration(
            name=description.name,
            address=Address(address),
            irk=description.identity_resolving_key,
            advertising_interval_min=description.advertising_interval_ms,
            advertising_interval_max=description.advertising_interval_ms,
        )
        self._device = HeadsetDevice(config=configuration, host=host)
        self.bonds = Bonds()
        self._device.keystore = self.bonds
        configure_pairing(self._device, description, journal)
        self._database = GattDatabase(self._device, firmware, description, self._written, self._subscribed)
        self._device.on(HeadsetDevice.EVENT_CONNECTION, self._connected)

    async def power_on(self) -> None:
        """Starts the headset for the first time."""
        await self._device.power_on()
        if self.description.is_private:
            await self._change_address(self.description.private_address(0))
        self.firmware.power_on(now())
        await self._advertise()

    def state(self) -> dict[str, Any]:
        """What `resume` needs."""
        return {
            "address": str(self._device.random_address),
            "rotations": self._rotations,
            "mode": self._mode,
            "isOff": self._is_off,
            "isConnected": self._connection is not None,
            "bonds": self.bonds.state(),
            "firmware": self.firmware.state(),
        }

    async def resume(self, state: dict[str, Any]) -> None:
        """Goes on where another process ended, see `headsets.state`; a restart that was under way is over."""
        await self._device.power_on()
        self.firmware.resume(state["firmware"], now())
        if state["isOff"]:
            self.firmware.power_on(now())
        self._mode = state["mode"]
        self._rotations = state["rotations"]
        self.bonds.resume(state["bonds"])
        await self._change_address(Address(state["address"]))
        await self._advertise()

    # GATT

    def _written(self, uuid: str, value: bytes) -> None:
        if self.description.verbose:
            self.journal.note("written", uuid=uuid, value=bytes(value).hex())
        if not self._is_off:
            self.firmware.write(uuid, bytes(value), now())
            self._obey()
            self._schedule()

    def _obey(self) -> None:
        for request in self.firmware.requests:
            self._spawn(self.reboot() if request == "reboot" else self.disconnect())
        self.firmware.requests.clear()

    def _subscribed(self, uuid: str, is_notifying: bool) -> None:
        if self._link is None:
            return
        if is_notifying:
            self._link.notifying.add(uuid)
        else:
            self._link.notifying.discard(uuid)
        self.journal.note("subscribed", uuid=uuid, on=is_notifying, requests=self._device.request_count)
        self.firmware.subscribed(uuid, now())
        self._schedule()

    # Connection

    def _connected(self, connection: Connection) -> None:
        self._connection = connection
        self._was_available = False
        self.counts["connections"] += 1
        self._device.request_count = 0
        self._link = Link()
        self._refresh_link()
        connection.on(Connection.EVENT_DISCONNECTION, lambda reason: self._disconnected(connection, reason))
        connection.on(Connection.EVENT_CONNECTION_ATT_MTU_UPDATE, self._refresh_link)
        self.journal.note("connected", peer=str(connection.peer_address))
        self.firmware.connected(self._link, now())
        self._schedule()

    def _refresh_link(self) -> None:
        if self._connection is None or self._link is None:
            return
        self._link.longest = min(self._connection.att_mtu - _ATT_HEADER, _LONGEST_NOTIFICATION)
        lower = self._controller.le_connections.get(self._connection.peer_address)
        self._link.interval = round(getattr(lower, "interval", 0.03) * NANOSECONDS)

    def _disconnected(self, connection: Connection, reason: int) -> None:
        if self._connection is not connection:
            return
        self._connection = None
        self._link = None
        self.faults.held.clear()
        self.journal.note("disconnected", reason=reason)
        if not self._is_off:
            self.firmware.disconnected(now())
            self._spawn(self._advertise())
        self._schedule()

    # Notifications

    def _schedule(self, instant: int | None = None) -> None:
        """Arms one timer for the firmware's next turn, if it has one."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._is_off:
            return
        instant = now() if instant is None else instant
        due = self.firmware.next_turn(instant)
        if due is not None:
            delay = max(0, due - instant) / NANOSECONDS
            self._timer = asyncio.get_running_loop().call_later(delay, self._turn)

    def _turn(self) -> None:
        self._timer = None
        instant = now()
        due = self.firmware.next_turn(instant)
        # asyncio may fire a little early, within its clock's resolution.
        if due is not None and due <= instant:
            self._send(self.firmware.turn(instant))
        self._schedule(instant)

    def _send(self, notifications: list[Notification]) -> None:
        for notification, fault in self.faults.pass_through(notifications):
            if fault is not None:
                self.counts[fault] += 1
                self.journal.note(fault, uuid=notification.uuid, value=notification.value.hex())
            if fault != "lost":
                self._transmit(notification)

    def _transmit(self, notification: Notification) -> None:
        """Sends a notification by the shortest way; Bumble's own takes a coroutine, two queues and five conversions."""
        connection, link = self._connection, self._link
        if connection is None or link is None or notification.uuid not in link.notifying:
            return
        lower = self._controller.le_connections.get(connection.peer_address)
        if lower is None:
            return
        value = notification.value[: link.longest]
        opcode = att.Opcode.ATT_HANDLE_VALUE_NOTIFICATION
        handle = self._database.handles[notification.uuid]
        pdu = struct.pack("<HHBH", len(value) + _ATT_HEADER, _ATT_CHANNEL, opcode, handle) + value
        self._radio.link.deliver(lower, pdu)
        self.counts["notified"] += 1

    # The room

    async def _advertise(self) -> None:
        """Advertises as the mode says; does nothing while connected or off."""
        if self._device.is_advertising:
            await self._device.stop_advertising()
        if self._mode == "off" or self._is_off or self._connection is not None:
            return
        appearance = self.firmware.appearance(self._mode == "pairing")
        await self._device.start_advertising(
            own_address_type=(hci.OwnAddressType.PUBLIC if self.description.is_public else hci.OwnAddressType.RANDOM),
            advertising_data=advertising_data(appearance),
            scan_response_data=scan_response_data(appearance),
        )
        self.journal.note("advertising", mode=self._mode, address=str(self.address))
        self._note_availability()

    @property
    def address(self) -> Address:
        """The address that it advertises with."""
        return self._controller.public_address if self.description.is_public else self._controller.random_address

    def _note_availability(self) -> None:
        is_available = self.is_in_range and self._device.is_advertising and self._connection is None
        if is_available and not self._was_available:
            self.journal.note("available")
        self._was_available = is_available

    def vanish(self, seconds: float | None = None) -> None:
        """Out of range, for some time or until `return_`."""
        self._was_available = False
        super().vanish(seconds)

    def return_(self) -> None:
        """Into range again."""
        if self.is_in_range:
            return
        self._radio.link.comes_back(self._controller)
        self.journal.note("returned", connected=self._connection is not None)
        self._note_availability()

    async def disconnect(self, reason: int = hci.HCI_ErrorCode.REMOTE_USER_TERMINATED_CONNECTION_ERROR) -> None:
        """The headset ends the connection."""
        if self._connection is not None:
            await self._connection.disconnect(reason)

    async def reboot(self, seconds: float | None = None) -> None:
        """Power off and on again, without a word to the central."""
        if self._is_off:
            return
        self._is_off = True
        self.firmware.power_off(now())
        self.journal.note("poweredOff")
        self._was_available = False
        if self._device.is_advertising:
            await self._device.stop_advertising()
        for lower in list(self._controller.le_connections.values()):
            self._radio.link.silence(lower, while_away=False)
            self._controller.on_le_disconnected(lower, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)
        self._schedule()
        delay = self.description.boot_seconds if seconds is None else seconds
        asyncio.get_running_loop().call_later(delay, lambda: self._spawn(self._boot()))

    async def _boot(self) -> None:
        self._is_off = False
        self.firmware.power_on(now())
        await self._advertise()
        self._schedule()

    async def advertise(self, mode: str) -> None:
        """`on`, `off` or `pairing`; takes effect at once, or when the connection ends."""
        if mode not in ("on", "off", "pairing"):
            raise ValueError(f"no such advertising mode: {mode}")
        self._mode = mode
        await self._advertise()
        if mode == "off":
            self._was_available = False
            self.journal.note("silent")

    async def rotate(self, address: str | None = None) -> str:
        """A new random address: a resolvable private one, or the given one."""
        if self.description.is_public:
            raise ValueError(f"{self.description.name} advertises with its public address, which never changes")
        self._rotations += 1
        new = Address(address) if address else self.description.private_address(self._rotations)
        if self._device.is_advertising:
            await self._device.stop_advertising()
        await self._change_address(new)
        self.journal.note("rotated", address=str(new))
        await self._advertise()
        return new.to_string(with_type_qualifier=False)

    async def _change_address(self, new: Address) -> None:
        # Bumble's Device.update_rpa() tells the controller the address that it had before.
        self._device.random_address = new
        await self._device.send_sync_command(hci.HCI_LE_Set_Random_Address_Command(random_address=new))

    def low_power(self) -> bool:
        """Puts the headset to sleep; False where it cannot sleep."""
        sleeps = self.firmware.low_power(now())
        self._schedule()
        return sleeps

    def press(self) -> None:
        """A person presses its button."""
        self.firmware.press(now())
        self._schedule()

    def _release(self) -> None:
        for notification in self.faults.release(_BURST):
            self._transmit(notification)
        if self.faults.held and self._link is not None:
            asyncio.get_running_loop().call_later(self._link.interval / NANOSECONDS, self._release)

    def characteristic(self, name: str) -> str:
        """The UUID of one of its characteristics, of which a distinct part is enough."""
        return self._database.uuid(name)

    def statistics(self) -> dict[str, Any]:
        """Facts for the command `stats`."""
        return {
            "kind": self.description.kind,
            "address": self.address.to_string(with_type_qualifier=False),
            "inRange": self.is_in_range,
            "advertising": self._device.is_advertising,
            "connected": self._connection is not None,
            "interval": self._link.interval if self._link else None,
            "notifying": sorted(self._link.notifying) if self._link else [],
            "counts": dict(self.counts),
            "last": {event: instant - shift() for event, instant in self.journal.last.items()},
            "firmware": {} if self._is_off else self.firmware.statistics(now()),
        }

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        # The task is kept by the set, since asyncio itself holds only weak references.
        task = asyncio.ensure_future(work)
        _TASKS.add(task)
        task.add_done_callback(_TASKS.discard)


_TASKS: set[asyncio.Task[None]] = set()
