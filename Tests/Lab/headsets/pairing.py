"""How a headset pairs."""

from __future__ import annotations

from bumble.device import Connection, Device
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
            sc=True,
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
