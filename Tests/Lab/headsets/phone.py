"""A phone that looks at the machine: finds it, connects, reads, listens, writes, pairs with the passkey that it is given."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from typing import Any

from bumble import att
from bumble.core import UUID, ProtocolError
from bumble.device import Connection, Device, DeviceConfiguration, Peer
from bumble.gatt_client import CharacteristicProxy
from bumble.hci import Address, AddressType
from bumble.host import Host
from bumble.keys import MemoryKeyStore
from bumble.pairing import PairingConfig, PairingDelegate

from radio import Radio

from .clock import boottime

ADDRESS = "F0:00:00:00:00:07"
_TIMEOUT_SECONDS = 20.0


class KeyboardDelegate(PairingDelegate):
    """Enters the passkey that a person types, whenever that is."""

    def __init__(self) -> None:
        super().__init__(PairingDelegate.IoCapability.KEYBOARD_INPUT_ONLY)
        self.passkey: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def get_number(self) -> int | None:
        return await self.passkey


class Phone:
    """The methods are what the control socket calls."""

    def __init__(self, radio: Radio) -> None:
        self._controller = radio.phone(ADDRESS)
        host = Host()
        host.controller = self._controller
        self._device = Device(config=DeviceConfiguration(name="phone", address=Address(ADDRESS)), host=host)
        self._device.keystore = MemoryKeyStore()
        self._device.pairing_config_factory = self._pairing
        self._delegate: KeyboardDelegate | None = None
        self._connection: Connection | None = None
        self._peer: Peer | None = None
        self._pairing_task: asyncio.Task[None] | None = None
        self._found: dict[str, dict[str, str]] = {}
        self._notified: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)

    async def power_on(self) -> None:
        """Switches it on."""
        await self._device.power_on()
        self._device.on(Device.EVENT_ADVERTISEMENT, self._advertised)

    def _pairing(self, _connection: Connection) -> PairingConfig:
        assert self._delegate is not None
        kind = PairingConfig.AddressType.RANDOM
        return PairingConfig(sc=True, mitm=True, bonding=True, delegate=self._delegate, identity_address_type=kind)

    def _advertised(self, advertisement: Any) -> None:
        entry = self._found.setdefault(str(advertisement.address), {})
        for kind, data in advertisement.data.ad_structures:
            entry[f"{int(kind):02x}"] = bytes(data).hex()
        entry.setdefault("time", str(boottime()))

    async def scan(self, seconds: float) -> dict[str, dict[str, str]]:
        """What is advertised, by address: the AD structures by their type, and when the first one was heard."""
        self._found.clear()
        await self._device.start_scanning(legacy=True, active=True, filter_duplicates=False)
        await asyncio.sleep(seconds)
        await self._device.stop_scanning(legacy=True)
        return dict(self._found)

    async def connect(self, address: str) -> None:
        """Connects to a public address, and finds out what there is."""
        public = Address(address, AddressType.PUBLIC_DEVICE)
        self._connection = await self._device.connect(public, timeout=_TIMEOUT_SECONDS)
        # What the two know of each other is used at once, as phones do: bluetoothd waits for that before it answers.
        if self.pairing_outcome() == "paired":
            await self._connection.encrypt()
        await self.discover()

    async def discover(self) -> None:
        """Finds out anew what there is."""
        assert self._connection is not None
        self._peer = Peer(self._connection)
        await self._peer.request_mtu(247)
        await self._peer.discover_services()
        for service in self._peer.services:
            await service.discover_characteristics()

    async def disconnect(self) -> None:
        """Ends the link."""
        if self._connection is not None:
            await self._connection.disconnect()
        self._connection = None

    def _characteristic(self, uuid: str) -> CharacteristicProxy[Any]:
        assert self._peer is not None
        found = self._peer.get_characteristics_by_uuid(UUID(uuid))
        if not found:
            raise ValueError(f"there is no characteristic {uuid}")
        return found[0]

    async def read(self, uuid: str) -> dict[str, object]:
        """A value, or the code of the error."""
        try:
            value = await asyncio.wait_for(self._characteristic(uuid).read_value(), _TIMEOUT_SECONDS)
        except ProtocolError as error:
            return {"error_code": error.error_code}
        return {"value": bytes(value).hex()}

    async def write(self, uuid: str, value: str) -> dict[str, object]:
        """Nothing, or the code of the error."""
        try:
            written = self._characteristic(uuid).write_value(bytes.fromhex(value), with_response=True)
            await asyncio.wait_for(written, _TIMEOUT_SECONDS)
        except ProtocolError as error:
            return {"error_code": error.error_code}
        return {}

    async def subscribe(self, uuid: str) -> dict[str, object]:
        """Switches notifications on; nothing, or the code of the error."""
        try:
            await self._characteristic(uuid).subscribe(
                lambda value: self._notified[uuid].append((boottime(), bytes(value).hex()))
            )
        except (ProtocolError, att.ATT_Error) as error:
            return {"error_code": error.error_code}
        return {}

    def take(self, uuid: str) -> list[tuple[int, str]]:
        """What was notified since the last call: when (CLOCK_BOOTTIME, nanoseconds), and the value."""
        return self._notified.pop(uuid, [])

    def pair(self) -> None:
        """Begins to pair; the passkey is entered later."""
        assert self._connection is not None
        self._delegate = KeyboardDelegate()
        self._pairing_task = asyncio.get_running_loop().create_task(self._connection.pair())

    def enter(self, passkey: int) -> None:
        """Enters the passkey."""
        assert self._delegate is not None
        self._delegate.passkey.set_result(passkey)

    def pairing_outcome(self) -> str:
        """`under way`, `paired`, or why it is not."""
        if self._pairing_task is None or not self._pairing_task.done():
            return "under way"
        error = self._pairing_task.exception()
        return "paired" if error is None else f"{error!r}: {error}"
