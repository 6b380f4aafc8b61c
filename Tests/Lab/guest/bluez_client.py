"""What programs other than eegsync do with a headset over D-Bus."""

from __future__ import annotations

import asyncio
from typing import Any

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from guest.process import LabError

_ADAPTER = "/org/bluez/hci0"
_CHARACTERISTIC = "org.bluez.GattCharacteristic1"
_FOUND_SECONDS = 10


class BlueZClient:
    """One connection to the bus, and one headset."""

    def __init__(self, bus: MessageBus, address: str) -> None:
        self._bus = bus
        self._device = f"{_ADAPTER}/dev_{address.replace(':', '_')}"

    @classmethod
    async def open(cls, address: str) -> BlueZClient:
        """A client that can be handed descriptors."""
        return cls(await MessageBus(bus_type=BusType.SYSTEM, negotiate_unix_fd=True).connect(), address)

    async def connect(self) -> None:
        """Finds the headset, connects and waits for its services."""
        await self._call(_ADAPTER, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "le")})
        await self._call(_ADAPTER, "org.bluez.Adapter1", "StartDiscovery")
        await self._until(lambda objects: self._device in objects)
        await self._call(_ADAPTER, "org.bluez.Adapter1", "StopDiscovery")
        await self._call(self._device, "org.bluez.Device1", "Connect")
        await self._until(lambda objects: objects[self._device]["org.bluez.Device1"]["ServicesResolved"].value)

    async def subscribe_all(self) -> None:
        """Subscribes to every characteristic that notifies."""
        for path, characteristic in await self._characteristics():
            if "notify" in characteristic["Flags"].value:
                await self._call(path, _CHARACTERISTIC, "StartNotify")

    async def write(self, uuid: str, value: bytes) -> None:
        """Writes a value with response."""
        path = await self._path(uuid)
        await self._call(path, _CHARACTERISTIC, "WriteValue", "aya{sv}", value, {"type": Variant("s", "request")})

    async def acquire_notify(self, uuid: str) -> int:
        """The descriptor that a characteristic's notifications come from."""
        path = await self._path(uuid)
        reply = await self._reply(path, _CHARACTERISTIC, "AcquireNotify", "a{sv}", {})
        return int(reply.unix_fds[reply.body[0]])

    async def _path(self, uuid: str) -> str:
        found = [path for path, known in await self._characteristics() if known["UUID"].value == uuid]
        if not found:
            raise LabError(f"{self._device} has no characteristic {uuid}")
        return found[0]

    async def _characteristics(self) -> list[tuple[str, dict[str, Any]]]:
        objects = (await self._objects()).items()
        mine = ((path, interfaces) for path, interfaces in objects if path.startswith(self._device))
        return [(path, interfaces[_CHARACTERISTIC]) for path, interfaces in mine if _CHARACTERISTIC in interfaces]

    async def _until(self, condition: Any) -> None:
        for _ in range(_FOUND_SECONDS * 10):
            if condition(await self._objects()):
                return
            await asyncio.sleep(0.1)
        raise LabError(f"{self._device} is not as it should be")

    async def _objects(self) -> dict[str, Any]:
        found: dict[str, Any] = await self._call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")
        return found

    async def _call(self, path: str, interface: str, member: str, signature: str = "", *body: object) -> Any:
        reply = await self._reply(path, interface, member, signature, *body)
        return reply.body[0] if reply.body else None

    async def _reply(self, path: str, interface: str, member: str, signature: str, *body: object) -> Message:
        reply = await self._bus.call(
            Message(
                destination="org.bluez", path=path, interface=interface, member=member, signature=signature, body=list(body)
            )
        )
        assert reply is not None
        if reply.message_type == MessageType.ERROR:
            raise LabError(f"{member}: {reply.error_name}: {reply.body}")
        return reply
