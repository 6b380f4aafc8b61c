"""The adapter that can be pulled out, and the radio that it belongs to."""

from __future__ import annotations

from bumble.hci import Address

from .classic import DualModeController, SerialController
from .controller import AdapterController, DualRoleController, PeripheralController
from .link import RangeLink
from .vhci import VirtualController

# Locally administered, so that it is nobody's.
ADAPTER_ADDRESS = "02:AA:01:00:00:42"
SECOND_ADDRESS = "02:AA:01:00:00:43"


class Radio:
    """One link, one adapter of the kernel, any number of headsets."""

    def __init__(self, adapter_address: str = ADAPTER_ADDRESS, dual_mode: bool = False) -> None:
        """Without `dual_mode` the adapter knows Bluetooth Low Energy only."""
        self.link = RangeLink()
        self.adapter: AdapterController | None = None
        self._adapter_address = adapter_address
        self._controller_type = DualModeController if dual_mode else AdapterController
        self._device: VirtualController | None = None
        self._placeholder: VirtualController | None = None
        self._second: DualRoleController | None = None

    @property
    def adapter_index(self) -> int | None:
        """The number N of hciN; None while the adapter is out or the kernel has not told it yet."""
        return self._device.index if self._device is not None else None

    def plug(self, other_number: bool = False) -> None:
        """Puts the adapter in. With `other_number` its old number is taken by something that is no adapter."""
        if self._device is not None:
            return
        if other_number and self._placeholder is None:
            self._placeholder = VirtualController(raw=True)
        elif not other_number and self._placeholder is not None:
            self._placeholder.close()
            self._placeholder = None
        self._device = VirtualController()
        self.adapter = self._controller_type(
            "adapter", self.link, host_source=self._device, host_sink=self._device, public_address=self._adapter_address
        )
        # The radio switch (rfkill) takes the adapter down without a command. Adapters on a UART, such as a Raspberry Pi's,
        # lose their power then; the kernel tells a virtual one only by refusing what it sends.
        self._device.refused = self.adapter.fall_silent

    def plug_second(self) -> None:
        """Puts in another adapter for good, for a program of the machine that is a headset itself."""
        device = VirtualController()
        second = DualRoleController("second", self.link, host_source=device, host_sink=device, public_address=SECOND_ADDRESS)
        device.refused = second.fall_silent
        self._second = second

    def unplug(self) -> None:
        """Pulls the adapter out; headsets notice by their supervision timeout."""
        if self._device is None or self.adapter is None:
            return
        self._device.close()
        self._device = None
        self.adapter.fall_silent()
        self.link.remove_controller(self.adapter)
        self.adapter = None

    def note_handovers(self) -> None:
        """From now on the instants count at which data packets are handed to the kernel."""
        if self._device is not None:
            self._device.handovers = []

    def take_handovers(self) -> list[tuple[int, bytes]]:
        """What was noted since `note_handovers`, which ends with it: CLOCK_BOOTTIME in nanoseconds, and the HCI packet."""
        if self._device is None or self._device.handovers is None:
            return []
        noted, self._device.handovers = self._device.handovers, None
        return noted

    def peripheral(self, name: str, public_address: str) -> PeripheralController:
        """A controller for a headset."""
        return PeripheralController(name, self.link, public_address=public_address)

    def phone(self, random_address: str) -> DualRoleController:
        """A controller for a phone, which is a central."""
        controller = DualRoleController("phone", self.link, public_address="02:AA:01:00:00:07")
        controller.random_address = Address(random_address)
        return controller

    def serial(self, name: str, public_address: str) -> SerialController:
        """A controller for a headset with a serial port."""
        return SerialController(name, self.link, public_address=public_address)

    def statistics(self) -> dict[str, object]:
        """Facts for people who look for a fault."""
        adapter = self.adapter
        pending = adapter.pending_le_connection if adapter is not None else None
        return {
            "index": self.adapter_index,
            "scanning": adapter is not None and adapter.le_scan_enable,
            "connecting": str(pending.peer_address) if pending is not None else None,
            "connections": len(adapter.le_connections) if adapter is not None else 0,
            "droppedPackets": self.link.dropped_packets,
        }
