"""What a scenario can do and expect; its vocabulary."""

from __future__ import annotations

import fcntl
import random
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from guest.acquisition import Acquisition
from guest.bluetooth import BluetoothSystem, HeadsetControl
from guest.clock import let_pass, now, wait_for
from guest.process import LabError
from lab.marks import RECORD_START, Goal, Mark
from lab.measurements import Measurement
from lab.scenario import Scenario

# How long a return is waited for: far more than the gate, so that the report shows how bad it is.
_RETURN_SECONDS = 60.0
# At the end the headset's memory is read out; this bounds the wait for it.
_DRAIN_SECONDS = 300.0
# Samples are acknowledged when they are on disk: a second and a half later.
_UNREAD_SECONDS = 4.0


class Lab:
    """A machine with headsets, bluetoothd and eegsync."""

    def __init__(self, scenario: Scenario, share: Path, program: str, seed: int, boot: int) -> None:
        self.scenario = scenario
        self.share = share
        self.boot = boot
        # Moves the faults against everything that is periodic; a run is repeated with another seed.
        self.random = random.Random(f"{scenario.name} {seed} {boot}")
        self.headsets = HeadsetControl(share)
        self.bluetooth = BluetoothSystem(share)
        configured = [h.configuration() for h in scenario.headsets if h.alias]
        self.acquisition = Acquisition(program, share, configured, scenario.central, scenario.has_spool)
        self._names = {h.alias: h.name for h in scenario.headsets if h.alias}

    # Beginning

    def switch_on(self) -> None:
        """The bus and the headsets; bluetoothd and eegsync are started by the scenario."""
        self.bluetooth.start_bus()
        self.headsets.start()

    def start(self) -> None:
        """Starts bluetoothd and then eegsync."""
        self.start_bluetooth()
        self.start_acquisition()

    def start_bluetooth(self) -> None:
        """Starts bluetoothd and waits until the adapter is on; without bluetoothd, eegsync switches it on."""
        if self.acquisition.central == "kernel":
            return
        self.bluetooth.start()
        self.bluetooth.wait_until_ready()

    def start_acquisition(self) -> int:
        """Starts `eegsync run`; when."""
        if not self.acquisition.configuration.exists():
            self.acquisition.configure()
        instant = now()
        self.acquisition.program.start()
        return instant

    @property
    def route(self) -> str:
        """`bluez` or `kernel`: which central eegsync uses, or chooses where that is left to it."""
        if self.acquisition.central != "auto":
            return self.acquisition.central
        return "bluez" if self.bluetooth.bluetoothd.is_running else "kernel"

    def take_route(self, central: str) -> None:
        """From the next start on eegsync uses this central; bluetoothd is ended where the central is not its own."""
        if central == "kernel" and self.bluetooth.bluetoothd.is_running:
            self.bluetooth.bluetoothd.end()
        self.acquisition.central = central
        self.acquisition.configure()

    def record(self, *names: str) -> None:
        """Starts recordings and waits for the first samples of each, which counts as a return."""
        for name in names:
            since = now()
            self.acquisition.command("record", "start", name)
            self.expect_return(name, since, RECORD_START, Goal.GATE)

    def record_all(self) -> None:
        """Records every configured headset."""
        self.record(*self._names)

    def record_through(self, fault: Callable[[Lab], None], times: int = 1, names: Sequence[str] = ("left",)) -> None:
        """Records, and lets something happen so many times, with an undisturbed while before each and at the end."""
        self.start()
        self.record(*names)
        for _ in range(times):
            self.undisturbed()
            fault(self)
        self.undisturbed()

    # Time

    def pass_time(self, seconds: float) -> None:
        """Lets simulated time pass."""
        let_pass(seconds)

    def undisturbed(self, seconds: float = 3.0) -> None:
        """A while without a fault, of a length that no timer has."""
        let_pass(seconds * self.random.uniform(0.8, 1.2))

    # Faults

    def tell(self, command: str, name: str, *words: object) -> int:
        """Does something to a headset; when."""
        return self.headsets.tell(command, self._names.get(name, name), *words)

    def address(self, name: str) -> str:
        """The address that a headset advertises with now."""
        return str(self.headsets.statistics(self._names[name])["address"])

    def away(self, name: str, seconds: float, fault: str, goal: Goal = Goal.RADIO) -> None:
        """Out of range for a time, and back; if that is sooner than the supervision timeout, on the same link."""
        lost = self.tell("vanish", name)
        let_pass(seconds)
        since = self.tell("return", name)
        if self.is_connected(name):
            self.expect_rows(name, since, f"{fault}, link kept", Goal.GATE)
        else:
            self.expect_return(name, since, fault, goal, lost=lost)

    def is_connected(self, name: str) -> bool:
        """Whether anybody has a link to the headset, as it says itself."""
        return bool(self.headsets.statistics(self._names[name])["connected"])

    def kill_acquisition(self, name: str, fault: str, goal: Goal = Goal.PROCESS) -> None:
        """kill -9 and the restart at once, as the service manager does it."""
        since = self.acquisition.kill()
        self.start_acquisition()
        self.expect_return(name, since, fault, goal)

    def kill_bluetooth(self, name: str, fault: str, seconds: float = 1.0) -> None:
        """bluetoothd is killed, and started again after a time."""
        lost = now()
        self.bluetooth.kill()
        self.pass_time(seconds)
        since = now()
        self.bluetooth.start()
        self.expect_return(name, since, fault, Goal.SYSTEM, lost, advertising=True)

    # Expectations

    def expect_return(
        self, name: str, since: int, fault: str, goal: Goal, lost: int | None = None, advertising: bool = False
    ) -> None:
        """Waits for the first sample of a new link and notes how long it took.

        With `advertising` the time counts from the headset's first advertisement after `since`, for where the headset itself
        needs some time until a central could connect.
        """
        found = self.acquisition.first_sample_since(name, since, _RETURN_SECONDS)
        available = since
        if advertising:
            event = self._last_available(name)
            if event is not None and since <= event and (found is None or event <= found.boottime):
                available = event
        first = found.boottime if found else None
        layer = found.layer if found else None
        self._note(Mark(name, fault, goal, available, first, self.boot, lost, layer, self.route))
        if found is None:
            raise LabError(f"{name} did not return within {_RETURN_SECONDS:.0f} s after: {fault}")

    def expect_rows(self, name: str, since: int, fault: str, goal: Goal) -> None:
        """Waits until rows are stored that were sampled after an instant; for faults that the link survives."""
        with self._following():
            found = wait_for(lambda: self._newest_row(name) > since, _RETURN_SECONDS, step=0.05)
        self._note(Mark(name, fault, goal, since, now() if found else None, self.boot, route=self.route))
        if not found:
            raise LabError(f"nothing of {name} was stored for {_RETURN_SECONDS:.0f} s after: {fault}")

    @contextmanager
    def _following(self) -> Iterator[None]:
        """Meanwhile transactions are made each second, as for any program that reads along."""
        with Path(f"{self.share}/eegsync.sqlite-follow").open(encoding="ascii") as file:
            fcntl.lockf(file, fcntl.LOCK_SH)
            yield

    def expect_no_rows(self, name: str, seconds: float, why: str) -> None:
        """Nothing may be recorded for a time."""
        before = self.row_count(name)
        let_pass(seconds)
        if self.row_count(name) != before:
            self._note_problem(f"{name} was recorded although {why}")

    def wait_until(self, condition: Callable[[], Any], seconds: float, what: str) -> None:
        """Waits for something that the scenario needs before it can go on."""
        if not wait_for(condition, seconds):
            raise LabError(f"waited {seconds:.0f} s in vain: {what}")

    def require(self, holds: bool, otherwise: str) -> None:
        """Notes a problem unless something holds."""
        if not holds:
            self._note_problem(otherwise)

    def note_figure(self, text: str) -> None:
        """A line for a person, printed with the result."""
        with (self.share / "figures.txt").open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    def note_measurement(self, measurement: Measurement) -> None:
        """Figures for the report."""
        measurement.append_to(self.share / "measurements.jsonl")

    def _note(self, mark: Mark) -> None:
        mark.append_to(self.share / "marks.jsonl")

    def _note_problem(self, text: str) -> None:
        with (self.share / "problems.txt").open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    # Looking

    def _last_available(self, name: str) -> int | None:
        """When a headset could be connected again for the last time."""
        found = self.headsets.statistics(self._names[name])["last"].get("available")
        return None if found is None else int(found)

    def _query(self, sql: str, *arguments: object) -> Any:
        connection = sqlite3.connect(f"file:{self.share}/eegsync.sqlite?mode=ro", uri=True, timeout=5)
        try:
            row = connection.execute(sql, arguments).fetchone()
            return row[0] if row else None
        finally:
            connection.close()

    def row_count(self, name: str) -> int:
        """The rows that are stored of a headset."""
        return int(
            self._query(
                "SELECT count(*) FROM sample WHERE stream_id IN (SELECT s.id FROM stream AS s JOIN recording AS r"
                " ON r.id = s.recording_id JOIN headset AS h ON h.id = r.headset_id WHERE h.name = ?)",
                name,
            )
        )

    def _newest_row(self, name: str) -> int:
        """When the newest row of a headset was sampled, on CLOCK_BOOTTIME."""
        return int(
            self._query(
                "SELECT coalesce(max(g.reference_boottime_ns + (g.last_n - g.reference_n) * g.period_ns), 0)"
                " FROM segment AS g JOIN stream AS s ON s.id = g.stream_id JOIN recording AS r ON r.id = s.recording_id"
                " JOIN headset AS h ON h.id = r.headset_id JOIN host_boot AS b ON b.id = g.host_boot_id"
                " WHERE h.name = ? AND b.uuid = ?",
                name,
                Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip(),
            )
        )

    def memory_is_read(self, name: str) -> bool:
        """True once a headset with memory was told to forget all but the newest seconds."""
        firmware = self.headsets.statistics(self._names[name]).get("firmware", {})
        headset = next(h for h in self.scenario.headsets if h.alias == name)
        frequencies = [stream["frequency"] for stream in headset.details.get("streams", [])]
        streams = firmware.get("streams", [])
        return all(
            stream["end"] - stream["acknowledged"] < _UNREAD_SECONDS * frequency
            for stream, frequency in zip(streams, frequencies, strict=False)
        )

    def missing(self, name: str, cause: str = "%") -> int:
        """How many rows of a headset the ledger still misses, for any cause or for one."""
        with self._following():
            # The look at whether somebody follows, and a transaction.
            let_pass(2)
        return int(
            self._query(
                "SELECT coalesce(sum(p.count - p.recovered), 0) FROM gap AS p JOIN stream AS s ON s.id = p.stream_id"
                " JOIN recording AS r ON r.id = s.recording_id JOIN headset AS h ON h.id = r.headset_id"
                " WHERE h.name = ? AND p.channel = 0 AND p.cause LIKE ?",
                name,
                cause,
            )
        )

    def are_notifications_acquired(self, name: str, since: int) -> bool:
        """True where an attempt to reach a headset has ended because another program seemed to have its notifications."""
        sql = (
            "SELECT count(*) FROM connection_attempt AS a JOIN headset AS h ON h.id = a.headset_id"
            " WHERE h.name = ? AND a.cause = 'notificationsAcquired' AND a.began_boottime_ns >= ?"
        )
        return bool(self._query(sql, name, since))

    def annotation_count(self, name: str, beginning: str) -> int:
        """How many annotations of a headset begin with a text."""
        return int(
            self._query(
                "SELECT count(*) FROM annotation AS a JOIN recording AS r ON r.id = a.recording_id"
                " JOIN headset AS h ON h.id = r.headset_id WHERE h.name = ? AND a.description LIKE ? || '%'",
                name,
                beginning,
            )
        )

    def clock_offset(self) -> int:
        """UTC less CLOCK_BOOTTIME in nanoseconds, as last recorded."""
        return int(self._query("SELECT offset_ns FROM clock_offset ORDER BY id DESC LIMIT 1"))

    def first_index(self) -> int:
        """The index of a sample less its n, in the latest epoch of the latest stream."""
        return int(self._query("SELECT first_index - first_n FROM epoch ORDER BY stream_id DESC, number DESC LIMIT 1"))

    # End

    def finish(self) -> None:
        """Lets memories be read, stops what is recorded and ends everything in order."""
        if self.acquisition.program.is_running:
            wait_for(lambda: all(map(self.memory_is_read, self._names)), _DRAIN_SECONDS, step=0.5)
            let_pass(2.0)
            for name in self._recorded():
                self.acquisition.command("record", "stop", name)
            wait_for(lambda: not self._open_recordings(), 10.0, step=0.1)
            status = self.acquisition.program.end()
            if status != 0:
                self._note_problem(f"eegsync run ended with status {status} after SIGTERM")

    def _recorded(self) -> list[str]:
        return [name for name in self._names if self._query(_IS_RECORDED, name)]

    def _open_recordings(self) -> int:
        return int(self._query("SELECT count(*) FROM recording WHERE stopped_boottime_ns IS NULL"))


_IS_RECORDED = (
    "SELECT 1 FROM recording AS r JOIN headset AS h ON h.id = r.headset_id WHERE h.name = ? AND r.desired_state = 'recording'"
)
