"""Makes a headset with the Buffered EEG service stream and hands its notifications to floor/reader.c, whose line it prints.

    python -m guest.bare_reader ROUTE ADDRESS READER SECONDS [ARRIVALS]

ROUTE is `bluez`, where bluetoothd runs, or `kernel`.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys

from guest.bluez_client import BlueZClient
from guest.socket_client import SocketClient
from headsets.buffered_messages import CONTROL, DATA, Opcode

# Opcode and handle stand before each value on the socket of the Attribute Protocol.
_HEADER_BYTES = 3


async def _stream_over_bluetoothd(address: str) -> int:
    client = await BlueZClient.open(address)
    await client.connect()
    await client.write(CONTROL, bytes([Opcode.CONFIGURE]))
    descriptor = await client.acquire_notify(DATA)
    await client.write(CONTROL, bytes([Opcode.START]))
    return descriptor


def _stream_over_socket(address: str) -> int:
    client = SocketClient(address)
    client.write(CONTROL, bytes([Opcode.CONFIGURE]))
    client.subscribe(DATA)
    client.write(CONTROL, bytes([Opcode.START]))
    return client.socket.detach()


async def main(route: str, address: str, reader: str, seconds: str, *arrivals: str) -> int:
    if route == "bluez":
        descriptor, header = await _stream_over_bluetoothd(address), 0
    else:
        descriptor, header = _stream_over_socket(address), _HEADER_BYTES
    command = [reader, str(descriptor), seconds, str(header), *arrivals]
    # Blocks this program for as long as the other one reads, so that it takes no processor time; bluetoothd waits for nothing.
    return subprocess.run(command, pass_fds=[descriptor], check=False).returncode  # noqa: ASYNC221, on purpose, see above


sys.exit(asyncio.run(main(*sys.argv[1:])))
