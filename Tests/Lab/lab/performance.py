"""A scenario, performed: boots its machine as often as it wants and collects what is left."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from checks.inspection import inspect, measured
from lab.findings import Findings
from lab.machine import Machine
from lab.scenario import Scenario


@dataclass(frozen=True)
class Tools:
    """What every scenario is performed with."""

    kernel: Path
    program: Path
    # Where the directories of scenarios that failed are kept; of all scenarios with `keeps_all`.
    directory: Path
    keeps_all: bool = False
    # Where bluetoothd of another Debian is; None for this machine's.
    bluez: Path | None = None


@dataclass
class Performance:
    """The result of one scenario."""

    scenario: Scenario
    seed: int
    findings: Findings = field(default_factory=Findings)
    seconds: float = 0.0
    directory: Path | None = None

    @property
    def passed(self) -> bool:
        return not self.findings.problems


def perform(scenario: Scenario, seed: int, tools: Tools) -> Performance:
    """Performs a scenario and checks from outside what it left."""
    performance = Performance(scenario, seed)
    share = Path(tempfile.mkdtemp(prefix=f"{scenario.name}.", dir=tools.directory))
    began = time.monotonic()
    try:
        _boot_all(performance, share, tools)
        if scenario.is_recorded and not performance.findings.problems:
            audit = lambda: _audit(tools.program, share)  # noqa: E731
            performance.findings.add(inspect(scenario, share, audit))
        elif performance.findings.problems:
            # What was measured until then is worth being reported, too.
            performance.findings.add(measured(share))
    finally:
        performance.seconds = time.monotonic() - began
        if performance.passed and not tools.keeps_all:
            shutil.rmtree(share, ignore_errors=True)
        else:
            performance.directory = share
    return performance


def _boot_all(performance: Performance, share: Path, tools: Tools) -> None:
    scenario = performance.scenario
    (share / "journals").mkdir()
    (share / "state").mkdir()
    headsets = [headset.description() for headset in scenario.headsets]
    others = {"second_adapter": scenario.has_second_adapter, "phone": scenario.has_phone}
    descriptions = {"headsets": headsets, **others}
    (share / "headsets.json").write_text(json.dumps(descriptions, indent=1), encoding="utf-8")
    machine = Machine(tools.kernel, share, scenario.is_time_simulated, bluez=tools.bluez)
    for boot in range(len(scenario.steps)):
        order = {"scenario": scenario.name, "boot": boot, "seed": performance.seed, "program": str(tools.program)}
        (share / "order.json").write_text(json.dumps(order), encoding="utf-8")
        outcome = share / "outcome"
        outcome.unlink(missing_ok=True)
        if not machine.run(scenario.timeout_seconds):
            performance.findings.problem(f"the machine did not end within {scenario.timeout_seconds:.0f} s of real time")
            return
        expected = "done" if boot + 1 == len(scenario.steps) else "power cut"
        found = outcome.read_text(encoding="utf-8").strip() if outcome.exists() else "the machine ended without a word"
        if found != expected:
            performance.findings.problem(found)
            return
    if (share / "problems.txt").exists():
        for line in (share / "problems.txt").read_text(encoding="utf-8").splitlines():
            performance.findings.problem(line)


def _audit(program: Path, share: Path) -> tuple[int, str]:
    """`eegsync audit`: its exit status and its report."""
    done = subprocess.run(
        [str(program), "audit", "--json", "--database", str(share / "eegsync.sqlite")],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout or done.stderr


Audit = Callable[[], tuple[int, str]]
