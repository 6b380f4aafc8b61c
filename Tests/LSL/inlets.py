"""Strangers' ends of LSL around `eegsync lsl`: inlets that must get every sample once, a recorder, and an outlet of markers.

    python inlets.py PROGRAM [MINUTES]

Two headsets are simulated, one with a memory. Recording is paused; the daemon, `eegsync lsl`, a reader and a recorder are
killed, again and again where MINUTES are named; what was received, and what pyxdf reads of the recorder's files, is compared
with the rows and times of the database. Ends with "N passed, N failed".
"""

from __future__ import annotations

import bisect
import contextlib
import dataclasses
import itertools
import math
import pathlib
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

import pylsl
import pyxdf

from checklist import check, conclude, failed

HEADSETS = {"left": "buffered-eeg", "right": "muse"}
# A time is right within so many seconds, and its standard deviation.
DEVIATION_MAXIMUM = 0.002
# The first seconds of a link, in which the rate of its clock is still being learnt, may be off by so much.
EARLY_MAXIMUM = 0.1
# An inlet takes up an outlet that comes again within so many seconds.
RETURN_MAXIMUM = 10.0
# The rate of what was recorded may be off by so much of it.
RATE_DEVIATION_MAXIMUM = 0.001
# A step of so many seconds is a gap.
BREAK = 0.1
# Of MINUTES, how many seconds lie between two losses.
QUIET = 90
Row = tuple[int | None, ...]


class BrokenRuleError(Exception):
    """A check that did not hold."""


def say(text: str) -> None:
    print(f"==> {text}", file=sys.stderr, flush=True)


def wanted(holds: bool, text: str) -> None:
    if not holds:
        raise BrokenRuleError(text)


def let_pass(seconds: float) -> None:
    """What is received is what happens in real time, as with the programs that LSL is made for."""
    threading.Event().wait(seconds)


class Inlet(threading.Thread):
    """Takes everything of one stream, and goes on where its outlet was gone for a while."""

    def __init__(self, info: pylsl.StreamInfo) -> None:
        super().__init__(daemon=True)
        self.name = info.name()
        self.samples: list[tuple[float, list[Any]]] = []
        self.inlet = pylsl.StreamInlet(info, recover=True)
        self.info = self.inlet.info(timeout=10)
        self.ended = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.ended.is_set():
            values, stamps = self.inlet.pull_chunk(timeout=0.2, max_samples=4096)
            self.samples.extend(zip(stamps, values, strict=True))

    def stop(self) -> None:
        self.ended.set()
        self.join()


class Bench:
    """The daemon, `eegsync lsl`, and what stands between them and the test."""

    def __init__(self, program: str, work: pathlib.Path) -> None:
        self.program = program
        self.database = work / "eegsync.sqlite"
        self.configuration = work / "eegsync.yaml"
        simulated = "".join(f"    - {{name: {name}, model: {model}, serial: SIM-{name}}}\n" for name, model in HEADSETS.items())
        configured = "".join(f"  - {{name: {name}, model: {model}, serial: SIM-{name}}}\n" for name, model in HEADSETS.items())
        self.configuration.write_text(
            f"database: {self.database}\ncentral:\n  kind: simulation\n  seed: 1\n  headsets:\n{simulated}"
            f"headsets:\n{configured}"
        )
        library = pylsl.lib.find_liblsl_libraries()
        self.library = str(next(iter(library)))
        self.log = (work / "log").open("w")
        self.daemon = self.start("run", "--config", str(self.configuration))
        for _ in range(100):
            if self.database.exists() and pathlib.Path(f"{self.database}-tap").exists():
                break
            let_pass(0.1)
        for name, model in HEADSETS.items():
            self.command("record", "start", name, "--model", model)
        self.lsl = self.start_lsl()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen([self.program, *arguments], stdout=self.log, stderr=self.log)

    def start_lsl(self) -> subprocess.Popen[bytes]:
        return self.start("lsl", "--config", str(self.configuration), "--library", self.library, "--markers", "stimuli")

    def command(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.program, *arguments, "--database", str(self.database)], capture_output=True, text=True, check=False
        )
        wanted(done.returncode == 0, f"{arguments}: {done.stderr}")
        return done.stdout

    def kill_daemon(self) -> None:
        self.daemon.kill()
        self.daemon.wait()

    def start_daemon(self) -> None:
        self.daemon = self.start("run", "--config", str(self.configuration))

    def kill_lsl(self) -> None:
        self.lsl.kill()
        self.lsl.wait()

    def end(self) -> None:
        for process in (self.lsl, self.daemon):
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=20)

    def kill(self) -> None:
        """Whatever still runs, also where the test itself failed: its outlets would be taken for another's."""
        for process in (self.lsl, self.daemon):
            process.kill()
            process.wait()

    def query(self, sql: str, *arguments: object) -> list[tuple[Any, ...]]:
        with contextlib.closing(sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)) as connection:
            return connection.execute(sql, arguments).fetchall()


