"""A radio without a radio: the kernel's virtual controller and the headsets' controllers, joined in one process.

The kernel believes that /dev/vhci is a Bluetooth 4.2 adapter. Behind it answers a Bumble controller, and each headset has
another one; all of them share a link that knows who is in range. Bumble is made for hosts that are written in Python. Each
subclass here says which property of real hardware the kernel's host relies on and stock Bumble 0.0.236 lacks.
"""

from .adapter import Radio
from .controller import PeripheralController
from .link import RangeLink

__all__ = ["PeripheralController", "Radio", "RangeLink"]
