"""Authentication over Bluetooth Classic by a link key, and the older pairing by a PIN that makes one (Core 5.4, volume 2,
part C, 4.2). In security mode 3 the headset asks before the connection is complete, and the kernel asks once more when it is
(net/bluetooth/hci_event.c, conn_set_key); in mode 2 the headset asks when a service is opened.

What real controllers compute (E21, E22, E1) is a digest here, and the exchange of combination keys is left out: what counts is
that both ends have the same key if their PINs are the same, and only then agree.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bumble import hci, lmp
from bumble.controller import Connection, Controller
from bumble.hci import Address

AUTHENTICATION_FAILURE = 0x05
_KEY_MISSING = 0x06
_PAIRING_NOT_ALLOWED = 0x18
_RESPONSE_TIMEOUT_ERROR = 0x22
# How long one end waits for the other (LMP Response Timeout; volume 2, part C, 2.5).
RESPONSE_TIMEOUT = 30.0


@dataclass
class InRand(lmp.Packet):
    """Begins a pairing; stock knows the number only."""

    opcode = lmp.Opcode.LMP_IN_RAND
    random_number: bytes = b""


@dataclass
class Sres(lmp.Packet):
    """The answer to LMP_au_rand."""

    opcode = lmp.Opcode.LMP_SRES
    response: bytes = b""


def link_key(pin: bytes, random_number: bytes) -> bytes:
    """The key that a pairing makes."""
    return hashlib.sha256(b"key" + pin + random_number).digest()[:16]


def signed_response(key: bytes, random_number: bytes) -> bytes:
    """What only somebody with the key can answer."""
    return hashlib.sha256(b"response" + key + random_number).digest()[:4]


@dataclass
class _Check:
    """An authentication that is under way: the headset's side."""

    timer: asyncio.TimerHandle
    # Gets the status.
    decided: Callable[[int], None]
    challenge: bytes = b""
    key: bytes = b""
    is_new: bool = False


@dataclass
class Verifier:
    """Lets a headset find out whether somebody knows its key or its PIN."""

    controller: Controller
    pin: str
    # By the written address of the other device.
    keys: dict[str, bytes]
    paired: Callable[[], None]
    _checks: dict[Address, _Check] = field(default_factory=dict)
    _count: int = 0

    def begin(self, peer: Address, decided: Callable[[int], None]) -> None:
        """Asks the other end of a connection; `decided` gets the status."""
        timer = asyncio.get_running_loop().call_later(RESPONSE_TIMEOUT, self._end, peer, _RESPONSE_TIMEOUT_ERROR)
        check = self._checks[peer] = _Check(timer, decided)
        key = self.keys.get(str(peer))
        if key is None:
            self._pair(peer, check)
        else:
            self._challenge(peer, check, key)

    def _random(self) -> bytes:
        self._count += 1
        return hashlib.sha256(f"{self.controller.name} {self._count}".encode()).digest()[:16]

    def _pair(self, peer: Address, check: _Check) -> None:
        check.is_new = True
        random_number = self._random()
        answer = self.controller.send_lmp_packet(peer, InRand(random_number))

        def answered(future: asyncio.Future[int]) -> None:
            if not future.cancelled() and self._checks.get(peer) is check:
                if future.result() == hci.HCI_ErrorCode.SUCCESS:
                    self._challenge(peer, check, link_key(self.pin.encode(), random_number))
                else:
                    self._end(peer, future.result())

        answer.add_done_callback(answered)

    def _challenge(self, peer: Address, check: _Check, key: bytes) -> None:
        check.key, check.challenge = key, self._random()
        answer = self.controller.send_lmp_packet(peer, lmp.LmpAuRand(check.challenge))

        def refused(future: asyncio.Future[int]) -> None:
            # The other end has forgotten the key.
            if not future.cancelled() and self._checks.get(peer) is check:
                self._pair(peer, check)

        answer.add_done_callback(refused)

    def responded(self, peer: Address, response: bytes) -> None:
        """The other end has answered the challenge."""
        check = self._checks.get(peer)
        if check is None:
            return
        if response != signed_response(check.key, check.challenge):
            self._end(peer, AUTHENTICATION_FAILURE)
            return
        if check.is_new:
            self.keys[str(peer)] = check.key
            self.paired()
        self._end(peer, hci.HCI_ErrorCode.SUCCESS)

    def answer(self, peer: Address, challenge: bytes) -> None:
        """The other end wants to know who the headset is."""
        key = self.keys.get(str(peer))
        self.controller.send_lmp_packet(
            peer,
            lmp.LmpNotAccepted(lmp.Opcode.LMP_AU_RAND, _KEY_MISSING) if key is None else Sres(signed_response(key, challenge)),
        )

    def _end(self, peer: Address, status: int) -> None:
        check = self._checks.pop(peer, None)
        if check is not None:
            check.timer.cancel()
            if status != hci.HCI_ErrorCode.SUCCESS:
                self.controller.send_lmp_packet(peer, lmp.LmpDetach(status))
            check.decided(status)


