"""All checks of a scenario."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from checks import losses, ranges, samples
from checks.database import StoredDatabase, StoredRecording, read_database
from checks.placement import place_by_boot, place_by_values
from checks.samples import SampleReport
from headsets.kinds import kind_named
from headsets.truth import Truth, read_journal
from lab.findings import Findings
from lab.marks import GATE_SECONDS, NANOSECONDS, Goal, Mark, Verdict, by_fault, read_marks
from lab.measurements import read_measurements
from lab.scenario import LabHeadset, Scenario

# The last samples before a stop may still be on their way.
_STOP_NANOSECONDS = NANOSECONDS // 2
# What was not committed dies with the process; it commits once a second, and a commit takes a while.
_COMMIT_NANOSECONDS = NANOSECONDS * 5 // 4


def inspect(scenario: Scenario, share: Path, audit: Callable[[], tuple[int, str]]) -> Findings:
    """Performs every check; `audit` runs `eegsync audit` and returns its exit status and its report."""
    findings = measured(share)
    status, report = audit()
    if status != 0:
        findings.problem(f"eegsync audit: exit {status}: {report}")
    check_gate(findings)
    if scenario.must_meet_goals:
        check_goals(findings)
    database = read_database(share / "eegsync.sqlite")
    check_identity(scenario, database, findings)
    for headset in scenario.headsets:
        if headset.alias is None:
            continue
        truth = read_journal(share / "journals" / f"{headset.name}.jsonl")
        for recording in database.recordings:
            if recording.headset == headset.alias:
                _check_recording(scenario, headset, recording, truth, database, findings)
    check_losses_noticed(database, findings)
    return findings


def measured(share: Path) -> Findings:
    """What a scenario noted itself, without any check."""
    figures = share / "figures.txt"
    return Findings(
        marks=read_marks(share / "marks.jsonl"),
        figures=figures.read_text(encoding="utf-8").splitlines() if figures.exists() else [],
        measurements=read_measurements(share / "measurements.jsonl"),
    )


def check_gate(findings: Findings) -> None:
    """Samples flow again in less than 10 s, whatever happened."""
    for mark in findings.marks:
        if mark.latency is None:
            findings.problem(f"{mark.headset} never returned after: {mark.fault}")
        elif mark.latency >= GATE_SECONDS:
            took = f"{mark.headset} returned after {mark.latency:.1f} s ({mark.fault})"
            findings.problem(f"{took}; the gate is {GATE_SECONDS:.0f} s")


def check_goals(findings: Findings) -> None:
    """Each kind of fault meets its goal, for scenarios with enough returns to say so."""
    for fault, marks in by_fault(findings.marks).items():
        verdict = Verdict(marks)
        if not verdict.is_met:
            found = f"p50 {verdict.median:.3f} s, p95 {verdict.most:.3f} s of {len(marks)} returns"
            findings.problem(f"{fault}: {found}; the goal is {verdict.wanted}")


def check_identity(scenario: Scenario, database: StoredDatabase, findings: Findings) -> None:
    """Each recording is of the headset whose name it bears, and each wanted headset has one."""
    serials = {headset.alias: headset.serial for headset in scenario.headsets if headset.alias}
    for recording in database.recordings:
        right = serials.get(recording.headset)
        if right is None:
            findings.problem(f"recording {recording.identifier} is of {recording.headset}, which nobody configured")
        elif recording.serial is not None and recording.serial != right:
            findings.problem(f"{recording.headset} was recorded from the headset {recording.serial}, not {right}")
    for alias in serials.keys() - {recording.headset for recording in database.recordings}:
        findings.problem(f"{alias} was never recorded")


def check_losses_noticed(database: StoredDatabase, findings: Findings) -> None:
    """How soon eegsync noticed that a headset was gone."""
    for mark in findings.marks:
        if mark.lost is not None:
            noticed = _noticed(database, mark)
            if noticed is not None:
                findings.losses_noticed.append((noticed - mark.lost) / NANOSECONDS)


def _noticed(database: StoredDatabase, mark: Mark) -> int | None:
    if mark.boot >= len(database.host_boots) or mark.lost is None:
        return None
    boot = database.host_boots[mark.boot]
    for change in database.state_changes:
        if change.headset == mark.headset and change.host_boot == boot and change.boottime >= mark.lost:
            return change.boottime if change.state != "streaming" else None
    return None


def _check_recording(
    scenario: Scenario,
    headset: LabHeadset,
    recording: StoredRecording,
    truth: Truth,
    database: StoredDatabase,
    findings: Findings,
) -> None:
    shifts = host_boot_shifts(truth, database)
    until = 2**62
    if recording.stop_requested is not None:
        host_boot, boottime = recording.stop_requested
        until = boottime + shifts.get(host_boot, 0) - _STOP_NANOSECONDS
    for stored in recording.streams:
        if truth.boots and all(stored.position >= len(boot.streams) for boot in truth.boots):
            # The journal knows nothing of it, such as the Ganglion's accelerometer; the audit has counted it.
            continue
        has_memory = kind_named(headset.kind).has_memory
        placements, problems = place_by_boot(stored, truth) if has_memory else place_by_values(stored, truth, headset.kind)
        report = SampleReport(problems)
        samples.check_values(stored, placements, report)
        samples.check_completeness(stored, placements, until, report)
        samples.check_times(stored, placements, shifts, scenario.time_error_seconds, report)
        if has_memory:
            losses.check_buffered(stored, placements, truth, report, _excused_from(recording, truth, until))
        else:
            excused = ranges.union([*losses.unheard(truth), *_unlistened(findings.marks)])
            losses.check_unbuffered(stored, placements, excused, report)
            if stored.position == 0:
                beyond = losses.beyond_outages(stored, _outages(findings.marks, headset))
                findings.lost_beyond_outages = (findings.lost_beyond_outages or 0) + beyond
        for problem in report.problems:
            findings.problem(f"{headset.alias}: {problem}")
        findings.rows += len(stored.rows)
        whole = [gap for gap in stored.gaps if gap.channel == 0]
        findings.gaps += len(whole)
        findings.recovered += sum(gap.recovered for gap in whole)
        findings.missing += sum((gap.count or 0) - gap.recovered for gap in whole)
        findings.time_error_seconds = max(findings.time_error_seconds, report.time_error)


def _excused_from(recording: StoredRecording, truth: Truth, until: int) -> int:
    """From when on nothing has to be fetched: a recording that is stopped while its headset is away ends with the link."""
    if recording.stop_requested is None:
        return 2**62
    silent = losses.unheard(truth)
    return next((start for start, end in silent if start <= until + _STOP_NANOSECONDS < end), 2**62)


def _outages(marks: list[Mark], headset: LabHeadset) -> list[tuple[int, int]]:
    """From each fault until the headset could be connected again."""
    return ranges.union((m.lost, m.available) for m in marks if m.lost is not None and m.headset == headset.alias)


def _unlistened(marks: list[Mark]) -> list[tuple[int, int]]:
    """From each fault until samples came again; from the last commit on where eegsync was killed."""
    spans = []
    for mark in marks:
        before = _COMMIT_NANOSECONDS if mark.goal is Goal.PROCESS else NANOSECONDS // 10
        start = min(mark.available, mark.lost or mark.available) - before
        spans.append((start, (mark.first_sample or mark.available) + NANOSECONDS // 2))
    return spans


def host_boot_shifts(truth: Truth, database: StoredDatabase) -> dict[int, int]:
    """What is to be added to the CLOCK_BOOTTIME of each boot of the machine to get the headsets' time."""
    shifts = [int(entry["shift"]) for entry in truth.events if entry["event"] == "machineBooted"]
    return dict(zip(database.host_boots, shifts, strict=False))
