"""Another program that uses a headset over D-Bus: connects, subscribes to every characteristic, and stays.

python -m guest.other_client ADDRESS
"""

from __future__ import annotations

import asyncio
import sys

from guest.bluez_client import BlueZClient


async def main(address: str) -> None:
    client = await BlueZClient.open(address)
    await client.connect()
    await client.subscribe_all()
    print("holds it", flush=True)
    await asyncio.get_running_loop().create_future()


asyncio.run(main(sys.argv[1]))
