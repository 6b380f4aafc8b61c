"""A radio without a radio: the kernel's virtual controller and the headsets' controllers, joined in one process.

The kernel believes that /dev/vhci is a Bluetooth 4.2 adapter. Behind it answers a Bumble controller, and each headset has
another one; all of them share a link that knows who is in range. Bumble is made for hosts that are written in Python. Each
subclass here says which property of real hardware the kernel's host relies on and stock Bumble 0.0.236 lacks.

Known differences from a real radio:
- Nothing collides, fades or is retransmitted: a packet is heard by everybody in range, at once, with an RSSI of -50 dBm.
- Data does not wait for connection events; the headsets' firmware takes its turns at the connection interval instead.
- The adapter connects at the first advertisement that it hears, and listens all the time while it scans.
- A page of Bluetooth Classic is answered at once, where a real one takes up to 1.28 s. A headset with a PIN asks for it,
  or for the key of an earlier pairing, by digests in place of the real algorithms; there is no Secure Simple Pairing.
- One PHY (1M), no channel map, no peripheral latency, no encryption in the air: keys are compared, data is sent as it is.
- A far end hears at once of a disconnection that the near end asked for, unless it is out of range.
"""

from .adapter import Radio
from .classic import SerialController
from .controller import PeripheralController
from .link import RangeLink

__all__ = ["PeripheralController", "Radio", "RangeLink", "SerialController"]
