"""What programs other than eegsync do with a headset over the kernel's own sockets, without bluetoothd."""

from __future__ import annotations

import ctypes
import os
import select
import socket
import struct
import uuid
from collections.abc import Callable

from guest.process import LabError

# <bluetooth/bluetooth.h> and <bluetooth/l2cap.h>; Python's own addresses have no channel and no type.
_AF_BLUETOOTH = 31
_BTPROTO_L2CAP = 0
_LE_PUBLIC, _LE_RANDOM = 1, 2
_ATTRIBUTE_CHANNEL = 4
# Opcodes of the Attribute Protocol (Core 5.4, volume 3, part F, 3.4.8).
_ERROR, _EXCHANGE_MTU, _MTU = 0x01, 0x02, 0x03
_READ_BY_TYPE, _READ_BY_TYPE_ANSWER = 0x08, 0x09
_WRITE, _WRITTEN = 0x12, 0x13
_NOTIFICATION = 0x1B
_CHARACTERISTIC = 0x2803
# As eegsync: what a link with data length extension carries in one packet.
_LARGEST_PACKET = 247
_ANSWER_SECONDS = 10

_libc = ctypes.CDLL(None, use_errno=True)


class SocketClient:
    """One link to a headset with a random address."""

    def __init__(self, address: str) -> None:
        """Connects; the kernel looks for the headset itself."""
        self.socket = socket.socket(_AF_BLUETOOTH, socket.SOCK_SEQPACKET, _BTPROTO_L2CAP)
        # The adapter's own address is a public one.
        _call(_libc.bind, self.socket, _socket_address("00:00:00:00:00:00", _LE_PUBLIC))
        _call(_libc.connect, self.socket, _socket_address(address, _LE_RANDOM))
        self._ask(struct.pack("<BH", _EXCHANGE_MTU, _LARGEST_PACKET), _MTU)

    def write(self, characteristic: str, value: bytes) -> None:
        """Writes a value with response."""
        self._write(self._handle(characteristic), value)

    def subscribe(self, characteristic: str) -> None:
        """Switches notifications on; the lab's headsets have the descriptor behind the value."""
        self._write(self._handle(characteristic) + 1, struct.pack("<H", 1))

    def _write(self, handle: int, value: bytes) -> None:
        self._ask(struct.pack("<BH", _WRITE, handle) + value, _WRITTEN)

    def _handle(self, characteristic: str) -> int:
        """Of a characteristic's value."""
        wanted = uuid.UUID(characteristic).bytes[::-1]
        first = 1
        while True:
            answer = self._ask(struct.pack("<BHHH", _READ_BY_TYPE, first, 0xFFFF, _CHARACTERISTIC), _READ_BY_TYPE_ANSWER)
            for place in range(2, len(answer), answer[1]):
                # Handle of the declaration, properties, handle of the value, UUID (volume 3, part G, 3.3.1).
                declaration, _, value = struct.unpack_from("<HBH", answer, place)
                if answer[place + 5 : place + answer[1]] == wanted:
                    return int(value)
                first = declaration + 1

    def _ask(self, request: bytes, expected: int) -> bytes:
        self.socket.send(request)
        while select.select([self.socket], [], [], _ANSWER_SECONDS)[0]:
            packet = self.socket.recv(512)
            if packet[:1] == bytes([_NOTIFICATION]):
                continue
            if packet[:1] != bytes([expected]):
                raise LabError(f"the headset answered {packet.hex()} to {request.hex()}")
            return packet
        raise LabError(f"the headset does not answer {request.hex()}")


def _socket_address(address: str, kind: int) -> bytes:
    reversed_address = bytes.fromhex(address.replace(":", ""))[::-1]
    return struct.pack("<HH6sHBx", _AF_BLUETOOTH, 0, reversed_address, _ATTRIBUTE_CHANNEL, kind)


def _call(function: Callable[[int, bytes, int], int], end: socket.socket, address: bytes) -> None:
    if function(end.fileno(), address, len(address)) < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
