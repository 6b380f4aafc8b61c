"""Bumble's device, mended and watched."""

from __future__ import annotations

from bumble.device import Connection, Device


class HeadsetDevice(Device):
    """The host of a headset."""

    # Packets of the Attribute Protocol that the machine has sent on this link: how much it had to ask.
    request_count = 0

    def on_gatt_pdu(self, connection: Connection, pdu: bytes) -> None:
        """Counts what the machine asks."""
        self.request_count += 1
        super().on_gatt_pdu(connection, pdu)

    async def get_long_term_key(self, connection_handle: int, rand: bytes, ediv: int) -> bytes | None:
        """The key of a link that is to be encrypted.

        Of the two keys of a pairing without Secure Connections, a central encrypts with the one that the peripheral has given
        it; stock looks for the other.
        """
        found: bytes | None = await super().get_long_term_key(connection_handle, rand, ediv)
        connection = self.lookup_connection(connection_handle)
        if connection is None or self.keystore is None:
            return found
        if self.smp_manager.get_long_term_key(connection, rand, ediv) is not None:
            return found
        keys = await self.keystore.get(str(connection.peer_address))
        return keys.ltk_central.value if keys is not None and keys.ltk_central is not None else found
