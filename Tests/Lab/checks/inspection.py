"""All checks of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from lab.findings import Findings
from lab.marks import GATE_SECONDS, read_marks
from lab.scenario import Scenario


def inspect(scenario: Scenario, share: Path, audit: Callable[[], tuple[int, str]]) -> Findings:
    """Performs every check; `audit` runs `eegsync audit` and returns its exit status and its report."""
    findings = Findings(marks=read_marks(share / "marks.jsonl"))
    status, report = audit()
    if status != 0:
        findings.problem(f"eegsync audit: exit {status}: {report}")
    for mark in findings.marks:
        if mark.latency is None or mark.latency >= GATE_SECONDS:
            findings.problem(f"{mark.headset} after {mark.fault}: {mark.latency} s, the gate is {GATE_SECONDS:.0f} s")
    return findings
