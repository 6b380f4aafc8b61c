"""Makes a headset with the Buffered EEG service stream and hands its notifications to floor/reader.c, whose line it prints.

    python -m guest.bare_reader ADDRESS READER SECONDS
"""

from __future__ import annotations

import asyncio
import subprocess
import sys

from guest.bluez_client import BlueZClient
from headsets.buffered_messages import CONTROL, DATA, Opcode


async def main(address: str, reader: str, seconds: str) -> int:
    client = await BlueZClient.open(address)
    await client.connect()
    await client.write(CONTROL, bytes([Opcode.CONFIGURE]))
    descriptor = await client.acquire_notify(DATA)
    await client.write(CONTROL, bytes([Opcode.START]))
    # Blocks this program for as long as the other one reads, so that it takes no processor time; bluetoothd waits for nothing.
    return subprocess.run([reader, str(descriptor), seconds], pass_fds=[descriptor], check=False).returncode


sys.exit(asyncio.run(main(*sys.argv[1:])))
