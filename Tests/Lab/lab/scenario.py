"""What a scenario is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from guest.acquisition import ConfiguredHeadset
from headsets.kind import Kind, Specimen
from headsets.kinds import kind_named

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
    # What eegsync is told of it: without a serial number it needs the address to tell two of a kind apart.
    is_known_by_address: bool = False
    passkey: int | None = None
    # Further fields of the description, see `headsets.description`.
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_serial(self) -> bool:
        """True where it has a serial port over Bluetooth Classic."""
        return kind_named(self.kind).is_serial

    def description(self) -> dict[str, Any]:
        """Its entry for the headsets' process."""
        entry: dict[str, Any] = {"name": self.name, "kind": self.kind, "address": self.address, "seed": self.seed}
        if self.passkey is not None:
            entry["passkey"] = self.passkey
        return {**entry, "serial": self.serial, **self.details}

    def configuration(self) -> ConfiguredHeadset:
        """Its entry for eegsync."""
        # As people write it: an address without a type matches either.
        identifiers = (self.address,) if self.is_known_by_address else ()
        return ConfiguredHeadset(self.alias or "", self.model, self.serial or None, identifiers, self.passkey)


# Eight channels and a motion sensor, as a headset of today has.
_STREAMS = [{"name": "eeg", "frequency": 250, "channels": 8}, {"name": "accelerometer", "frequency": 52}]
# For hours: the same behaviour with a fiftieth of the samples.
_SLOW_STREAMS = [{"name": "eeg", "frequency": 4, "channels": 4}]

LEFT = LabHeadset("BEEG-0001", "left", "C0:00:00:00:00:01", 1, "LAB-0001", details={"streams": _STREAMS})
RIGHT = LabHeadset("BEEG-0002", "right", "C0:00:00:00:00:02", 2, "LAB-0002", details={"streams": _STREAMS})
# The same model with another serial number, always in range and advertising.
STRANGER = LabHeadset("BEEG-0666", None, "C0:00:00:00:06:66", 666, "LAB-0666", details={"streams": _STREAMS})
# The same, for hours: an advertisement a second.
RARE_STRANGER = dataclasses.replace(STRANGER, details={**STRANGER.details, "advertising_interval": 1000})
SLOW = LabHeadset("BEEG-0001", "left", "C0:00:00:00:00:01", 1, "LAB-0001", details={"streams": _SLOW_STREAMS})


def _in_room(kind: Kind, specimen: Specimen, alias: str | None) -> LabHeadset:
    return LabHeadset(
        specimen.name,
        alias,
        specimen.address,
        specimen.seed,
        specimen.serial,
        kind=kind.name,
        model=kind.model,
        is_known_by_address=kind.is_known_by_address and alias is not None,
        details=dict(specimen.details),
    )


def lab_headset(kind: str, number: int = 0) -> LabHeadset:
    """One of the headsets that a kind has in the room: it is to be recorded."""
    return _in_room(kind_named(kind), kind_named(kind).specimens[number], "left")


def room(kind: str, number: int = 0) -> tuple[LabHeadset, ...]:
    """It, and another one of the same model, which nobody records, where there is one."""
    of_other = kind_named(kind_named(kind).kind_of_other or kind)
    others = () if of_other.other is None else (_in_room(of_other, of_other.other, None),)
    return (lab_headset(kind, number), *others)


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
    timeout_seconds: float = 300.0
    is_time_simulated: bool = True
    # False for one in which eegsync does not run: there is no database to inspect.
    is_recorded: bool = True
    # Takes minutes: performed only where it is named, or with --all.
    is_long: bool = False
    # True where transactions come each ten seconds, as by default, and what waits stands in the spool; elsewhere they come each
    # second, so that it can be asked at once what is stored.
    has_spool: bool = False
    # Which central eegsync uses: bluetoothd's (bluez), that of the kernel's sockets (kernel), beside which none runs, or auto.
    central: str = "bluez"
    # True where it has so many returns that missing the goal is no chance: it then fails.
    must_meet_goals: bool = False
    # True for a machine with two adapters: on the second one a program of its own can be a headset.
    has_second_adapter: bool = False
    # True where a phone looks on.
    has_phone: bool = False
    # By how much a sample's stored time may differ from when it was taken.
    time_error_seconds: float = 0.05


def through(fault: Step, times: int = 1, names: Sequence[str] = ("left",)) -> Step:
    """A step that records, and lets something happen so many times; see `Lab.record_through`."""
    return lambda lab: lab.record_through(fault, times, names)
