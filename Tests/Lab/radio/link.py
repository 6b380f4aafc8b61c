"""The air between the controllers."""

from __future__ import annotations

import asyncio
import struct

from bumble import hci, ll, lmp
from bumble.controller import Connection, Controller
from bumble.core import PhysicalTransport
from bumble.link import LocalLink

# Linux offers 420 ms (net/bluetooth/hci_core.c, le_supv_timeout = 0x2A); for connections whose parameters are unknown.
DEFAULT_SUPERVISION_TIMEOUT = 0.42
# 0x7D00 slots of 0.625 ms (Core 5.4, volume 4, part E, 6.21).
CLASSIC_SUPERVISION_TIMEOUT = 20.0
# A central gives up a connection whose peripheral never answers after six connection events (Core 5.4, volume 6, part B,
# 4.5.2); at the interval of 30 ms that Linux asks for.
_ESTABLISHMENT_TIMEOUT = 0.18
_CONNECTION_FAILED_TO_BE_ESTABLISHED = 0x3E


class RangeLink(LocalLink):
    """Bumble's link with a range, a supervision timeout and correct addresses.

    Stock: every controller hears every other one for ever; a lost peer is never noticed; and data is sent as coming from
    the sender's random address even where the connection uses its public one, so that the receiver drops it.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Bumble's own has no types
        # A token for each absence, so that a time-out of an earlier one is not taken for this one's.
        self._away: dict[Controller, object] = {}
        self._vanished: dict[Controller, float] = {}
        self.dropped_packets = 0

    def is_away(self, controller: Controller) -> bool:
        """True for a controller that nobody hears and that hears nobody."""
        return controller in self._away

    def vanish(self, controller: Controller) -> None:
        """Takes a controller out of range: each end of its connections notices after the supervision timeout."""
        self._away[controller] = object()
        self._vanished[controller] = asyncio.get_running_loop().time()
        for connection in list(controller.le_connections.values()):
            self.silence(connection)
        for connection in list(controller.classic_connections.values()):
            self.silence_classic(connection)

    def comes_back(self, controller: Controller) -> None:
        """Puts a controller into range again; a connection that has not timed out goes on, unless its far end was closed."""
        self._away.pop(controller, None)
        for connection in list(controller.classic_connections.values()):
            if self._classic_far_end(connection) is None:
                self._end_alone(connection)

    def silence(self, connection: Connection, while_away: bool = True) -> None:
        """Lets a connection time out at both ends, or, without `while_away`, at the far end only and in any case."""
        controller = connection.controller
        far = self._far_end(connection)
        absence = self._away.get(controller)
        timeout = max(supervision_timeout(connection), supervision_timeout(far) if far else 0.0)

        def notice() -> None:
            if while_away and (absence is None or self._away.get(controller) is not absence):
                return
            for end in (connection, far) if while_away else (far,):
                if end is not None and end.controller.le_connections.get(end.peer_address) is end:
                    end.controller.on_le_disconnected(end, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

        asyncio.get_running_loop().call_later(timeout, notice)

    def silence_classic(self, connection: Connection, while_away: bool = True) -> None:
        """The same for a connection of Bluetooth Classic."""
        controller = connection.controller
        other = self._classic_far_end(connection)
        absence = self._away.get(controller)

        def notice() -> None:
            if while_away and (absence is None or self._away.get(controller) is not absence):
                return
            for end in (connection, other) if while_away else (other,):
                if end is not None and end.controller.classic_connections.get(end.peer_address) is end:
                    end.controller.on_classic_disconnected(end.peer_address, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

        asyncio.get_running_loop().call_later(CLASSIC_SUPERVISION_TIMEOUT, notice)

    def _end_alone(self, connection: Connection) -> None:
        """Ends a connection that was closed at the far end while nobody could hear that: at its supervision timeout."""
        controller = connection.controller

        def notice() -> None:
            if controller.classic_connections.get(connection.peer_address) is connection:
                controller.on_classic_disconnected(connection.peer_address, hci.HCI_ErrorCode.CONNECTION_TIMEOUT_ERROR)

        asyncio.get_running_loop().call_at(self._vanished[controller] + CLASSIC_SUPERVISION_TIMEOUT, notice)

    def _classic_far_end(self, connection: Connection) -> Connection | None:
        far = self.find_classic_controller(connection.peer_address)
        other = far.classic_connections.get(connection.self_address) if far is not None else None
        # Without a handle it is no connection, but the page that shall lead to the next one.
        return other if other is not None and other.handle else None

    def expect_answer(self, connection: Connection) -> None:
        """Ends a central's connection whose peripheral had stopped advertising when the request came."""

        def check() -> None:
            controller = connection.controller
            if controller.le_connections.get(connection.peer_address) is connection and not self._far_end(connection):
                controller.on_le_disconnected(connection, _CONNECTION_FAILED_TO_BE_ESTABLISHED)

        asyncio.get_running_loop().call_later(_ESTABLISHMENT_TIMEOUT, check)

    def _far_end(self, connection: Connection) -> Connection | None:
        for controller in self.controllers:
            if controller is not connection.controller:
                for other in controller.le_connections.values():
                    if other.self_address == connection.peer_address and other.peer_address == connection.self_address:
                        return other
        return None

    def send_acl_data(
        self, sender_controller: Controller, destination_address: hci.Address, transport: PhysicalTransport, data: bytes
    ) -> None:
        if transport != PhysicalTransport.LE:
            far = self.find_classic_controller(destination_address)
            if far is not None and self._hears(sender_controller, far):
                super().send_acl_data(sender_controller, destination_address, transport, data)
            else:
                self.dropped_packets += 1
            return
        connection = sender_controller.le_connections.get(destination_address)
        receiver = self.find_le_controller(destination_address)
        if connection is None or receiver is None or not self._hears(sender_controller, receiver):
            self.dropped_packets += 1
            return
        asyncio.get_running_loop().call_soon(receiver.on_link_acl_data, connection.self_address, transport, data)

    def deliver(self, connection: Connection, data: bytes) -> bool:
        """Hands an L2CAP packet to the far end's host at once; False where nobody heard it.

        The usual way through `send_acl_data` takes three rounds of the event loop, and each costs a user-mode kernel
        several system calls. Notifications are most of what a night consists of.
        """
        receiver = self.find_le_controller(connection.peer_address)
        if receiver is None or receiver.hci_sink is None or not self._hears(connection.controller, receiver):
            self.dropped_packets += 1
            return False
        far = receiver.le_connections.get(connection.self_address)
        if far is None:
            self.dropped_packets += 1
            return False
        # Packet boundary flag 2: the first packet of an L2CAP packet from a controller (Core 5.4, volume 4, part E, 5.4.2).
        header = struct.pack("<BHH", hci.HCI_ACL_DATA_PACKET, far.handle | 2 << 12, len(data))
        receiver.hci_sink.on_packet(header + data)
        return True

    def send_advertising_pdu(self, sender_controller: Controller, packet: ll.AdvertisingPdu) -> None:
        loop = asyncio.get_running_loop()
        for controller in self.controllers:
            if controller is not sender_controller and self._hears(sender_controller, controller):
                loop.call_soon(controller.on_ll_advertising_pdu, packet)

    def send_ll_control_pdu(self, sender_address: hci.Address, receiver_address: hci.Address, packet: ll.ControlPdu) -> None:
        sender = self.find_le_controller(sender_address)
        receiver = self.find_le_controller(receiver_address)
        if sender is not None and receiver is not None and self._hears(sender, receiver):
            asyncio.get_running_loop().call_soon(receiver.on_ll_control_pdu, sender_address, packet)

    def send_lmp_packet(self, sender_controller: Controller, receiver_address: hci.Address, packet: lmp.Packet) -> None:
        """Stock raises an error where nobody has the address; the air does not."""
        receiver = self.find_classic_controller(receiver_address)
        if receiver is not None and self._hears(sender_controller, receiver):
            super().send_lmp_packet(sender_controller, receiver_address, packet)

    def _hears(self, one: Controller, other: Controller) -> bool:
        return one not in self._away and other not in self._away


def supervision_timeout(connection: Connection) -> float:
    """The connection's supervision timeout in seconds."""
    return getattr(connection, "supervision_timeout", DEFAULT_SUPERVISION_TIMEOUT)
