"""A headset: its firmware, its Bumble host and controller, its place in the room."""

from __future__ import annotations

import asyncio
import struct

from bumble import att, gatt, hci
from bumble.core import UUID, AdvertisingData
from bumble.device import Connection, Device, DeviceConfiguration
from bumble.hci import Address
from bumble.host import Host
from radio import PeripheralController, Radio

from .clock import NANOSECONDS, now
from .description import HeadsetDescription
from .faults import NotificationFaults
from .firmware import DEVICE_INFORMATION, SERIAL_NUMBER, Characteristic, Firmware, Link, Notification
from .journal import Journal
from .pairing import configure_pairing

_ATT_CHANNEL = 4
_ATT_HEADER = 3
# The largest notification of a link with data length extension: 251 less L2CAP and ATT headers.
_LONGEST_NOTIFICATION = 244
# Notifications in a connection interval after a stall. All at once would be more than a radio can do, and more than the
# socket between bluetoothd and its client takes: 278 of 20 bytes were seen, the rest was dropped.
_BURST = 20
_PROPERTIES = {
    "read": gatt.Characteristic.Properties.READ,
    "write": gatt.Characteristic.Properties.WRITE,
    "write-without-response": gatt.Characteristic.Properties.WRITE_WITHOUT_RESPONSE,
    "notify": gatt.Characteristic.Properties.NOTIFY,
}


