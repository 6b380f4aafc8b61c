"""A headset with a serial port over Bluetooth Classic (RFCOMM)."""

from __future__ import annotations

import asyncio
from typing import Any

from bumble import hci, l2cap, rfcomm
from bumble.core import UUID
from bumble.device import Connection, Device, DeviceConfiguration
from bumble.host import Host

from radio import Radio, SerialController

from .clock import NANOSECONDS, now, shift
from .description import HeadsetDescription
from .firmware import Firmware, Link
from .journal import Journal
from .pairing import LinkKeys
from .peripheral import Peripheral
from .thinkgear import SERIAL_PORT

_CHANNEL = 1
_SERVICE_RECORD = 0x00010001
_SERIAL_PORT_PROFILE = 0x1101
# Core 5.4, volume 3, part A, 4.3.
_AUTHENTICATION_PENDING = 1


class SerialHeadset(Peripheral):
    """What `Headset` is for GATT; of its commands, those that a serial port has."""

    _controller: SerialController

    def __init__(self, description: HeadsetDescription, firmware: Firmware, journal: Journal, radio: Radio) -> None:
        super().__init__(description, firmware, journal, radio)
        self._controller = radio.serial(description.name, description.address)
        self.bonds = LinkKeys()
        host = Host()
        host.controller = self._controller
        configuration = DeviceConfiguration(
            name=description.name, classic_enabled=True, le_enabled=False, classic_ssp_enabled=False, classic_sc_enabled=False
        )
        self._device = Device(config=configuration, host=host)
        if description.has_record:
            record = rfcomm.make_service_sdp_records(_SERVICE_RECORD, _CHANNEL, UUID.from_16_bits(_SERIAL_PORT_PROFILE))
            self._device.sdp_service_records = {_SERVICE_RECORD: record}
        self._server = rfcomm.Server(self._device)
        self._server.listen(self._opened, _CHANNEL)
        self._device.on(Device.EVENT_CONNECTION, self._connected)
        if description.pin is not None:
            self._require(description.pin, is_at_port=description.pin_at == "port")
        self._port: rfcomm.DLC | None = None
        self._timer: asyncio.TimerHandle | None = None

    def _require(self, pin: str, is_at_port: bool) -> None:
        """Lets nobody in who does not know the PIN, or the key of an earlier pairing."""
        self._controller.require_pin(pin, self.bonds.keys, lambda: self.journal.note("paired"), not is_at_port)
        if not is_at_port:
            return
        manager = self._device.l2cap_channel_manager
        open_channel = manager.on_l2cap_connection_request

        def asked(connection: Connection, channel: int, request: l2cap.L2CAP_Connection_Request) -> None:
            if request.psm != rfcomm.RFCOMM_PSM:
                open_channel(connection, channel, request)
                return
            pending = l2cap.L2CAP_Connection_Response(
                identifier=request.identifier,
                destination_cid=0,
                source_cid=request.source_cid,
                result=l2cap.L2CAP_Connection_Response.Result.CONNECTION_PENDING,
                status=_AUTHENTICATION_PENDING,
            )
            manager.send_control_frame(connection, channel, pending)
            self._controller.authenticate(connection.peer_address, lambda: open_channel(connection, channel, request))

        setattr(manager, "on_l2cap_connection_request", asked)

    async def power_on(self) -> None:
        """Starts the headset for the first time."""
        await self._begin()
        self.firmware.power_on(now())

    async def _begin(self) -> None:
        await self._device.power_on()
        await self._device.set_discoverable(True)
        await self._device.set_connectable(True)
        self.journal.note("available")

    def state(self) -> dict[str, Any]:
        """What `resume` needs."""
        return {"isConnected": self._port is not None, "bonds": self.bonds.state(), "firmware": self.firmware.state()}

    async def resume(self, state: dict[str, Any]) -> None:
        """Goes on where another process ended, see `headsets.state`."""
        self.bonds.resume(state["bonds"])
        await self._begin()
        self.firmware.resume(state["firmware"], now())

    # Connection

    def _connected(self, connection: Connection) -> None:
        self.counts["connections"] += 1
        self.journal.note("connected", peer=str(connection.peer_address))
        connection.on(Connection.EVENT_DISCONNECTION, self._disconnected)

    def _opened(self, port: rfcomm.DLC) -> None:
        self._port = port
        port.sink = lambda written: self._written(port, bytes(written))
        port.on(rfcomm.DLC.EVENT_CLOSE, lambda: self._closed(port))
        self.journal.note("subscribed", uuid=SERIAL_PORT, on=True)
        self.firmware.connected(Link(longest=port.mtu, notifying={SERIAL_PORT}), now())
        self._schedule()

    def _written(self, port: rfcomm.DLC, value: bytes) -> None:
        if self._port is port:
            self.firmware.write(SERIAL_PORT, value, now())
            self._schedule()

    def _closed(self, port: rfcomm.DLC) -> None:
        if self._port is port:
            self._port = None
            self.faults.held.clear()
            self.journal.note("subscribed", uuid=SERIAL_PORT, on=False)
            self.firmware.disconnected(now())
            self._schedule()

    def _disconnected(self, reason: int) -> None:
        if self._port is not None:
            self._closed(self._port)
        self.journal.note("disconnected", reason=reason)
        if self.is_in_range:
            self.journal.note("available")

    # Sending

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        instant = now()
        due = self.firmware.next_turn(instant)
        if due is not None:
            delay = max(0, due - instant) / NANOSECONDS
            self._timer = asyncio.get_running_loop().call_later(delay, self._turn)

    def _turn(self) -> None:
        for notification, fault in self.faults.pass_through(self.firmware.turn(now())):
            if fault is not None:
                self.counts[fault] += 1
                self.journal.note(fault, uuid=notification.uuid, value=notification.value.hex())
            if fault != "lost" and self._port is not None:
                self._port.write(notification.value)
                self.counts["notified"] += 1
        self._schedule()

    # The room

    def return_(self) -> None:
        """Into range again."""
        if not self.is_in_range:
            self._radio.link.comes_back(self._controller)
            is_connected = bool(self._controller.classic_connections)
            self.journal.note("returned", connected=is_connected)
            if not is_connected:
                self.journal.note("available")

    async def disconnect(self, reason: int = hci.HCI_ErrorCode.REMOTE_USER_TERMINATED_CONNECTION_ERROR) -> None:
        """The headset ends the connection."""
        for connection in list(self._device.connections.values()):
            await connection.disconnect(reason)

    async def reboot(self, seconds: float | None = None) -> None:
        """Not for this kind: switched off, it is as good as out of range."""
        raise ValueError("a headset with a serial port vanishes and returns")

    async def advertise(self, mode: str) -> None:
        """Bluetooth Classic has no advertising."""
        raise ValueError("a headset with a serial port does not advertise")

    async def rotate(self, address: str | None = None) -> str:
        """Bluetooth Classic has no private addresses."""
        raise ValueError("a headset with a serial port keeps its address")

    def low_power(self) -> bool:
        """There is no such state."""
        return False

    def press(self) -> None:
        """A person presses its button."""
        self.firmware.press(now())

    def _release(self) -> None:
        # All at once: the port has a flow control of its own.
        for notification in self.faults.release(len(self.faults.held)):
            if self._port is not None:
                self._port.write(notification.value)

    def characteristic(self, name: str) -> str:
        """It has one port only."""
        return SERIAL_PORT

    def statistics(self) -> dict[str, object]:
        """Facts for the command `stats`."""
        return {
            "kind": self.description.kind,
            "address": self.description.address,
            "inRange": self.is_in_range,
            "advertising": False,
            "connected": bool(self._controller.classic_connections),
            "notifying": [SERIAL_PORT] if self._port is not None else [],
            "counts": dict(self.counts),
            "last": {event: instant - shift() for event, instant in self.journal.last.items()},
            "firmware": self.firmware.statistics(now()),
        }
