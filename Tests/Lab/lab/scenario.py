"""What a scenario is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from guest.lab import Lab

Step = Callable[["Lab"], None]


@dataclass(frozen=True)
class LabHeadset:
    """A headset in the room. Without `alias` it is not in eegsync's configuration: a stranger that must not be recorded."""

    name: str
    alias: str | None
    address: str
    seed: int
    serial: str = ""
    kind: str = "buffered"
    model: str = "buffered-eeg"
    # Further fields of the description, see `headsets.description`.
    details: dict[str, Any] = field(default_factory=dict)

    def description(self) -> dict[str, Any]:
        """Its entry for the headsets' process."""
        entry = {"name": self.name, "kind": self.kind, "address": self.address, "seed": self.seed}
        return {**entry, "serial": self.serial, **self.details}


# Eight channels and a motion sensor, as a headset of today has.
_STREAMS = [{"name": "eeg", "frequency": 250, "channels": 8}, {"name": "accelerometer", "frequency": 52}]
# For hours: the same behaviour with a fiftieth of the samples.
_SLOW_STREAMS = [{"name": "eeg", "frequency": 10, "channels": 4}]

LEFT = LabHeadset("BEEG-0001", "left", "C0:00:00:00:00:01", 1, "LAB-0001", details={"streams": _STREAMS})
RIGHT = LabHeadset("BEEG-0002", "right", "C0:00:00:00:00:02", 2, "LAB-0002", details={"streams": _STREAMS})
# The same model with another serial number, always in range and advertising.
STRANGER = LabHeadset("BEEG-0666", None, "C0:00:00:00:06:66", 666, "LAB-0666", details={"streams": _STREAMS})
SLOW = LabHeadset("BEEG-0001", "left", "C0:00:00:00:00:01", 1, "LAB-0001", details={"streams": _SLOW_STREAMS})


@dataclass(frozen=True)
class Scenario:
    """Something that happens to people who record, and what eegsync must make of it."""

    # Its number in the table of the documentation; several scenarios may share one.
    number: int
    name: str
    title: str
    # One for each boot of the machine: a step that ends without `Lab.finish` is followed by a power cut.
    steps: Sequence[Step]
    headsets: Sequence[LabHeadset] = (LEFT, STRANGER)
    # Real seconds; a machine that takes longer is killed.
    timeout_seconds: float = 120.0
    is_time_simulated: bool = True
    # By how much a sample's stored time may differ from when it was taken.
    time_error_seconds: float = 0.05
