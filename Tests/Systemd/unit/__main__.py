"""`python -m unit [SCENARIO...]`: performs scenarios, prints a line for each; Tests/Systemd/run prepares everything for it."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from unit.machine import Machine, MachineError
from unit.scenarios import ALL
from unit.service import Service
from unit.soak import seconds_of, soak


@dataclass
class Performance:
    """What has become of a scenario."""

    name: str
    figures: list[str]
    seconds: float
    problem: str | None
    directory: Path


def main() -> int:
    arguments = _arguments()
    unknown = [name for name in arguments.scenarios if name not in ALL]
    if unknown:
        sys.exit(f"no such scenario: {' '.join(unknown)}; there are {' '.join(ALL)}")
    if arguments.list:
        for name, scenario in ALL.items():
            print(f"{name:<15}  {(scenario.__doc__ or '').strip()}")
        return 0
    if arguments.soak is not None:
        ALL["soak"] = partial(soak, seconds=seconds_of(arguments.soak))
        arguments.scenarios = [*arguments.scenarios, "soak"]
    directory = Path(tempfile.mkdtemp(prefix="eegsync-systemd."))
    failed = 0
    names = arguments.scenarios or list(ALL)
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for done in pool.map(lambda name: _perform(name, arguments.kernel, arguments.image, directory / name), names):
            print(f"{'✔' if done.problem is None else '✘'} {done.name:<15} ({done.seconds:.0f} s)", flush=True)
            for figure in done.figures:
                print(f"    {figure}", flush=True)
            if done.problem is None:
                shutil.rmtree(done.directory)
            else:
                failed += 1
                print(f"    {done.problem}\n    see {done.directory}", flush=True)
    if not failed:
        directory.rmdir()
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


# What libdispatch says of each of its threads where a sandbox forbids what it asks for: thousands of lines a day, beside which
# nobody finds what matters.
_NOISE = "Failed to set thread priority"


def _perform(name: str, kernel: Path, image: Path, directory: Path) -> Performance:
    directory.mkdir()
    began = time.monotonic()
    figures: list[str] = []
    problem = None
    journal = ""
    try:
        with Machine(kernel, image, directory) as machine:
            service = Service(machine, figures)
            try:
                ALL[name](service)
            finally:
                journal = _journal(machine)
                (directory / "journal.log").write_text(journal, encoding="utf-8")
    except MachineError as error:
        problem = str(error)
    except Exception:  # noqa: BLE001, whatever it is, the other scenarios go on
        problem = traceback.format_exc()
    if problem is None and _NOISE in journal:
        problem = f"the journal has {journal.count(_NOISE)} lines with: {_NOISE}"
    return Performance(name, figures, time.monotonic() - began, problem, directory)


def _journal(machine: Machine) -> str:
    try:
        return machine.attempt("journalctl --no-pager --output=short-precise")[1]
    except (MachineError, OSError) as error:
        return str(error)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Tests/Systemd/run", description="Tests the unit under a real systemd.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="their names; all")
    parser.add_argument("--list", action="store_true", help="list the scenarios and end")
    parser.add_argument("--jobs", type=int, default=2, help="how many machines run at once, by default 2")
    parser.add_argument("--soak", metavar="DURATION", help="record for so long on a machine that nobody touches, such as 2h")
    parser.add_argument("--kernel", type=Path, help="the user-mode kernel")
    parser.add_argument("--image", type=Path, help="the image of the disk")
    return parser.parse_args()


sys.exit(main())
