"""`python -m lab [SCENARIO...]`: performs scenarios, prints a line for each; Tests/Lab/run prepares everything for it."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lab import page
from lab.choice import chosen as choose
from lab.choice import one_route, share
from lab.performance import Performance, Tools, perform
from lab.report import failures, summary, tables
from lab.results import Result, Versions
from scenarios import ALL


def main() -> int:
    arguments = _arguments()
    try:
        chosen = choose(ALL, arguments.scenarios, with_long=arguments.all)
    except LookupError as error:
        sys.exit(str(error.args[0]))
    if arguments.one_route:
        chosen = one_route(chosen, arguments.first_seed)
    chosen = share(chosen, arguments.share, arguments.first_seed)
    if arguments.list:
        for scenario in chosen:
            print(f"{scenario.number:>3}  {scenario.name:<24}  {scenario.title}")
        return 0
    directory = Path(tempfile.mkdtemp(prefix="eegsync-lab."))
    tools = Tools(arguments.kernel, arguments.program, directory, arguments.keep, arguments.bluez)
    versions = Versions.of(arguments.kernel, arguments.bluez) if arguments.results else None
    performances = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        seeds = range(arguments.first_seed, arguments.first_seed + arguments.runs)
        orders = [(scenario, seed) for seed in seeds for scenario in chosen]
        for performance in pool.map(lambda order: perform(order[0], order[1], tools), orders):
            _tell(performance)
            if versions is not None:
                Result.of(performance, versions).append_to(arguments.results)
            performances.append(performance)
    found = tables(performances) if arguments.report or arguments.write else {}
    if arguments.report:
        print("\n\n".join(found.values()))
    if arguments.write:
        page.write(found)
    print(*failures(performances), summary(performances), sep="\n")
    if not any(directory.iterdir()):
        directory.rmdir()
    failed = sum(not performance.passed for performance in performances) + arguments.also_failed
    passed = len(performances) + arguments.also_passed + arguments.also_failed - failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Tests/Lab/run", description="Performs scenarios in the lab.")
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", help="names, numbers or beginnings of names; all")
    parser.add_argument("--list", action="store_true", help="list the scenarios and end")
    parser.add_argument("--all", action="store_true", help="also those that take minutes")
    parser.add_argument("--report", action="store_true", help="print the tables of the documentation")
    parser.add_argument("--write", action="store_true", help="write them into the page Lab of the documentation")
    parser.add_argument("--keep", action="store_true", help="keep the directories of scenarios that passed, too")
    parser.add_argument("--runs", type=int, default=1, help="how often each is performed, with another seed each time")
    parser.add_argument("--first-seed", type=int, default=1, metavar="SEED", help="the seed of the first run, by default 1")
    parser.add_argument("--one-route", action="store_true", help="a scenario of two routes over one of them, by the seed")
    parser.add_argument("--share", type=int, default=1, metavar="PARTS", help="one of so many parts, by the seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many machines run at once")
    parser.add_argument("--kernel", type=Path, help="the user-mode kernel")
    parser.add_argument("--program", type=Path, help="the eegsync to be tested")
    parser.add_argument("--bluez", type=Path, metavar="DIRECTORY", help="bluetoothd of another Debian, see bluez/fetch")
    parser.add_argument("--results", type=Path, metavar="FILE", help="append what each came to, with the versions")
    parser.add_argument("--also-passed", type=int, default=0, help="tests that passed before, for the last line")
    parser.add_argument("--also-failed", type=int, default=0, help="tests that failed before")
    arguments = parser.parse_args()
    if not arguments.list and (arguments.kernel is None or arguments.program is None):
        parser.error("--kernel and --program are needed; Tests/Lab/run finds them")
    if arguments.share < 1:
        parser.error("--share is 1 or more")
    return arguments


def _tell(performance: Performance) -> None:
    latencies = [mark.latency for mark in performance.findings.marks]
    known = sorted(latency for latency in latencies if latency is not None)
    figures = f"max {known[-1]:.3f} s" if known else ""
    mark = "✔" if performance.passed else "✘"
    print(f"{mark} {performance.scenario.name:<24} {figures:<14} ({performance.seconds:.1f} s)", flush=True)
    for figure in performance.findings.figures:
        print(f"    {figure}")
    for problem in performance.findings.problems:
        print(f"    {problem}")
    if performance.directory is not None:
        print(f"    see {performance.directory}", flush=True)


sys.exit(main())
