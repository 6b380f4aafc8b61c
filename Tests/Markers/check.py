"""PsychoPy, nc and others send markers to `eegsync markers`; the marks are compared with when they were sent.

    python check.py PROGRAM [--without-psychopy]

Ends with "N passed, N failed".
"""

from __future__ import annotations

import os
import pathlib
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

from checklist import check, conclude

EXPERIMENT = pathlib.Path(__file__).with_name("experiment.py")
SHAPES = 40
# How far a mark may be from what it marks, in nanoseconds.
DEVIATION_MAXIMUM = 1_000_000
# How long is waited for something, on a machine that does other things, too.
PATIENCE_SECONDS = 120
CONFIGURATION = """
database: {database}
central:
  kind: simulation
  seed: 1
  headsets:
    - {{name: left, model: muse, serial: SIM-left}}
headsets:
  - {{name: left, model: muse, serial: SIM-left}}
markers:
  udp: 127.0.0.1:{port}
  socket: {socket}
"""


class BrokenRuleError(Exception):
    """A check that did not hold."""


def wanted(holds: bool, text: str) -> None:
    if not holds:
        raise BrokenRuleError(text)


def now() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME)


def let_pass(seconds: float) -> None:
    """What is sent is sent in real time, as by the programs that markers come from."""
    threading.Event().wait(seconds)


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Bench:
    """A daemon that records a simulated headset, and `eegsync markers` beside it."""

    def __init__(self, program: str, work: pathlib.Path) -> None:
        self.program, self.work = program, work
        self.port, self.socket = free_port(), work / "markers"
        self.database, self.configuration = work / "eegsync.sqlite", work / "eegsync.yaml"
        self.configuration.write_text(
            CONFIGURATION.format(database=self.database, port=self.port, socket=self.socket), encoding="utf-8"
        )
        self.log = (work / "log").open("w", encoding="utf-8")
        self.daemon = self.start("run")
        self.until(self.database.exists, "a database")
        self.command("record", "start", "left")
        self.until(lambda: self.rows("SELECT count(*) FROM sample")[0][0] > 0, "a sample")
        self.markers = self.start_markers()

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self.program, *arguments, "--config", str(self.configuration)], stdout=self.log, stderr=self.log
        )

    def start_markers(self) -> subprocess.Popen[bytes]:
        started = (self.work / "log").read_text(encoding="utf-8").count("takes markers at")
        process = self.start("markers")
        self.until(
            lambda: (self.work / "log").read_text(encoding="utf-8").count("takes markers at") > started,
            "somebody who takes them",
        )
        return process

    def command(self, *arguments: str) -> None:
        done = subprocess.run(
            [self.program, *arguments, "--config", str(self.configuration)], capture_output=True, text=True, check=False
        )
        wanted(done.returncode == 0, f"{arguments}: {done.stderr}")

    def rows(self, query: str) -> list[tuple[int, str]]:
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            return connection.execute(query).fetchall()
        finally:
            connection.close()

    def marks(self, pattern: str) -> list[tuple[int, str]]:
        query = "SELECT boottime_ns, description FROM annotation WHERE source = 'operator' ORDER BY boottime_ns"
        return [row for row in self.rows(query) if re.fullmatch(pattern, row[1])]

    def until(self, holds: Callable[[], bool], what: str) -> None:
        for _ in range(PATIENCE_SECONDS * 20):
            try:
                if holds():
                    return
            except sqlite3.Error:
                pass
            let_pass(0.05)
        raise BrokenRuleError(
            f"{what} did not come within {PATIENCE_SECONDS} s; {(self.work / 'log').read_text(encoding='utf-8')[-2000:]}"
        )

    def end(self) -> None:
        for process in (self.markers, self.daemon):
            process.terminate()
            process.wait()