class Stored:
    """The rows of one stream as the database has them, and their times in LSL's clock."""

    def __init__(self, bench: Bench, headset: str, stream: str) -> None:
        found = bench.query(
            "SELECT s.id, s.channel_count FROM stream AS s JOIN recording AS r ON r.id = s.recording_id"
            " JOIN headset AS h ON h.id = r.headset_id WHERE h.name = ? AND s.name = ? AND s.bank = 0",
            headset,
            stream,
        )
        self.stream, width = found[0]
        self.scales = bench.query('SELECT scale, "offset" FROM channel WHERE stream_id = ? ORDER BY number', self.stream)
        columns = ", ".join(f"c{number + 1}" for number in range(width))
        segments = bench.query(
            "SELECT first_n, reference_n, reference_boottime_ns, period_ns FROM segment WHERE stream_id = ? ORDER BY first_n",
            self.stream,
        )
        firsts = [segment[0] for segment in segments]
        # The machine of a test is not suspended while it runs: the two clocks differ by a constant.
        offset = time.clock_gettime(time.CLOCK_MONOTONIC) - time.clock_gettime(time.CLOCK_BOOTTIME)
        # Samples a second, over all of it.
        self.rate = 1e9 * sum(1 / segment[3] for segment in segments) / len(segments)
        self.rows: list[tuple[int, float, Row]] = []
        for n, *values in bench.query(f"SELECT n, {columns} FROM sample WHERE stream_id = ? ORDER BY n", self.stream):
            _, reference_n, reference, period = segments[max(0, bisect.bisect_right(firsts, n) - 1)]
            self.rows.append((n, (reference + (n - reference_n) * period) / 1e9 + offset, tuple(values)))

    def raw(self, values: list[Any]) -> Row:
        """Raw counts of physical values."""
        pairs = zip(values, self.scales, strict=True)
        return tuple(None if math.isnan(value) else round((value - offset) / scale) for value, (scale, offset) in pairs)

    def match(self, samples: list[tuple[float, list[Any]]]) -> list[tuple[int, float]]:
        """The n of each sample received, by its values and the nearest time, and how far its stamp is from the time stored."""
        known: dict[Row, list[tuple[float, int]]] = defaultdict(list)
        for n, stamp, row in self.rows:
            known[row].append((stamp, n))
        matched = []
        for stamp, values in samples:
            found = known.get(self.raw(values), [])
            wanted(bool(found), f"a sample at {stamp:.3f} is in no row: {values}")
            nearest, n = min(found, key=lambda each: abs(each[0] - stamp))
            matched.append((n, stamp - nearest))
        return matched


def inlets(*names: str) -> dict[str, Inlet]:
    """An inlet for each of the streams."""
    found: dict[str, Inlet] = {}
    for name in names:
        infos = pylsl.resolve_byprop("name", name, timeout=20)
        wanted(len(infos) == 1, f"{len(infos)} streams {name}")
        found[name] = Inlet(infos[0])
    return found


class HasSamples(Protocol):
    """What somebody received of one stream: stamps and values."""

    samples: list[tuple[float, list[Any]]]


