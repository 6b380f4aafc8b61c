"""Which headsets there are: the JSON file that the lab is given.

    {"headsets": [{"name": "BEEG-1001", "kind": "buffered", "address": "C0:00:00:00:10:01", "seed": 1, "serial": "BE-1"}]}

For every kind:
    name                   complete local name
    kind                   athena, buffered, cyton-ble, explore, ganglion, hermes, mindwave, mindwave-2013, muse, tgam; over
                           Bluetooth Classic: cyton, thinkgear, unicorn
    address                identity address; its two highest bits set (C0...FF first) where it is random
    public                 true where it advertises with that address as a public one (false)
    serial                 serial number of the Device Information service; none where empty ("")
    seed                   decides samples and boot identifiers
    advertising_interval   milliseconds (100)
    boot_seconds           from power-on to the first advertisement (1.5)
    verbose                logs what is written to it (false)
    encrypted              its characteristics need an encrypted link (false)
    passkey                six digits that it asks for when pairing; "just works" where null (null)
    pin                    digits that a headset of Bluetooth Classic is paired with; it pairs with nobody where null (null)
    pin_at                 when it asks for that or its key: "connection" (security mode 3) or "port" (mode 2) ("connection")
    record                 false where one of Bluetooth Classic lists no serial port among its services (true)
    secure_connections     false where it pairs in the older way (true)
    private                true where it advertises with a resolvable private address from the beginning (false)
    mode                   how it begins: on, off, pairing ("on")
For kind `buffered`, the fields of `headsets.buffered_stream.BufferedPlan`, and
    streams                [{"name": "eeg", "frequency": 250, "channels": 8, "bank": 0}]
For kind `thinkgear`, `recording`: a file of bytes from a real headset's serial port that is sent (none).
For kind `tgam`, `radio`: one of `headsets.thinkgear_gatt.RADIOS` ("hm10").
For the other kinds, the fields of `CytonPlan`, `ExplorePlan`, `GanglionPlan`, `HermesPlan`, `MindWavePlan`, `MusePlan` and
`UnicornPlan` in the files of their names.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from bumble import crypto
from bumble.hci import Address, AddressType

from .athena import AthenaFirmware
from .buffered import BufferedFirmware
from .buffered_messages import Channel, Stream
from .buffered_stream import BufferedPlan
from .cyton import CytonBLEFirmware, CytonFirmware, CytonPlan
from .explore import ExploreFirmware, ExplorePlan
from .firmware import Firmware
from .ganglion import GanglionFirmware, GanglionPlan
from .hermes import HermesFirmware, HermesPlan
from .journal import Journal
from .mindwave import MindWaveFirmware, MindWavePlan
from .muse import MuseFirmware, MusePlan
from .thinkgear import ThinkGearFirmware
from .thinkgear_gatt import BoardFirmware, MindWave2013Firmware
from .unicorn import UnicornFirmware, UnicornPlan

_EEG_CHANNELS = ["Fp1", "Fp2", "C3", "C4", "P7", "P8", "O1", "O2"]
_MOTION = {"accelerometer": ("ACCEL", "g", 1 / 1_048_576), "gyroscope": ("GYRO", "deg/s", 1 / 4096)}


@dataclass(frozen=True)
class HeadsetDescription:
    """One headset of the file."""

    name: str
    kind: str
    address: str
    seed: int
    is_public: bool = False
    serial: str = ""
    advertising_interval_ms: float = 100.0
    boot_seconds: float = 1.5
    verbose: bool = False
    needs_encryption: bool = False
    passkey: int | None = None
    pin: str | None = None
    pin_at: str = "connection"
    has_record: bool = True
    has_secure_connections: bool = True
    is_private: bool = False
    mode: str = "on"
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_serial(self) -> bool:
        """True for a kind that has a serial port over Bluetooth Classic."""
        return self.kind in ("cyton", "thinkgear", "unicorn")

    @property
    def identity_resolving_key(self) -> bytes:
        """Gives it resolvable private addresses of its own."""
        return hashlib.sha256(f"{self.seed} {self.address}".encode()).digest()[:16]

    def private_address(self, number: int) -> Address:
        """Its resolvable private address after so many rotations (Core 5.4, volume 6, part B, 1.3.2.2)."""
        digest = hashlib.sha256(f"{self.seed} {self.address} {number}".encode()).digest()
        # The two highest bits, 01, say that it is resolvable.
        random_part = bytes([digest[0], digest[1], digest[2] & 0x3F | 0x40])
        return Address(crypto.ah(self.identity_resolving_key, random_part) + random_part, AddressType.RANDOM_DEVICE)


_KEYS = {
    "public": "is_public",
    "advertising_interval": "advertising_interval_ms",
    "encrypted": "needs_encryption",
    "record": "has_record",
    "secure_connections": "has_secure_connections",
    "private": "is_private",
}


def read_description(path: Path) -> list[HeadsetDescription]:
    """All headsets of a file; raises ValueError where a field is missing."""
    known = {item.name for item in fields(HeadsetDescription)} - {"details"}
    found = []
    for entry in json.loads(path.read_text(encoding="utf-8"))["headsets"]:
        common: dict[str, Any] = {}
        details: dict[str, Any] = {}
        for key, value in entry.items():
            name = _KEYS.get(key, key)
            (common if name in known else details)[name] = value
        missing = {"name", "kind", "address", "seed"} - common.keys()
        if missing:
            raise ValueError(f"{path}: a headset lacks {', '.join(sorted(missing))}")
        found.append(HeadsetDescription(**common, details=details))
    return found


def make_firmware(description: HeadsetDescription, journal: Journal) -> Firmware:
    """The firmware of a headset's kind."""
    details = dict(description.details)
    match description.kind:
        case "buffered":
            return _buffered(description, journal)
        case "cyton":
            return CytonFirmware(description.name, journal, CytonPlan(description.seed, **details))
        case "cyton-ble":
            return CytonBLEFirmware(description.name, journal, CytonPlan(description.seed, **details))
        case "explore":
            return ExploreFirmware(description.name, journal, ExplorePlan(description.seed, **details))
        case "ganglion":
            ganglion = GanglionPlan(description.seed, **details)
            return GanglionFirmware(description.name, journal, ganglion)
        case "hermes":
            hermes = HermesPlan(description.seed, address=description.address, **details)
            return HermesFirmware(description.name, journal, hermes)
        case "mindwave":
            return MindWaveFirmware(description.name, journal, MindWavePlan(description.seed, **details))
        case "mindwave-2013":
            return MindWave2013Firmware(description.name, journal, MindWavePlan(description.seed, **details))
        case "tgam":
            radio = details.pop("radio", "hm10")
            return BoardFirmware(description.name, journal, MindWavePlan(description.seed, **details), radio)
        case "thinkgear":
            recording = details.pop("recording", None)
            return ThinkGearFirmware(description.name, journal, MindWavePlan(description.seed, **details), recording)
        case "unicorn":
            return UnicornFirmware(description.name, journal, UnicornPlan(description.seed, **details))
        case "athena" | "muse":
            identity: dict[str, Any] = {"serial": description.serial, "address": description.address}
            muse = MusePlan(description.seed, **identity, **details)
            firmware = AthenaFirmware if description.kind == "athena" else MuseFirmware
            return firmware(description.name, journal, muse)
    raise ValueError(f"{description.name}: no such kind: {description.kind}")


def _buffered(description: HeadsetDescription, journal: Journal) -> Firmware:
    details = dict(description.details)
    streams = details.pop("streams", [{"name": "eeg"}])
    plan = BufferedPlan(seed=description.seed, streams=tuple(_stream(entry) for entry in streams), **details)
    return BufferedFirmware(description.name, journal, plan)


def _stream(entry: dict[str, Any]) -> Stream:
    name = str(entry["name"])
    if name in _MOTION:
        kind, unit, scale = _MOTION[name]
        channels = tuple(Channel(axis, kind, unit, scale) for axis in "XYZ")
        return Stream(name, float(entry.get("frequency", 52)), channels)
    count = int(entry.get("channels", 8))
    bank = int(entry.get("bank", 0))
    names = _EEG_CHANNELS if bank == 0 else [f"E{bank * 8 + number + 1}" for number in range(8)]
    frequency = float(entry.get("frequency", 250))
    return Stream(name, frequency, tuple(Channel(n) for n in names[:count]), bank)