def experiment(bench: Bench) -> None:
    """Every flip of an experiment has its mark, within a millisecond."""
    command = [
        "xvfb-run",
        "-a",
        "-s",
        "-screen 0 640x480x24",
        sys.executable,
        "-B",
        str(EXPERIMENT),
        str(bench.port),
        str(SHAPES),
    ]
    environment = os.environ | {"HOME": str(bench.work)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    wanted(done.returncode == 0, f"the experiment: {done.stderr[-2000:]}")
    # PsychoPy itself prints, too.
    shown = {name: int(instant) for name, instant in re.findall(r"(?m)^(shape \d+)\t(\d+)$", done.stdout)}
    wanted(len(shown) == SHAPES, f"{len(shown)} flips are known")
    bench.until(lambda: len(bench.marks(r"shape \d+")) >= SHAPES, "the last mark")
    marks = bench.marks(r"shape \d+")
    wanted(sorted(name for _, name in marks) == sorted(shown), "each shape has one mark")
    deviations = sorted(abs(instant - shown[name]) for instant, name in marks)
    print(
        f"==> {SHAPES} flips: the middle one is off by {deviations[SHAPES // 2] / 1e3:.0f} us, the worst by "
        f"{deviations[-1] / 1e3:.0f} us",
        file=sys.stderr,
    )
    wanted(deviations[-1] <= DEVIATION_MAXIMUM, f"a mark is off by {deviations[-1]} ns")


def shell(bench: Bench) -> None:
    """What nc sends from a shell, and a program to the path, is marked when it was sent."""
    before = now()
    subprocess.run(["nc", "-u", "-q", "0", "127.0.0.1", str(bench.port)], input=b"lights out\n", check=True)
    after = now()
    bench.until(lambda: len(bench.marks("lights out")) == 1, "the mark of nc")
    instant = bench.marks("lights out")[0][0]
    wanted(before - DEVIATION_MAXIMUM <= instant <= after + DEVIATION_MAXIMUM, f"it is off by {instant - before} ns")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        before = now()
        sender.sendto(b'{"text": "lights on", "duration_seconds": 2}', str(bench.socket))
        after = now()
    bench.until(lambda: len(bench.marks("lights on")) == 1, "the mark of the path")
    instant = bench.marks("lights on")[0][0]
    wanted(before - DEVIATION_MAXIMUM <= instant <= after + DEVIATION_MAXIMUM, f"it is off by {instant - before} ns")


def stopped(bench: Bench) -> None:
    """What arrives while the program is stopped has the instant of its arrival."""
    bench.markers.send_signal(signal.SIGSTOP)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        before = now()
        sender.sendto(b"while it was stopped", ("127.0.0.1", bench.port))
        after = now()
        let_pass(1)
    bench.markers.send_signal(signal.SIGCONT)
    bench.until(lambda: len(bench.marks("while it was stopped")) == 1, "the mark")
    instant = bench.marks("while it was stopped")[0][0]
    wanted(before - DEVIATION_MAXIMUM <= instant <= after + DEVIATION_MAXIMUM, f"it is off by {(instant - before) / 1e6} ms")


def flood(bench: Bench) -> None:
    """Hundreds at once, with the writing process killed meanwhile, are all marked once; with the instants of their arrival."""
    count = 200
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sent = []
        for number in range(count):
            before = now()
            sender.sendto(f"flood {number}".encode(), ("127.0.0.1", bench.port))
            sent.append((before, now()))
            if number % 50 == 25:
                subprocess.run(["pkill", "-KILL", "-f", f"mark --lines --config {bench.configuration}"], check=False)
            let_pass(0.0005)
    bench.until(lambda: len(bench.marks(r"flood \d+")) >= count, "the last mark")
    marks = bench.marks(r"flood \d+")
    wanted([name for _, name in marks] == [f"flood {number}" for number in range(count)], "each is marked once, in its order")
    for (instant, name), (before, after) in zip(marks, sent, strict=True):
        holds = before - DEVIATION_MAXIMUM <= instant <= after + DEVIATION_MAXIMUM
        wanted(holds, f"{name} was sent at {before} ... {after}, and is marked at {instant}")


def hostile(bench: Bench) -> None:
    """What is no marker is refused with a word, and the next one is marked."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for message in (b"\xff\xfe", b'{"text": 1}', b"[" * 4000, b'{"text": "' + b"a" * 60_000 + b'"}', b"\0", b"\n\n", b""):
            sender.sendto(message, ("127.0.0.1", bench.port))
        sender.sendto(b"after garbage", ("127.0.0.1", bench.port))
    bench.until(lambda: len(bench.marks("after garbage")) == 1, "the mark after garbage")
    wanted("is refused" in (bench.work / "log").read_text(encoding="utf-8"), "nobody was told")


def killed(bench: Bench) -> None:
    """Killed, it comes back at the same port and path, and the daemon has not noticed."""
    bench.markers.kill()
    bench.markers.wait()
    bench.markers = bench.start_markers()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"back again", str(bench.socket))
    bench.until(lambda: len(bench.marks("back again")) == 1, "the mark")
    wanted(bench.daemon.poll() is None, "the daemon has ended")


def planted(bench: Bench) -> None:
    """A comparison that finds nothing proves nothing: a mark that is late by two milliseconds must be noticed."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b'{"text": "two milliseconds", "seconds_ago": 0.002}', ("127.0.0.1", bench.port))
        after = now()
    bench.until(lambda: len(bench.marks("two milliseconds")) == 1, "the mark")
    instant = bench.marks("two milliseconds")[0][0]
    wanted(instant < after - DEVIATION_MAXIMUM, "a mark that was put two milliseconds earlier is not there")


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="eegsync-markers.") as folder:
        bench = Bench(sys.argv[1], pathlib.Path(folder))
        try:
            checks = (experiment, shell, stopped, flood, hostile, killed, planted)
            for each in checks[1:] if "--without-psychopy" in sys.argv else checks:
                check((each.__doc__ or each.__name__).strip().splitlines()[0], partial(each, bench))
        finally:
            bench.end()
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
