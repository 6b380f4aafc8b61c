"""A directory as a scenario leaves it, of a perfect recording, into which tests plant defects."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

from headsets.clock import SamplingClock
from headsets.waveform import Waveform
from lab.marks import Goal, Mark
from lab.scenario import LabHeadset, Scenario

SECOND = 1_000_000_000
FREQUENCY = 100
CHANNELS = 2
BEGAN = 1 * SECOND
BOOT = 0x11
SEED = 5
# Positions 0 ... 2,999 are sampled: 30 s.
COUNT = 3000
# The link is lost for positions 1,000 ... 1,499, which are read from memory later.
LOST, RETURNED = 1000, 1500
_MIGRATIONS = Path(__file__).resolve().parents[3] / "Migrations" / "sql"

SCENARIO = Scenario(
    1,
    "planted",
    "a recording that tests damage",
    [lambda lab: None],
    headsets=(
        LabHeadset("BEEG-0001", "left", "C0:00:00:00:00:01", SEED, "LAB-0001"),
        LabHeadset("BEEG-0666", None, "C0:00:00:00:06:66", 666, "LAB-0666"),
    ),
)


class RecordedShare:
    """The directory; `execute` changes its database, `journal` its journal."""

    def __init__(self, directory: Path) -> None:
        self.path = directory
        (directory / "journals").mkdir()
        self._connection = sqlite3.connect(directory / "eegsync.sqlite")
        for file in sorted(_MIGRATIONS.glob("*.sql")):
            self._connection.executescript(file.read_text(encoding="utf-8"))
        self._clock = SamplingClock(BEGAN, FREQUENCY)
        self._fill()
        self._journal: list[dict[str, Any]] = []
        self._write_journal()
        back = self.time(RETURNED)
        self.mark(Mark("left", "away 5 s", Goal.RADIO, back, back + SECOND // 4, lost=self.time(LOST)))

    def time(self, position: int) -> int:
        """When a position was sampled."""
        return self._clock.time(position)

    def execute(self, sql: str, *arguments: object) -> None:
        """Changes the database."""
        with self._connection:
            self._connection.execute(sql, arguments)

    def mark(self, mark: Mark) -> None:
        """Adds a mark."""
        mark.append_to(self.path / "marks.jsonl")

    def journal(self, position: int, event: str, **fields: object) -> None:
        """Adds an event at the time of a position."""
        self._journal.append({"time": self.time(position), "event": event, **fields})
        self._journal.sort(key=lambda entry: int(entry["time"]))
        text = "".join(json.dumps(entry) + "\n" for entry in self._journal)
        (self.path / "journals" / "BEEG-0001.jsonl").write_text(text, encoding="utf-8")

    def values(self, position: int, seed: int = SEED) -> tuple[int, ...]:
        """What a headset with a seed measured."""
        return Waveform(seed, BOOT, 0, CHANNELS).rows(position, 1)[0]

    def _write_journal(self) -> None:
        clock = {"first": 0, "began": BEGAN, "microhertz": self._clock.microhertz, "channels": CHANNELS}
        self.journal(0, "machineBooted", shift=0)
        self.journal(0, "boot", boot=BOOT, number=0, seed=SEED, clocks=[clock])
        self.journal(0, "connected")
        self.journal(0, "samplingBegan", boot=BOOT, positions=[0])
        self.journal(0, "subscribed", uuid="data", on=True)
        self.journal(LOST, "vanished")
        self.journal(LOST, "disconnected", reason=8)
        self.journal(RETURNED, "returned", connected=False)
        self.journal(RETURNED, "connected")
        self.journal(RETURNED, "subscribed", uuid="data", on=True)
        self.journal(COUNT, "samplingEnded", boot=BOOT, positions=[COUNT])

    def _fill(self) -> None:
        period = SECOND / FREQUENCY
        noticed = self.time(LOST) + SECOND // 2
        self.execute("INSERT INTO host_boot (id, uuid) VALUES (1, 'boot')")
        self.execute("INSERT INTO headset (id, name, model, serial_number) VALUES (1, 'left', 'buffered-eeg', 'LAB-0001')")
        self.execute(
            "INSERT INTO recording (id, headset_id, desired_state, requested_host_boot_id, requested_boottime_ns,"
            " stop_requested_host_boot_id, stop_requested_boottime_ns) VALUES (1, 1, 'stopped', 1, 0, 1, ?)",
            self.time(COUNT),
        )
        self.execute(
            "INSERT INTO stream (id, recording_id, position, name, bank, sampling_frequency, samples_per_count,"
            " channel_count, view_name) VALUES (1, 1, 0, 'eeg', 0, ?, 1, ?, 'eeg_1')",
            FREQUENCY,
            CHANNELS,
        )
        self.execute("INSERT INTO epoch VALUES (1, 0, ?, 0, 0, 1, ?)", BOOT, BEGAN)
        self.execute("INSERT INTO segment VALUES (1, 0, ?, 0, 1, 0, ?, ?, 1000, 30, 1000000)", COUNT - 1, BEGAN, period)
        self.execute(
            "INSERT INTO gap (stream_id, first_n, channel, count, cause, recovered, host_boot_id, boottime_ns)"
            " VALUES (1, ?, 0, ?, 'linkLost', ?, 1, ?)",
            LOST,
            RETURNED - LOST,
            RETURNED - LOST,
            noticed,
        )
        self.execute(
            "INSERT INTO connection_event (headset_id, host_boot_id, boottime_ns, state) VALUES (1, 1, ?, 'searching')", noticed
        )
        rows = [(n, *self.values(n)) for n in range(COUNT)]
        with self._connection:
            self._connection.executemany("INSERT INTO sample (stream_id, n, c1, c2) VALUES (1, ?, ?, ?)", rows)
