"""What a scenario is."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from guest.acquisition import ConfiguredHeadset

if TYPE_CHECKING:
    from guest.lab import Lab

Step = Callable[["Lab"], None]


# Kinds with a serial port over Bluetooth Classic.
_SERIAL_KINDS = ("cyton", "thinkgear", "unicorn")


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
        return self.kind in _SERIAL_KINDS

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
# Headsets without memory: what is lost is lost.
GANGLION = LabHeadset(
    "Ganglion-58f3", "left", "C0:00:00:00:02:01", 21, kind="ganglion", model="ganglion", is_known_by_address=True
)
OTHER_GANGLION = LabHeadset("Ganglion-1a6d", None, "C0:00:00:00:02:66", 2166, kind="ganglion", model="ganglion")
CYTON_BLE = LabHeadset(
    "RFduino", "left", "C0:00:00:00:06:01", 61, kind="cyton-ble", model="cyton-ble", is_known_by_address=True
)
OTHER_CYTON_BLE = LabHeadset("RFduino-2", None, "C0:00:00:00:06:66", 6166, kind="cyton-ble", model="cyton-ble")
EXPLORE = LabHeadset("Explore_8441", "left", "C0:00:00:00:05:01", 51, kind="explore", model="explore", is_known_by_address=True)
OTHER_EXPLORE = LabHeadset(
    "Explore_0666", None, "C0:00:00:00:05:66", 5166, kind="explore", model="explore", details={"channels": 16}
)
MUSE = LabHeadset("Muse-1324", "left", "C0:55:DA:B0:13:24", 31, "2031-TZRW-1324", kind="muse", model="muse")
OTHER_MUSE = LabHeadset("Muse-0666", None, "C0:55:DA:B0:06:66", 3166, "2031-TZRW-0666", kind="muse", model="muse")
HERMES = LabHeadset("Hermes V1", "left", "C0:80:E1:26:00:01", 41, kind="hermes", model="hermes", is_known_by_address=True)
OTHER_HERMES = LabHeadset("Hermes V1 b", None, "C0:80:E1:26:06:66", 4166, kind="hermes", model="hermes")
MINDWAVE_2 = LabHeadset(
    "MindWave Mobile", "left", "C0:68:9E:00:00:01", 51, kind="mindwave", model="mindwave", is_known_by_address=True
)
OTHER_MINDWAVE_2 = LabHeadset("MindWave Mobile+", None, "C0:68:9E:00:06:66", 5166, kind="mindwave", model="mindwave")
MINDWAVE_2013 = LabHeadset(
    "MindWave Mobile", "left", "C0:68:9E:00:13:01", 52, kind="mindwave-2013", model="mindwave", is_known_by_address=True
)
# Boards whose radio passes a serial port through.
TGAM_HM10 = LabHeadset("BT05", "left", "C0:98:7B:00:00:01", 53, kind="tgam", model="tgam", is_known_by_address=True)
TGAM_ISSC = dataclasses.replace(TGAM_HM10, name="TGAM-ISSC", seed=54, details={"radio": "issc"})
# A headset with a serial port over Bluetooth Classic.
MINDWAVE = LabHeadset(
    "MindWaveMobile-0001", "left", "20:68:9D:00:00:01", 41, kind="thinkgear", model="thinkgear", is_known_by_address=True
)
UNICORN = LabHeadset("UN-2021-0001", "left", "60:B6:47:00:00:01", 61, kind="unicorn", model="unicorn", is_known_by_address=True)
CYTON = LabHeadset("OpenBCI-0001", "left", "00:06:66:00:00:01", 71, kind="cyton", model="cyton", is_known_by_address=True)
ATHENA = LabHeadset("MuseS-6002", "left", "C0:55:DA:B0:60:02", 61, "6002-ABCD-60B2", kind="athena", model="muse")
# The same model with another serial number, always in range and advertising.
STRANGER = LabHeadset("BEEG-0666", None, "C0:00:00:00:06:66", 666, "LAB-0666", details={"streams": _STREAMS})
# The same, for hours: an advertisement a second.
RARE_STRANGER = dataclasses.replace(STRANGER, details={**STRANGER.details, "advertising_interval": 1000})
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
    # By how much a sample's stored time may differ from when it was taken.
    time_error_seconds: float = 0.05


def through(fault: Step, times: int = 1, names: Sequence[str] = ("left",)) -> Step:
    """A step that records, and lets something happen so many times; see `Lab.record_through`."""
    return lambda lab: lab.record_through(fault, times, names)
