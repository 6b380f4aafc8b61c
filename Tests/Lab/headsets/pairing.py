"""How a headset pairs, and what it keeps of that."""

from __future__ import annotations

from typing import Any

from bumble.device import Connection, Device
from bumble.keys import MemoryKeyStore, PairingKeys
from bumble.pairing import PairingConfig, PairingDelegate

from .description import HeadsetDescription
from .journal import Journal


class PasskeyDelegate(PairingDelegate):
    """Shows a fixed passkey, as a headset with a sticker does."""

    def __init__(self, passkey: int) -> None:
        super().__init__(PairingDelegate.IoCapability.DISPLAY_OUTPUT_ONLY)
        self.passkey = passkey

    async def generate_passkey(self) -> int:
        return self.passkey

    async def display_number(self, number: int, digits: int) -> None:
        """Nobody looks at the display."""


class Bonds(MemoryKeyStore):
    """The keys of the machines that a headset was paired with. They outlive the machine, as all of the headset does."""

    def state(self) -> dict[str, Any]:
        """What `resume` needs."""
        return {name: keys.to_dict() for name, keys in self.all_keys.items()}

    def resume(self, state: dict[str, Any]) -> None:
        """Goes on where another process ended."""
        self.all_keys = {name: PairingKeys.from_dict(keys) for name, keys in state.items()}

    def forget(self) -> None:
        """As after a reset to how it was sold."""
        self.all_keys = {}

    def confuse(self) -> None:
        """Puts other keys in their place, as when it was paired with a machine of the same address."""
        for keys in self.all_keys.values():
            for key in (keys.ltk, keys.ltk_central, keys.ltk_peripheral):
                if key is not None:
                    key.value = bytes(byte ^ 0xFF for byte in key.value)


class LinkKeys:
    """The same over Bluetooth Classic, by the written address of the machine."""

    def __init__(self) -> None:
        self.keys: dict[str, bytes] = {}

    def state(self) -> dict[str, Any]:
        """What `resume` needs."""
        return {address: key.hex() for address, key in self.keys.items()}

    def resume(self, state: dict[str, Any]) -> None:
        """Goes on where another process ended."""
        self.keys.update({address: bytes.fromhex(key) for address, key in state.items()})

    def forget(self) -> None:
        """As after a reset to how it was sold."""
        self.keys.clear()

    def confuse(self) -> None:
        """Puts other keys in their place, as when it was paired with a machine of the same address."""
        for address, key in self.keys.items():
            self.keys[address] = bytes(byte ^ 0xFF for byte in key)


def configure_pairing(device: Device, description: HeadsetDescription, journal: Journal) -> None:
    """Sets what the headset answers to a pairing request: a passkey where it has one, "just works" otherwise."""

    def configuration(_connection: Connection) -> PairingConfig:
        delegate: PairingDelegate
        if description.passkey is None:
            delegate = PairingDelegate(PairingDelegate.IoCapability.NO_OUTPUT_NO_INPUT)
        else:
            delegate = PasskeyDelegate(description.passkey)
        kind = PairingConfig.AddressType.PUBLIC if description.is_public else PairingConfig.AddressType.RANDOM
        return PairingConfig(
            sc=description.has_secure_connections,
            mitm=description.passkey is not None,
            bonding=True,
            delegate=delegate,
            # Stock prefers the public address, which a headset with a random address does not have.
            identity_address_type=kind,
        )

    def watch(connection: Connection) -> None:
        connection.on(Connection.EVENT_PAIRING, lambda _keys: journal.note("paired"))

    device.pairing_config_factory = configuration
    device.on(Device.EVENT_CONNECTION, watch)
