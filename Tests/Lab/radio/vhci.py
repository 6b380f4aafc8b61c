"""The kernel's end of a virtual controller."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from typing import Protocol

# The kernel takes "vendor packets" (0xFF) as requests to create a controller: drivers/bluetooth/hci_vhci.c.
_CREATE = 0xFF
_PRIMARY = 0x00
# Bit 7 asks for a raw device: the kernel gives it a number but does not talk to it, and bluetoothd leaves it alone.
_RAW = 0x80
# An HCI packet with asynchronous data (Core 5.4, volume 4, part A, 2).
_DATA = 0x02


class PacketSink(Protocol):
    """What Bumble calls the receiver of HCI packets."""

    def on_packet(self, packet: bytes) -> None: ...


class VirtualController:
    """An open /dev/vhci: packet source and packet sink of the controller that answers the kernel.

    Bumble's own transport writes through an asyncio pipe, joins packets, and ends for good at the first error. The kernel
    takes one packet a write, and refuses them (ENXIO, EBADFD) while the adapter is down, which is no end.
    """

    def __init__(self, raw: bool = False, path: str = "/dev/vhci") -> None:
        self.descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.index: int | None = None
        self.refused_packets = 0
        # Called when the kernel refuses a packet, because the adapter is down.
        self.refused: Callable[[], None] | None = None
        # Where the scenario wants to know: data packets, and when each was handed to the kernel (CLOCK_BOOTTIME, nanoseconds).
        self.handovers: list[tuple[int, bytes]] | None = None
        self._sink: PacketSink | None = None
        os.write(self.descriptor, bytes([_CREATE, _RAW if raw else _PRIMARY]))
        asyncio.get_running_loop().add_reader(self.descriptor, self._read)

    def set_packet_sink(self, sink: PacketSink | None) -> None:
        """Bumble's name for: packets of the kernel go there."""
        self._sink = sink

    def on_packet(self, packet: bytes) -> None:
        """A packet of the controller for the kernel."""
        if self.descriptor < 0:
            return
        if self.handovers is not None and packet[0] == _DATA:
            self.handovers.append((time.clock_gettime_ns(time.CLOCK_BOOTTIME), packet))
        try:
            os.write(self.descriptor, packet)
        except OSError:
            self.refused_packets += 1
            if self.refused is not None:
                self.refused()

    def close(self) -> None:
        """Pulls the adapter out: the kernel removes the controller."""
        if self.descriptor < 0:
            return
        asyncio.get_running_loop().remove_reader(self.descriptor)
        os.close(self.descriptor)
        self.descriptor = -1

    def _read(self) -> None:
        try:
            packet = os.read(self.descriptor, 4096)
        except BlockingIOError:
            return
        if not packet:
            return
        if packet[0] == _CREATE:
            self.index = int.from_bytes(packet[2:4], "little")
        elif self._sink is not None:
            self._sink.on_packet(packet)