class Timeline:
    """What happened when, in LSL's clock."""

    def __init__(self) -> None:
        # Lost with the daemon: sent, and never stored.
        self.lost: list[tuple[float, float]] = []
        # From a second before the death of `eegsync lsl`.
        self.deaths: list[float] = []
        # What a headset with a memory measured then came when it came.
        self.pauses: list[tuple[float, float]] = []
        self.holes: list[tuple[float, float]] = []

    def is_lost(self, stamp: float) -> bool:
        return any(begin <= stamp <= end for begin, end in self.lost)

    def is_in_hole(self, stamp: float) -> bool:
        return self.is_lost(stamp) or any(begin <= stamp <= end for begin, end in self.holes)

    def with_pauses(self) -> Timeline:
        """The same for somebody who was killed before everything of the pauses had come."""
        copy = Timeline()
        copy.lost, copy.holes = self.lost, [*self.holes, *self.pauses]
        return copy

    def find_holes(self, inlets: list[Inlet]) -> None:
        """From each death of `eegsync lsl` until the last inlet goes on."""
        for death in self.deaths:
            firsts = [next((stamp for stamp, _ in inlet.samples if stamp > death + 1), math.inf) for inlet in inlets]
            wanted(max(firsts) - death <= RETURN_MAXIMUM, f"an inlet went on {max(firsts) - death:.1f} s after the death")
            self.holes.append((death, max(firsts) + 1.5))