class Claimant(Controller):
    """The adapter's side: what it is asked, it asks the host."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._challenges: dict[Address, bytes] = {}
        self._pairings: dict[Address, bytes] = {}
        # Keys of pairings of which it is not known yet whether the other end has the same.
        self._fresh_keys: dict[Address, bytes] = {}
        # Headsets that the host wants to have authenticated, and the response that they must give.
        self._requests: dict[Address, bytes | None] = {}

    def is_asked(self, peer: Address, packet: lmp.Packet) -> bool:
        """Takes a packet of an authentication; False for any other."""
        match packet:
            case InRand(random_number):
                self._pairings[peer] = random_number
                self.send_hci_packet(hci.HCI_PIN_Code_Request_Event(bd_addr=peer))
            case Sres(response):
                if peer in self._requests:
                    is_right = response == self._requests.pop(peer)
                    self._authenticated(peer, hci.HCI_ErrorCode.SUCCESS if is_right else AUTHENTICATION_FAILURE)
            case lmp.LmpAuRand(random_number):
                self._challenges[peer] = random_number
                if peer in self._fresh_keys:
                    self._respond(peer, self._fresh_keys[peer])
                    # On a connection that is complete nothing else tells that the key is right.
                    if not is_unfinished(self.classic_connections.get(peer)):
                        self._verify(peer, self._fresh_keys[peer])
                else:
                    self.send_hci_packet(hci.HCI_Link_Key_Request_Event(bd_addr=peer))
            case _:
                return False
        return True

    def _respond(self, peer: Address, key: bytes) -> None:
        self.send_lmp_packet(peer, Sres(signed_response(key, self._challenges.pop(peer))))

    def on_hci_authentication_requested_command(self, command: hci.HCI_Authentication_Requested_Command) -> None:
        """Stock begins a Secure Simple Pairing."""
        self._send_hci_command_status(hci.HCI_COMMAND_STATUS_PENDING, command.op_code)
        connection = self.find_classic_connection_by_handle(command.connection_handle)
        if connection is not None:
            self._requests[connection.peer_address] = None
            self.send_hci_packet(hci.HCI_Link_Key_Request_Event(bd_addr=connection.peer_address))

    def _verify(self, peer: Address, key: bytes) -> None:
        challenge = hashlib.sha256(b"challenge" + key).digest()[:16]
        self._requests[peer] = signed_response(key, challenge)
        answer = self.send_lmp_packet(peer, lmp.LmpAuRand(challenge))

        def refused(future: asyncio.Future[int]) -> None:
            if not future.cancelled() and self._requests.pop(peer, None) is not None:
                self._authenticated(peer, future.result())

        answer.add_done_callback(refused)

    def _authenticated(self, peer: Address, status: int) -> None:
        connection = self.classic_connections.get(peer)
        if peer in self._fresh_keys:
            # Part of a pairing, of which the host hears in another way.
            if status == hci.HCI_ErrorCode.SUCCESS:
                self.tell_fresh_key(peer)
            self._fresh_keys.pop(peer, None)
        elif connection is not None:
            self.send_hci_packet(hci.HCI_Authentication_Complete_Event(status=status, connection_handle=connection.handle))

    def tell_fresh_key(self, peer: Address) -> None:
        """The other end has accepted the new key."""
        key = self._fresh_keys.pop(peer, None)
        if key is not None:
            kind = hci.LinkKeyType.COMBINATION_KEY
            self.send_hci_packet(hci.HCI_Link_Key_Notification_Event(bd_addr=peer, link_key=key, key_type=kind))

    def forget_authentication(self, peer: Address) -> None:
        """It is over without a connection."""
        for waiting in (self._challenges, self._pairings, self._fresh_keys, self._requests):
            waiting.pop(peer, None)

    @staticmethod
    def _done(peer: Address) -> hci.HCI_StatusAndAddressReturnParameters:
        return hci.HCI_StatusAndAddressReturnParameters(status=hci.HCI_ErrorCode.SUCCESS, bd_addr=peer)

    def on_hci_link_key_request_reply_command(
        self, command: hci.HCI_Link_Key_Request_Reply_Command
    ) -> hci.HCI_StatusAndAddressReturnParameters:
        if command.bd_addr in self._challenges:
            self._respond(command.bd_addr, command.link_key)
        elif command.bd_addr in self._requests:
            self._verify(command.bd_addr, command.link_key)
        return self._done(command.bd_addr)

    def on_hci_link_key_request_negative_reply_command(
        self, command: hci.HCI_Link_Key_Request_Negative_Reply_Command
    ) -> hci.HCI_StatusAndAddressReturnParameters:
        if self._challenges.pop(command.bd_addr, None) is not None:
            self.send_lmp_packet(command.bd_addr, lmp.LmpNotAccepted(lmp.Opcode.LMP_AU_RAND, _KEY_MISSING))
        elif command.bd_addr in self._requests:
            # A real one would begin a pairing; the kernel asks only where there is a key.
            del self._requests[command.bd_addr]
            self._authenticated(command.bd_addr, _KEY_MISSING)
        return self._done(command.bd_addr)

    def on_hci_pin_code_request_reply_command(
        self, command: hci.HCI_PIN_Code_Request_Reply_Command
    ) -> hci.HCI_StatusAndAddressReturnParameters:
        """Stock does not know it, nor the next one."""
        random_number = self._pairings.pop(command.bd_addr, None)
        if random_number is not None:
            pin = command.pin_code[: command.pin_code_length]
            self._fresh_keys[command.bd_addr] = link_key(pin, random_number)
            self.send_lmp_packet(command.bd_addr, lmp.LmpAccepted(lmp.Opcode.LMP_IN_RAND))
        return self._done(command.bd_addr)

    def on_hci_pin_code_request_negative_reply_command(
        self, command: hci.HCI_PIN_Code_Request_Negative_Reply_Command
    ) -> hci.HCI_StatusAndAddressReturnParameters:
        if self._pairings.pop(command.bd_addr, None) is not None:
            self.send_lmp_packet(command.bd_addr, lmp.LmpNotAccepted(lmp.Opcode.LMP_IN_RAND, _PAIRING_NOT_ALLOWED))
        return self._done(command.bd_addr)


def is_unfinished(connection: Connection | None) -> bool:
    """True for a connection that was begun and has no handle yet."""
    return connection is not None and not connection.handle
