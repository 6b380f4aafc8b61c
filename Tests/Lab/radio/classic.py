"""Controllers that also speak Bluetooth Classic (BR/EDR), for headsets with a serial port."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from bumble import hci, lmp
from bumble.controller import Connection
from bumble.core import PhysicalTransport
from bumble.hci import Address, LmpFeatureMask

from .authentication import RESPONSE_TIMEOUT, Claimant, Sres, Verifier, is_unfinished
from .controller import AdapterController, LowEnergyController

# A page is given up after 5.12 s (Core 5.4, volume 4, part E, 6.6).
_PAGE_TIMEOUT = 5.12
_PAGE_TIMEOUT_ERROR = 0x04
_UNKNOWN_CONNECTION = 0x02
_CONNECTION_EXISTS = 0x0B
_RESPONSE_TIMEOUT_ERROR = 0x22
# How often a headset listens for pages (R1; Core 5.4, volume 2, part B, 8.3.1).
_PAGE_SCAN_INTERVAL = 1.28
_INQUIRY_SECONDS = 2.0

_FEATURES = (
    LmpFeatureMask.LMP_3_SLOT_PACKETS
    | LmpFeatureMask.LMP_5_SLOT_PACKETS
    | LmpFeatureMask.ENCRYPTION
    | LmpFeatureMask.ROLE_SWITCH
    | LmpFeatureMask.SNIFF_MODE
    | LmpFeatureMask.LE_SUPPORTED_CONTROLLER
    | LmpFeatureMask.SECURE_SIMPLE_PAIRING_CONTROLLER_SUPPORT
    | LmpFeatureMask.EXTENDED_INQUIRY_RESPONSE
    | LmpFeatureMask.RSSI_WITH_INQUIRY_RESULTS
    | LmpFeatureMask.EXTENDED_FEATURES
)

# Commands of the kernel's start that stock does not know, by opcode: what follows the opcode in Command Complete.
_ANSWERS = {
    0x0402: b"\0",  # Inquiry Cancel
    0x080F: b"\0",  # Write Default Link Policy Settings
    0x0C05: b"\0",  # Set Event Filter
    0x0C12: b"\0\0\0",  # Delete Stored Link Key
    0x0C16: b"\0",  # Write Connection Accept Timeout
    0x0C18: b"\0",  # Write Page Timeout
    0x0C1A: b"\0",  # Write Scan Enable
    0x0C1C: b"\0",  # Write Page Scan Activity
    0x0C1E: b"\0",  # Write Inquiry Scan Activity
    0x0C25: b"\0\x60\0",  # Read Voice Setting
    0x0C33: b"\0",  # Host Buffer Size
    0x0C38: b"\0\1",  # Read Number Of Supported IAC
    0x0C39: b"\0\1\x33\x8b\x9e",  # Read Current IAC LAP
    0x0C3A: b"\0",  # Write Current IAC LAP
    0x0C43: b"\0",  # Write Inquiry Scan Type
    0x0C44: b"\0\0",  # Read Inquiry Mode
    0x0C45: b"\0",  # Write Inquiry Mode
    0x0C46: b"\0\0",  # Read Page Scan Type
    0x0C47: b"\0",  # Write Page Scan Type
    0x0C58: b"\0\0",  # Read Inquiry Response Transmit Power Level
    0x0C7A: b"\0",  # Write Secure Connections Host Support
    0x0C7C: b"\0",  # Write Authenticated Payload Timeout
}
_INQUIRY = 0x0401
_CREATE_CONNECTION_CANCEL = 0x0408
_READ_CLOCK_OFFSET = 0x041F


class DualModeController(AdapterController, Claimant):
    """The adapter of a machine that also connects to serial ports."""

    lmp_features = _FEATURES

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # Whom it pages, and when it looks again.
        self._pages: dict[Address, asyncio.TimerHandle] = {}

    def on_packet(self, packet: bytes) -> None:
        opcode = int.from_bytes(packet[1:3], "little") if packet[0] == hci.HCI_COMMAND_PACKET else 0
        if opcode == _INQUIRY:
            self._inquire(packet[1:3])
        elif opcode == _CREATE_CONNECTION_CANCEL:
            self._cancel_page(packet[1:3], packet[4:10])
        elif opcode == _READ_CLOCK_OFFSET:
            self._tell_clock_offset(packet[1:3], packet[4:6])
        elif opcode in _ANSWERS:
            answer = _ANSWERS[opcode]
            self._send(bytes([0x0E, 3 + len(answer), 1]) + packet[1:3] + answer)
        else:
            super().on_packet(packet)

    def _send(self, event: bytes) -> None:
        if self.hci_sink is not None:
            self.hci_sink.on_packet(bytes([hci.HCI_EVENT_PACKET]) + event)

    def _inquire(self, opcode: bytes) -> None:
        """Stock has no inquiry: Command Status, an Extended Inquiry Result for each discoverable headset, Inquiry Complete."""
        self._send(bytes([0x0F, 4, 0, 1]) + opcode)
        for controller in self.link.controllers:
            if isinstance(controller, SerialController) and not self.link.is_away(controller):
                name = controller.local_name.encode()
                response = (bytes([len(name) + 1, 0x09]) + name).ljust(240, b"\0")
                # One response: page scan repetition mode, class of device (a headset), clock offset, RSSI -48 dBm.
                fields = b"\1" + bytes(controller.public_address) + b"\1\0\x04\x04\x24\0\0\xd0"
                self._send(bytes([0x2F, 255]) + fields + response)
        asyncio.get_running_loop().call_later(_INQUIRY_SECONDS, self._send, b"\x01\x01\x00")

    def _cancel_page(self, opcode: bytes, address: bytes) -> None:
        """Stock answers, and pages on; the page ends with an error of its own."""
        peer = Address(address, hci.AddressType.PUBLIC_DEVICE)
        # Once the headset has answered, the connection is made all the same.
        is_answered = peer in self.classic_connections
        is_paging = peer in self._pages and not is_answered
        status = 0 if is_paging else _CONNECTION_EXISTS if is_answered else _UNKNOWN_CONNECTION
        self._send(bytes([0x0E, 10, 1]) + opcode + bytes([status]) + address)
        if is_paging:
            self._end_page(peer, _UNKNOWN_CONNECTION)

    def _tell_clock_offset(self, opcode: bytes, handle: bytes) -> None:
        """The kernel asks before it closes a connection; stock says nothing, which holds up all commands for 2 s."""
        self._send(bytes([0x0F, 4, 0, 1]) + opcode)
        self._send(bytes([0x1C, 5, 0]) + handle + b"\0\0")

    def on_hci_create_connection_command(self, command: hci.HCI_Create_Connection_Command) -> None:
        """Stock raises an error where nobody has the address, and asks once; a page goes on until somebody listens."""
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        loop = asyncio.get_running_loop()
        self._page(command.bd_addr, loop.time() + _PAGE_TIMEOUT)

    def _page(self, peer: Address, end: float) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() >= end:
            self._end_page(peer, _PAGE_TIMEOUT_ERROR)
        elif self._listens(peer):
            self._pages[peer] = loop.call_at(end, self._end_page, peer, _PAGE_TIMEOUT_ERROR)
            self._request_connection(peer)
        else:
            self._pages[peer] = loop.call_later(_PAGE_SCAN_INTERVAL, self._page, peer, end)

    def _listens(self, peer: Address) -> bool:
        """Whether a headset is in range and free: one that is in use does not answer others."""
        headset = self.link.find_classic_controller(peer)
        return headset is not None and not self.link.is_away(headset) and not headset.classic_connections

    def _request_connection(self, peer: Address) -> None:
        self.classic_connections[peer] = Connection(
            controller=self,
            handle=0,
            role=hci.Role.CENTRAL,
            self_address=self.public_address,
            peer_address=peer,
            link=self.link,
            transport=PhysicalTransport.BR_EDR,
            link_type=hci.HCI_Connection_Complete_Event.LinkType.ACL,
        )
        answer = self.send_lmp_packet(peer, lmp.LmpHostConnectionReq())
        answer.add_done_callback(lambda future: None if future.cancelled() else self._answered(peer, future.result()))

    def _answered(self, peer: Address, status: int) -> None:
        page = self._pages.pop(peer, None)
        if page is not None:
            page.cancel()
            if status == hci.HCI_ErrorCode.SUCCESS:
                self.tell_fresh_key(peer)
            self.on_classic_connection_complete(peer, status)

    def on_lmp_packet(self, sender_address: Address, packet: lmp.Packet) -> Any:
        if self.is_asked(sender_address, packet):
            # The headset has answered the page, and wants to know first who it is.
            if sender_address in self._pages:
                self._pages[sender_address].cancel()
                self._pages[sender_address] = asyncio.get_running_loop().call_later(
                    RESPONSE_TIMEOUT, self._end_page, sender_address, _RESPONSE_TIMEOUT_ERROR
                )
            return None
        # Stock tells of the end of a connection that was never complete, and never why.
        if isinstance(packet, lmp.LmpDetach):
            if is_unfinished(self.classic_connections.get(sender_address)):
                self._end_page(sender_address, packet.error_code)
            else:
                self.forget_authentication(sender_address)
                self.on_classic_disconnected(sender_address, packet.error_code)
            return None
        return super().on_lmp_packet(sender_address, packet)

    def _end_page(self, peer: Address, status: int) -> None:
        """Without a connection."""
        page = self._pages.pop(peer, None)
        if page is not None:
            page.cancel()
        self.classic_connections.pop(peer, None)
        self.classic_pending_commands.pop(peer, None)
        self.forget_authentication(peer)
        self.on_classic_connection_complete(peer, status)

    def fall_silent(self) -> None:
        super().fall_silent()
        for page in self._pages.values():
            page.cancel()
        for peer in self._pages:
            self.forget_authentication(peer)
        self._pages.clear()
        for connection in list(self.classic_connections.values()):
            self.link.silence_classic(connection, while_away=False)
        self.classic_connections.clear()


class SerialController(LowEnergyController):
    """A headset's controller that is found and connected over Bluetooth Classic. It is older than Secure Simple Pairing, so
    that a serial port with low security needs no pairing.
    """

    lmp_features = _FEATURES & ~LmpFeatureMask.SECURE_SIMPLE_PAIRING_CONTROLLER_SUPPORT

    # Nobody is asked who he is without one.
    verifier: Verifier | None = None
    _asks_at_once = True

    def require_pin(self, pin: str, keys: dict[str, bytes], paired: Callable[[], None], asks_at_once: bool = True) -> None:
        """From now on machines must have one of the keys, or know the PIN; their keys are added. Without `asks_at_once` the
        host asks when it wants to.
        """
        self.verifier = Verifier(self, pin, keys, paired)
        self._asks_at_once = asks_at_once

    def on_hci_accept_connection_request_command(self, command: hci.HCI_Accept_Connection_Request_Command) -> None:
        peer = command.bd_addr
        if self.verifier is None or not self._asks_at_once or peer not in self.classic_connections:
            super().on_hci_accept_connection_request_command(command)
            return

        def decided(status: int) -> None:
            if status == hci.HCI_ErrorCode.SUCCESS:
                self.send_lmp_packet(peer, lmp.LmpAccepted(lmp.Opcode.LMP_HOST_CONNECTION_REQ))
            else:
                self.classic_connections.pop(peer, None)
            self.on_classic_connection_complete(peer, status)

        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        self.verifier.begin(peer, decided)

    def authenticate(self, peer: Address, accepted: Callable[[], None]) -> None:
        """Asks the other end of a connection that is complete, and closes it where it does not know."""
        if self.verifier is None:
            accepted()
            return

        def decided(status: int) -> None:
            if status == hci.HCI_ErrorCode.SUCCESS:
                accepted()
            elif peer in self.classic_connections:
                self.on_classic_disconnected(peer, status)

        self.verifier.begin(peer, decided)

    def on_lmp_packet(self, sender_address: Address, packet: lmp.Packet) -> Any:
        if isinstance(packet, Sres):
            if self.verifier is not None:
                self.verifier.responded(sender_address, packet.response)
            return None
        if self.verifier is not None and isinstance(packet, lmp.LmpAuRand):
            self.verifier.answer(sender_address, packet.random_number)
            return None
        # One connection: a headset that is in use does not answer others.
        if isinstance(packet, lmp.LmpHostConnectionReq) and self.classic_connections:
            return None
        return super().on_lmp_packet(sender_address, packet)
