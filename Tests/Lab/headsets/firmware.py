"""What every headset's firmware has in common: a machine without a clock, a task or a radio of its own.

A `Headset` tells it what happens and when; `turn` hands out the notifications that are due.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .journal import Journal

# Characteristic properties, as short as in the Bluetooth specification.
READ, WRITE, WRITE_WITHOUT_RESPONSE, NOTIFY = "read", "write", "write-without-response", "notify"

DEVICE_INFORMATION = "180A"
SERIAL_NUMBER = "2A25"


@dataclass(frozen=True)
class Characteristic:
    """A characteristic of the GATT database."""

    uuid: str
    properties: frozenset[str]
    value: bytes = b""


@dataclass(frozen=True)
class Service:
    """A primary service of the GATT database."""

    uuid: str
    characteristics: tuple[Characteristic, ...]


@dataclass(frozen=True)
class Appearance:
    """What a headset advertises in one of its modes."""

    name: str
    services: tuple[str, ...]
    manufacturer_data: bytes = b""


@dataclass(frozen=True)
class Notification:
    """A value that the headset wants to send."""

    uuid: str
    value: bytes


@dataclass
class Link:
    """What the firmware sees of a connection."""

    # The longest notification: ATT_MTU less 3.
    longest: int = 20
    # The connection interval in nanoseconds: the radio's turns.
    interval: int = 30_000_000
    notifying: set[str] = field(default_factory=set)


class Firmware:
    """Base of the headsets' firmware; instants are nanoseconds of the headsets' time."""

    # True where Device Information shows the headset's serial number.
    shows_serial = False

    def __init__(self, name: str, journal: Journal) -> None:
        self.name = name
        self.journal = journal
        self.link: Link | None = None
        self.mutes_status = False
        # What the firmware asks of the headset around it: "disconnect", "reboot". Taken after each write.
        self.requests: list[str] = []

    def database(self) -> tuple[Service, ...]:
        """The GATT database, without the services that each peripheral has."""
        raise NotImplementedError

    def device_information(self) -> dict[str, bytes]:
        """Characteristics of the Device Information service besides the serial number."""
        return {}

    def appearance(self, pairing: bool) -> Appearance:
        """What is advertised, in pairing mode or in normal operation."""
        raise NotImplementedError

    def power_on(self, now: int) -> None:
        """The headset has started."""

    def power_off(self, now: int) -> None:
        """The headset loses power or restarts."""

    def state(self) -> dict[str, Any]:
        """What `resume` needs to go on in another process."""
        raise NotImplementedError

    def resume(self, state: dict[str, Any], now: int) -> None:
        """Goes on from a state, in place of `power_on`; the link has ended meanwhile."""
        raise NotImplementedError

    def low_power(self, now: int) -> bool:
        """The headset falls asleep; False where it has no such state."""
        return False

    def connected(self, link: Link, now: int) -> None:
        """A central has connected."""
        self.link = link

    def disconnected(self, now: int) -> None:
        """The connection has ended."""
        self.link = None

    def subscribed(self, uuid: str, now: int) -> None:
        """`link.notifying` has changed."""

    def write(self, uuid: str, value: bytes, now: int) -> None:
        """The central has written a characteristic."""

    def press(self, now: int) -> None:
        """A person presses the headset's button."""
        raise ValueError(f"{self.name} has no button")

    def read(self, uuid: str, now: int) -> bytes | None:
        """The value of a characteristic that changes; None for the constant of the database."""
        return None

    def next_turn(self, now: int) -> int | None:
        """When `turn` will have something to do; None: not before something else happens."""
        return None

    def turn(self, now: int) -> list[Notification]:
        """What is sent now."""
        return []

    def statistics(self, now: int) -> dict[str, Any]:
        """Facts for the command `stats`."""
        return {}
