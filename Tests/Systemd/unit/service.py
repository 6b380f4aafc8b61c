"""eegsync as a service of a machine, and what must hold of its recordings after everything."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from unit.machine import Machine, MachineError, wait_for

DATABASE = "/var/lib/eegsync/eegsync.sqlite"
# Who looks waits while the daemon recovers the database.
PATIENT = "-cmd '.timeout 20000'"
# The first recording: a Muse, which has no memory, so that what is lost stays in the ledger.
_WITNESS = 1
_STREAM = "eeg"
# What a headset by its design never sends.
_BY_DESIGN = "notSent"
_GO_ON_SECONDS = 120.0
# A disk at work in a simulated machine: what is younger than this is a sample that was recorded just now.
_FRESH_SAMPLES = 128


@dataclass(frozen=True)
class Gap:
    """What is missing in the stream of the headset without memory."""

    first: int
    cause: str
    seconds: float


@dataclass
class Service:
    """The daemon of a machine."""

    machine: Machine
    figures: list[str] = field(default_factory=list)

    # Looking

    def property(self, name: str) -> str:
        """A property of the unit."""
        return self.machine.run(f"systemctl show eegsync --property={name} --value")

    def journal(self) -> str:
        """What the unit has logged in this boot, without the prefixes."""
        return self.machine.run("journalctl --unit=eegsync --boot --output=cat --no-pager")

    def expect_in_journal(self, text: str, seconds: float = 60.0) -> None:
        """Waits until the unit's journal has a text."""
        wait_for(lambda: text in self.journal(), seconds, f"the journal says: {text}")

    def newest(self) -> dict[int, int]:
        """The index of the newest sample of each stream."""
        text = self.machine.run(
            f"sqlite3 -readonly {PATIENT} {DATABASE} 'SELECT stream_id, max(n) FROM sample GROUP BY stream_id'"
        )
        return {int(stream): int(n) for stream, n in (line.split("|") for line in text.splitlines())}

    def gaps(self) -> list[Gap]:
        """The gaps of the stream of the headset without memory."""
        document: dict[str, Any] = json.loads(self.machine.run(f"eegsync gaps {_WITNESS} --json --database {DATABASE}"))
        return [
            Gap(gap["first_n"], gap["cause"], _seconds(gap))
            for gap in document["gaps"]
            if gap["stream"] == _STREAM and gap["channel"] == 0 and gap["cause"] != _BY_DESIGN
        ]

    # Doing

    def record(self) -> None:
        """Starts to record both headsets, and waits for a second of samples of each stream."""
        wait_for(lambda: self.property("ActiveState") == "active", _GO_ON_SECONDS, "the unit is active")
        self.machine.run("eegsync record start left && eegsync record start right")
        wait_for(lambda: len(self.newest()) == 5, _GO_ON_SECONDS, "five streams are recorded")
        self.expect_more()

    def expect_more(self, seconds: float = _GO_ON_SECONDS) -> None:
        """Waits until each stream has samples that it has not now: the recording goes on by itself."""
        before = self.newest()

        def grown() -> bool:
            now = self.newest()
            return all(now.get(stream, 0) > n + _FRESH_SAMPLES // 4 for stream, n in before.items())

        wait_for(grown, seconds, "samples are recorded again")

    def audit(self) -> None:
        """What is recorded must agree with its evidence."""
        # Of 400 MB it takes minutes on a slow disk.
        status, output = self.machine.attempt(f"eegsync audit --database {DATABASE}", 600)
        if status != 0 or "The audit holds" not in output:
            raise MachineError(f"the audit ends with {status}:\n{output}")

    @contextmanager
    def one_gap(self, causes: Sequence[str], most_seconds: float, what: str, most_gaps: int = 1) -> Iterator[None]:
        """Whatever is done inside: the recording goes on by itself, the audit holds, and the ledger has exactly one gap more
        (or up to so many), of one of these causes and not longer than that. Without causes there is none.
        """
        known = {gap.first for gap in self.gaps()}
        yield
        self.expect_more()

        def new() -> list[Gap]:
            return [gap for gap in self.gaps() if gap.first not in known]

        if causes:
            wait_for(new, 30, "the ledger has the gap")
        gaps = new()
        self.audit()
        if len(gaps) > most_gaps or any(gap.cause not in causes for gap in gaps):
            raise MachineError(f"expected {' or '.join(causes) or 'no gap'}, the ledger has {gaps}")
        if not gaps:
            self.figures.append(f"{what}: no sample missing")
            return
        missing = sum(gap.seconds for gap in gaps)
        self.figures.append(f"{what}: {missing:.2f} s missing in {len(gaps)}, cause {gaps[0].cause}")
        if missing > most_seconds:
            raise MachineError(f"{missing} s are missing, more than {most_seconds}")


def _seconds(gap: dict[str, Any]) -> float:
    """How long a gap is. Over a reboot the headset's counter says nothing, and the two clocks do."""
    if "duration_seconds" in gap:
        return float(gap["duration_seconds"])
    if "end_unix_nanoseconds" not in gap:
        raise MachineError(f"a gap without an end: {json.dumps(gap)}")
    return float(gap["end_unix_nanoseconds"] - gap["start_unix_nanoseconds"]) / 1e9
