"""Which sample of the headset each n of a stream is."""

from __future__ import annotations

from dataclasses import dataclass

from checks.database import Epoch, StoredStream
from headsets.truth import TrueBoot, TrueStream, Truth


@dataclass(frozen=True)
class Placement:
    """An epoch of a stored stream and the headset's boot that it belongs to: position = n + offset."""

    epoch: Epoch
    boot: TrueBoot
    stream: TrueStream
    offset: int

    def position(self, n: int) -> int:
        """The headset's position of an n."""
        return n + self.offset

    def n(self, position: int) -> int:
        """The n of a headset's position."""
        return position - self.offset


def place_by_boot(stored: StoredStream, truth: Truth) -> tuple[list[Placement], list[str]]:
    """Places the epochs of a headset that sends boot identifiers and absolute indexes; also what cannot be placed."""
    placements, problems = [], []
    for epoch in stored.epochs:
        boot = truth.boot(epoch.boot) if epoch.boot is not None else None
        if boot is None:
            problems.append(f"{stored.name}: the epoch at n {epoch.first_n} names boot {epoch.boot}, which never was")
            continue
        stream = boot.streams[stored.position]
        position = (epoch.first_index - stream.first) & 0xFFFF_FFFF
        placements.append(Placement(epoch, boot, stream, position - epoch.first_n))
    return placements, problems
