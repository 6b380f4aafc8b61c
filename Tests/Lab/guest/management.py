"""The kernel's Bluetooth management channel, for what a person does with the adapter where bluetoothd does not run.

A tool for it (btmgmt) exists, but wants a terminal. Numbers: BlueZ, doc/mgmt-api.txt.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct

from guest.process import LabError

_AF_BLUETOOTH = 31
_BTPROTO_HCI = 1
_NO_INDEX = 0xFFFF
_CONTROL_CHANNEL = 3
_READ_INDEX_LIST = 0x0003
_READ_INFORMATION = 0x0004
_SET_POWERED = 0x0005
_COMMAND_COMPLETE = 0x0001
_COMMAND_STATUS = 0x0002
_ANSWER_SECONDS = 5.0


def has_adapter() -> bool:
    """True once the kernel has set up an adapter; some (6.12) take a while longer than the headsets' process."""
    with _channel() as channel:
        return len(_ask(channel, _READ_INDEX_LIST, _NO_INDEX)) >= 4


def set_powered(is_on: bool) -> None:
    """Switches the first adapter on or off."""
    with _channel() as channel:
        _ask(channel, _SET_POWERED, _first_adapter(channel), struct.pack("<B", is_on))


def is_powered() -> bool:
    """True where the first adapter is on."""
    with _channel() as channel:
        answer = _ask(channel, _READ_INFORMATION, _first_adapter(channel))
    # Address (6), version (1), manufacturer (2) and supported settings (4) come first; bit 0 is the power.
    return bool(answer[13] & 1)


def _channel() -> socket.socket:
    channel = socket.socket(_AF_BLUETOOTH, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _BTPROTO_HCI)
    channel.settimeout(_ANSWER_SECONDS)
    # Python's own bind knows no channel but the raw one.
    address = struct.pack("<HHH", _AF_BLUETOOTH, _NO_INDEX, _CONTROL_CHANNEL)
    if ctypes.CDLL(None, use_errno=True).bind(channel.fileno(), address, len(address)) < 0:
        raise LabError(f"the management channel: {os.strerror(ctypes.get_errno())}")
    return channel


def _first_adapter(channel: socket.socket) -> int:
    answer = _ask(channel, _READ_INDEX_LIST, _NO_INDEX)
    if len(answer) < 4:
        raise LabError("there is no adapter")
    index: int = struct.unpack_from("<H", answer, 2)[0]
    return index


def _ask(channel: socket.socket, command: int, index: int, parameters: bytes = b"") -> bytes:
    """Sends a command; what it returned."""
    channel.send(struct.pack("<HHH", command, index, len(parameters)) + parameters)
    while True:
        packet = channel.recv(4096)
        event = struct.unpack_from("<H", packet)[0]
        if event not in (_COMMAND_COMPLETE, _COMMAND_STATUS) or struct.unpack_from("<H", packet, 6)[0] != command:
            continue
        if packet[8] != 0:
            raise LabError(f"command {command:#06x} of the management channel: status {packet[8]}")
        return packet[9:]
