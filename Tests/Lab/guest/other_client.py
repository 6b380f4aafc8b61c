"""Another program that uses a headset over D-Bus: connects, subscribes to every characteristic, and stays.

    python -m guest.other_client ADDRESS
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from dbus_fast import BusType, Message, MessageType, Variant
from dbus_fast.aio import MessageBus

from guest.process import LabError

_ADAPTER = "/org/bluez/hci0"
_FOUND_SECONDS = 10


class OtherClient:
    """One connection to the bus, and what it does there."""

    def __init__(self, bus: MessageBus, address: str) -> None:
        self._bus = bus
        self._device = f"{_ADAPTER}/dev_{address.replace(':', '_')}"

    async def hold(self) -> None:
        """Finds the headset, connects and subscribes."""
        await self._call(_ADAPTER, "org.bluez.Adapter1", "SetDiscoveryFilter", "a{sv}", {"Transport": Variant("s", "le")})
        await self._call(_ADAPTER, "org.bluez.Adapter1", "StartDiscovery")
        await self._until(lambda objects: self._device in objects)
        await self._call(_ADAPTER, "org.bluez.Adapter1", "StopDiscovery")
        await self._call(self._device, "org.bluez.Device1", "Connect")
        await self._until(lambda objects: objects[self._device]["org.bluez.Device1"]["ServicesResolved"].value)
        for path, interfaces in (await self._objects()).items():
            characteristic = interfaces.get("org.bluez.GattCharacteristic1")
            if path.startswith(self._device) and characteristic and "notify" in characteristic["Flags"].value:
                await self._call(path, "org.bluez.GattCharacteristic1", "StartNotify")

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
        reply = await self._bus.call(
            Message(
                destination="org.bluez",
                path=path,
                interface=interface,
                member=member,
                signature=signature,
                body=list(body),
            )
        )
        assert reply is not None
        if reply.message_type == MessageType.ERROR:
            raise LabError(f"{member}: {reply.error_name}: {reply.body}")
        return reply.body[0] if reply.body else None


async def main(address: str) -> None:
    bus = await MessageBus(bus_type=BusType.SYSTEM).connect()
    await OtherClient(bus, address).hold()
    print("holds it", flush=True)
    await asyncio.get_running_loop().create_future()


asyncio.run(main(sys.argv[1]))
