"""What the lab must know of a kind of headset, in the file of its firmware: everything else follows from it.

A file of this folder that has a line `KINDS = (...)` is found by `headsets.kinds`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .description import HeadsetDescription
    from .firmware import Firmware
    from .journal import Journal

Rows = list[tuple[int, ...]]
# From the signal of a stream to what the headset sends of it.
Values = Callable[[Rows], Rows]


def as_they_are(stream: str) -> Values:
    """The values of a headset that sends its signal as it is."""
    return list


@dataclass(frozen=True)
class Specimen:
    """One headset of a kind, as it is in the room."""

    # Its complete local name.
    name: str
    address: str
    seed: int
    serial: str = ""
    # What the names of its scenarios begin with; empty where it has none of those that all have.
    scenario: str = ""
    # What their titles begin with.
    title: str = ""
    # Further fields of the description, see `headsets.description`.
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Kind:
    """A kind of headset."""

    # As descriptions name it.
    name: str
    # The identifier of the model of which eegsync takes it to be.
    model: str
    make: Callable[[HeadsetDescription, Journal], Firmware]
    # The number of its scenarios in the table of the documentation.
    number: int = 0
    specimens: tuple[Specimen, ...] = ()
    # Another one of the model, which nobody records, and the kind that it is of where that is not this one.
    other: Specimen | None = None
    kind_of_other: str = ""
    # True where it has a serial port over Bluetooth Classic.
    is_serial: bool = False
    # True where it can be asked for what was missed.
    has_memory: bool = False
    # True where nothing but its address says which one it is.
    is_known_by_address: bool = True
    # By the name of a stream.
    values: Callable[[str], Values] = as_they_are
    # Scenarios that not all have, by their names in `scenarios.unbuffered`.
    scenarios: tuple[str, ...] = ()
    # Where a single notification is lost: what that is, and the beginning of the characteristic.
    lost: tuple[str, str] | None = None
    # For how long it can stall and lose nothing.
    stall_seconds: float | None = None