def compare(bench: Bench, headset: str, received: Mapping[str, HasSamples], timeline: Timeline, least: int = 250 * 20) -> None:
    """Every row between the first and the last one received was received once, but for those of the holes; stamps are right."""
    stored = Stored(bench, headset, "eeg")
    live = stored.match([each for each in received[f"{headset}-eeg"].samples if not timeline.is_lost(each[0])])
    late = stored.match(received[f"{headset}-eeg-late"].samples) if f"{headset}-eeg-late" in received else []
    numbers = sorted(n for n, _ in live + late)
    wanted(len(numbers) > least, f"only {len(numbers)} samples")
    twice = [n for n, following in itertools.pairwise(numbers) if n == following]
    wanted(not twice, f"{len(twice)} samples came twice, such as n {twice[:3]}")
    got = set(numbers)
    between = range(min(n for n, _ in live), max(n for n, _ in live) + 1)
    missed = [(n, stamp) for n, stamp, _ in stored.rows if n in between and n not in got and not timeline.is_in_hole(stamp)]
    wanted(not missed, f"{len(missed)} samples did not come, such as {missed[:3]}")
    wanted(max(abs(apart) for _, apart in live) <= EARLY_MAXIMUM, "a stamp is far from its time")
    settled = [apart for _, apart in live[len(live) // 3 :]]
    deviation = statistics.pstdev(settled)
    say(
        f"{headset}: {len(live)} samples live, {len(late)} late, stamps {statistics.mean(settled) * 1e3:+.3f} ms, "
        f"SD {deviation * 1e3:.3f} ms"
    )
    wanted(deviation <= DEVIATION_MAXIMUM, f"the standard deviation of stamps is {deviation * 1e3:.3f} ms")


def notices_a_defect(bench: Bench, headset: str, received: dict[str, Inlet], timeline: Timeline) -> None:
    """A comparison that does not notice a sample that is missing, doubled or late has proven nothing."""
    inlet = received[f"{headset}-eeg"]
    whole = inlet.samples
    middle = len(whole) * 2 // 3
    for spoiled in (
        whole[:middle] + whole[middle + 1 :],
        whole[:middle] + whole[middle : middle + 1] + whole[middle:],
        [(stamp + 0.2 * (index % 2), values) for index, (stamp, values) in enumerate(whole)],
    ):
        inlet.samples = spoiled
        try:
            compare(bench, headset, received, timeline)
        except BrokenRuleError:
            continue
        finally:
            inlet.samples = whole
        raise BrokenRuleError("a planted defect was not noticed")


class Recorder:
    """A program of its own that records into a file of XDF, and knows nothing of eegsync."""

    def __init__(self, path: pathlib.Path, *names: str) -> None:
        self.path = path
        script = pathlib.Path(__file__).with_name("recorder.py")
        self.process = subprocess.Popen([sys.executable, "-B", script, path, *names], stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        wanted(self.process.stdout.readline() == b"recording\n", "the recorder did not begin")

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait(timeout=20)


@dataclasses.dataclass
class RecordedStream:
    """One stream of a file of XDF, as pyxdf reads it."""

    samples: list[tuple[float, list[Any]]]

    @property
    def rate(self) -> float:
        """Samples a second of what is unbroken."""
        steps = [later - stamp for (stamp, _), (later, _) in itertools.pairwise(self.samples)]
        unbroken = [step for step in steps if step < BREAK]
        return len(unbroken) / sum(unbroken)


def recorded(path: pathlib.Path, *, is_dejittered: bool) -> dict[str, RecordedStream]:
    """The streams of a file by name."""
    streams, _ = pyxdf.load_xdf(str(path), dejitter_timestamps=is_dejittered)
    return {
        stream["info"]["name"][0]: RecordedStream(
            [(float(stamp), list(values)) for stamp, values in zip(stream["time_stamps"], stream["time_series"], strict=True)]
        )
        for stream in streams
    }


def compare_file(bench: Bench, path: pathlib.Path, timeline: Timeline, least: int) -> None:
    """What pyxdf reads is what is stored, each sample once at its time, at its rate, and dejittering moves no sample."""
    whole, dejittered = (recorded(path, is_dejittered=is_dejittered) for is_dejittered in (False, True))
    for headset in HEADSETS:
        compare(bench, headset, whole, timeline, least)
        stream = f"{headset}-eeg"
        moved = [abs(a - b) for (a, _), (b, _) in zip(whole[stream].samples, dejittered[stream].samples, strict=True)]
        wanted(max(moved) == 0, f"pyxdf moves samples by up to {max(moved) * 1e3:.3f} ms")
        rate, stored = whole[stream].rate, Stored(bench, headset, "eeg").rate
        say(f"{headset} in {path.name}: {rate:.4f} Hz where {stored:.4f} are stored")
        wanted(abs(rate / stored - 1) <= RATE_DEVIATION_MAXIMUM, f"{rate} Hz, and {stored} are stored")


def describes(received: dict[str, Inlet]) -> None:
    """The words of the meta-data."""
    info = received["left-eeg"].info
    desc = info.desc()
    channel = desc.child("channels").child("channel")
    wanted(info.nominal_srate() == 250.0, f"rate {info.nominal_srate()}")
    wanted(channel.child_value("unit") == "microvolts" and channel.child_value("label") != "", "unit and label")
    wanted(desc.child("acquisition").child_value("serial_number") == "SIM-left", "serial number")
    wanted(desc.child("synchronization").child_value("can_drop_samples") == "true", "can_drop_samples")
    wanted(info.source_id() == "eegsync/SIM-left/eeg", info.source_id())


def markers(bench: Bench, outlet: pylsl.StreamOutlet) -> dict[str, float]:
    """Sends markers, some of them stamped with a moment that has passed; returns the stamps."""
    wanted(outlet.wait_for_consumers(20), "nobody takes markers")
    sent = {}
    for number in range(8):
        stamp = pylsl.local_clock() - 0.1 * (number % 3)
        outlet.push_sample([f"stimulus {number}"], stamp)
        sent[f"stimulus {number}"] = stamp
        let_pass(0.1)
    return sent


def markers_are_stored(bench: Bench, sent: dict[str, float]) -> None:
    """Each is in each recording that ran, at its instant."""
    offset = time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
    rows = bench.query("SELECT description, boottime_ns FROM annotation WHERE description LIKE 'stimulus %'")
    wanted(len(rows) == len(sent) * len(HEADSETS), f"{len(rows)} annotations of {len(sent)} markers")
    worst = max(abs(at / 1e9 - (sent[text] + offset)) for text, at in rows)
    say(f"markers are right within {worst * 1e3:.3f} ms")
    wanted(worst <= 0.001, f"a marker is {worst * 1e3:.3f} ms away")


class Losses:
    """The deaths that nobody else may feel."""

    def __init__(self, bench: Bench, timeline: Timeline) -> None:
        self.bench = bench
        self.timeline = timeline

    def pause(self) -> None:
        begin = pylsl.local_clock() - 1
        self.bench.command("pause")
        let_pass(3)
        self.bench.command("resume")
        self.timeline.pauses.append((begin, pylsl.local_clock() + 2))

    def kill_daemon(self) -> None:
        """What it had not committed is lost to the database, and was sent."""
        self.bench.kill_daemon()
        died = pylsl.local_clock()
        self.timeline.lost.append((died - 2, died + 0.1))
        self.bench.start_daemon()

    def kill_lsl(self) -> None:
        self.timeline.deaths.append(pylsl.local_clock() - 1)
        self.bench.kill_lsl()
        self.bench.lsl = self.bench.start_lsl()

    def for_minutes(self, minutes: float) -> None:
        """One loss after another, each after a while in which nothing happens."""
        end = time.monotonic() + minutes * 60
        for loss in itertools.cycle([self.pause, self.kill_daemon, self.kill_lsl]):
            if time.monotonic() + QUIET >= end:
                return
            let_pass(QUIET)
            loss()
            let_pass(RETURN_MAXIMUM)


def run(program: str, minutes: float) -> int:
    """Everything, in one acquisition."""
    with tempfile.TemporaryDirectory(prefix="eegsync-lsl.") as folder, contextlib.ExitStack() as ending:
        work = pathlib.Path(folder)
        bench = Bench(program, work)
        ending.callback(bench.kill)
        timeline = Timeline()
        losses = Losses(bench, timeline)
        outlet = pylsl.StreamOutlet(pylsl.StreamInfo("stimuli", "Markers", 1, 0, "string", "test-stimuli"))
        received = inlets("left-eeg", "left-eeg-late", "right-eeg")
        # A reader that is killed costs nobody anything.
        reader = subprocess.Popen([program, "tap", "--json", "--config", str(bench.configuration)], stdout=subprocess.DEVNULL)
        let_pass(15)
        check("the streams are described", partial(describes, received))
        sent = markers(bench, outlet)
        bench.command("mark", "lights out")
        received |= inlets("left-markers")
        names = list(received)
        recorder = Recorder(work / "first.xdf", *names)
        let_pass(5)
        losses.pause()
        let_pass(10)
        reader.kill()
        reader.wait()
        recorder.end(signal.SIGKILL)
        recorder = Recorder(work / "second.xdf", *names)
        losses.kill_daemon()
        let_pass(12)
        losses.kill_lsl()
        let_pass(12)
        losses.for_minutes(minutes)
        bench.command("mark", "lights on")
        let_pass(2)
        bench.command("record", "stop", "left")
        bench.command("record", "stop", "right")
        let_pass(2)
        recorder.end(signal.SIGTERM)
        for inlet in received.values():
            inlet.stop()
        bench.end()
        lives = [inlet for name, inlet in received.items() if name.endswith("-eeg")]
        check("inlets go on after kill -9 of eegsync lsl", partial(timeline.find_holes, lives))
        texts = [values[0] for _, values in received["left-markers"].samples]
        check("marks are sent", partial(wanted, "lights on" in texts, str(texts)))
        check("markers become annotations at their instants", partial(markers_are_stored, bench, sent))
        for headset in HEADSETS:
            check(f"every sample of {headset} came once, at its time", partial(compare, bench, headset, received, timeline))
        check("planted defects are noticed", partial(notices_a_defect, bench, "right", received, timeline))
        files = {"recorder that was killed": ("first", timeline.with_pauses()), "recorder": ("second", timeline)}
        for words, (name, known) in files.items():
            path = work / f"{name}.xdf"
            check(f"pyxdf reads of a {words} what is stored", partial(compare_file, bench, path, known, 250 * 10))
        marks = [values[0] for _, values in recorded(work / "second.xdf", is_dejittered=False)["left-markers"].samples]
        check("the recorder has the mark", partial(wanted, "lights on" in marks, str(marks)))
        if failed:
            print((work / "log").read_text()[-4000:], file=sys.stderr)
    return conclude()


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], float(sys.argv[2]) if len(sys.argv) > 2 else 0))
