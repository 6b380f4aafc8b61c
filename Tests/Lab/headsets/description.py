"""Which headsets there are: the JSON file that the lab is given.

    {"headsets": [{"name": "BEEG-1001", "kind": "buffered", "address": "C0:00:00:00:10:01", "seed": 1, "serial": "BE-1"}]}

With "second_adapter": true beside "headsets" the machine has two adapters; with "phone": true a phone looks on. For every kind:
    name                   complete local name
    kind                   one of `headsets.kinds`
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
For the others, the fields of the plan in the file of their kind, and what their `Kind.make` takes beside.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from bumble import crypto
from bumble.hci import Address, AddressType

from .firmware import Firmware
from .journal import Journal
from .kinds import kind_named


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
        return kind_named(self.kind).is_serial

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


def has_second_adapter(path: Path) -> bool:
    """Whether the machine has two adapters."""
    return bool(json.loads(path.read_text(encoding="utf-8")).get("second_adapter", False))


def has_phone(path: Path) -> bool:
    """Whether a phone is there."""
    return bool(json.loads(path.read_text(encoding="utf-8")).get("phone", False))


def make_firmware(description: HeadsetDescription, journal: Journal) -> Firmware:
    """The firmware of a headset's kind."""
    return kind_named(description.kind).make(description, journal)