class Headset:
    """One headset of the lab. `vanish` and the like are what the control socket calls."""

    def __init__(self, description: HeadsetDescription, firmware: Firmware, journal: Journal, radio: Radio) -> None:
        self.description = description
        self.firmware = firmware
        self.journal = journal
        self.faults = NotificationFaults()
        self.counts = {"notified": 0, "lost": 0, "duplicated": 0, "connections": 0}
        self._radio = radio
        self._mode = description.mode
        self._is_off = False
        self._connection: Connection | None = None
        self._link: Link | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._handles: dict[str, int] = {}
        self._was_available = False
        self._rotations = 0
        address = description.address
        self._controller: PeripheralController = radio.peripheral(description.name, address)
        host = Host()
        host.controller = self._controller
        configuration = DeviceConfiguration(
            name=description.name,
            address=Address(address),
            irk=description.identity_resolving_key,
            advertising_interval_min=description.advertising_interval_ms,
            advertising_interval_max=description.advertising_interval_ms,
        )
        self._device = Device(config=configuration, host=host)
        configure_pairing(self._device, description, journal)
        self._add_services()
        self._device.on(Device.EVENT_CONNECTION, self._connected)

    async def power_on(self) -> None:
        """Starts the headset for the first time."""
        await self._device.power_on()
        self.firmware.power_on(now())
        await self._advertise()

    def state(self) -> dict[str, object] | None:
        """What `resume` needs; None while it is switched off."""
        if self._is_off:
            return None
        return {"address": str(self._device.random_address), "mode": self._mode, "firmware": self.firmware.state()}

    async def resume(self, state: dict[str, object], shift: int) -> None:
        """Goes on where another process ended, see `headsets.state`."""
        await self._device.power_on()
        self.journal.note("resumed", shift=shift)
        self.firmware.resume(state["firmware"], shift, now())  # type: ignore[arg-type]
        self._mode = str(state["mode"])
        await self._change_address(Address(str(state["address"])))
        await self._advertise()

    # GATT

    def _add_services(self) -> None:
        information = dict(self.firmware.device_information())
        if self.description.serial and self.firmware.shows_serial:
            information[SERIAL_NUMBER] = self.description.serial.encode()
        if information:
            constants = [Characteristic(uuid, frozenset({"read"}), value) for uuid, value in information.items()]
            self._device.add_service(gatt.Service(UUID(DEVICE_INFORMATION), [self._characteristic(c) for c in constants]))
        for service in self.firmware.database():
            characteristics = [self._characteristic(c) for c in service.characteristics]
            self._device.add_service(gatt.Service(UUID(service.uuid), characteristics))
            for specification, characteristic in zip(service.characteristics, characteristics):
                self._handles[specification.uuid] = characteristic.handle

    def _characteristic(self, specification: Characteristic) -> gatt.Characteristic:
        uuid = specification.uuid
        properties = gatt.Characteristic.Properties(0)
        for name in specification.properties:
            properties |= _PROPERTIES[name]
        permissions = gatt.Characteristic.READABLE | gatt.Characteristic.WRITEABLE
        if self.description.needs_encryption:
            permissions |= (
                gatt.Characteristic.READ_REQUIRES_ENCRYPTION | gatt.Characteristic.WRITE_REQUIRES_ENCRYPTION
            )
        value = gatt.CharacteristicValue(
            read=lambda _connection: self._read(specification),
            write=lambda _connection, written: self._written(specification, written),
        )
        characteristic = gatt.Characteristic(UUID(uuid), properties, permissions, value)
        characteristic.on(
            gatt.Characteristic.EVENT_SUBSCRIPTION,
            lambda _bearer, notify, _indicate: self._subscribed(uuid, notify),
        )
        return characteristic

    def _read(self, specification: Characteristic) -> bytes:
        # Bumble's server itself refuses nothing for the want of a property, as real headsets do.
        if "read" not in specification.properties:
            raise att.ATT_Error(att.ATT_READ_NOT_PERMITTED_ERROR)
        return self.firmware.read(specification.uuid, now()) or specification.value

    def _written(self, specification: Characteristic, value: bytes) -> None:
        if specification.properties.isdisjoint({"write", "write-without-response"}):
            raise att.ATT_Error(att.ATT_WRITE_NOT_PERMITTED_ERROR)
        uuid = specification.uuid
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
        self.journal.note("subscribed", uuid=uuid, on=is_notifying)
        self.firmware.subscribed(uuid, now())
        self._schedule()

    # Connection

    def _connected(self, connection: Connection) -> None:
        self._connection = connection
        self._was_available = False
        self.counts["connections"] += 1
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
        handle = self._handles[notification.uuid]
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
            own_address_type=(
                hci.OwnAddressType.PUBLIC if self.description.is_public else hci.OwnAddressType.RANDOM
            ),
            advertising_data=_advertising_data(appearance.services),
            scan_response_data=_scan_response(appearance.name, appearance.manufacturer_data),
        )
        self.journal.note("advertising", mode=self._mode, address=str(self.address))
        self._note_availability()

    @property
    def address(self) -> Address:
        """The address that it advertises with."""
        return self._controller.public_address if self.description.is_public else self._controller.random_address

    @property
    def is_in_range(self) -> bool:
        """False while it has vanished."""
        return not self._radio.link.is_away(self._controller)

    def _note_availability(self) -> None:
        is_available = self.is_in_range and self._device.is_advertising and self._connection is None
        if is_available and not self._was_available:
            self.journal.note("available")
        self._was_available = is_available

    def vanish(self, seconds: float | None = None) -> None:
        """Out of range, for some time or until `return_`."""
        self._radio.link.vanish(self._controller)
        self.journal.note("vanished")
        self._was_available = False
        if seconds is not None:
            asyncio.get_running_loop().call_later(seconds, self.return_)

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

    def stall(self, seconds: float) -> None:
        """Holds all notifications back and then delivers them as fast as a radio would."""
        self.faults.stalled = True
        self.journal.note("stalled", seconds=seconds)
        asyncio.get_running_loop().call_later(seconds, self._release)

    def _release(self) -> None:
        for notification in self.faults.release(_BURST):
            self._transmit(notification)
        if self.faults.held and self._link is not None:
            asyncio.get_running_loop().call_later(self._link.interval / NANOSECONDS, self._release)

    def characteristic(self, name: str) -> str:
        """The UUID of one of its characteristics, of which a distinct part is enough."""
        found = [uuid for uuid in self._handles if name.lower() in uuid.lower()]
        if len(found) != 1:
            raise ValueError(f"{name} names {len(found)} characteristics of {self.description.name}")
        return found[0]

    def statistics(self) -> dict[str, object]:
        """Facts for the command `stats`."""
        return {
            "kind": self.description.kind,
            "address": self.address.to_string(with_type_qualifier=False),
            "inRange": self.is_in_range,
            "advertising": self._device.is_advertising,
            "connected": self._connection is not None,
            "notifying": sorted(self._link.notifying) if self._link else [],
            "counts": dict(self.counts),
            "last": dict(self.journal.last),
            "firmware": {} if self._is_off else self.firmware.statistics(now()),
        }

    def _spawn(self, work: object) -> None:
        # The task is kept by the set, since asyncio itself holds only weak references.
        task = asyncio.ensure_future(work)  # type: ignore[arg-type]
        _TASKS.add(task)
        task.add_done_callback(_TASKS.discard)


_TASKS: set[asyncio.Future[object]] = set()


def _advertising_data(services: tuple[str, ...]) -> bytes:
    """Flags and service UUIDs: 3 + 18 of 31 bytes. The name goes into the scan response."""
    parts: list[tuple[int, bytes]] = [(AdvertisingData.FLAGS, b"\x06")]
    for service in services:
        uuid = bytes(UUID(service))
        short = len(uuid) == 2
        parts.append(
            (
                AdvertisingData.COMPLETE_LIST_OF_16_BIT_SERVICE_CLASS_UUIDS
                if short
                else AdvertisingData.COMPLETE_LIST_OF_128_BIT_SERVICE_CLASS_UUIDS,
                uuid,
            )
        )
    return bytes(AdvertisingData(parts))


def _scan_response(name: str, manufacturer_data: bytes) -> bytes:
    parts: list[tuple[int, bytes]] = [(AdvertisingData.COMPLETE_LOCAL_NAME, name.encode())]
    if manufacturer_data:
        parts.append((AdvertisingData.MANUFACTURER_SPECIFIC_DATA, manufacturer_data))
    return bytes(AdvertisingData(parts))
