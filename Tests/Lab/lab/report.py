"""The table of the documentation."""

from __future__ import annotations

from lab.marks import GATE_SECONDS, RECORD_START, Mark
from lab.performance import Performance


def table(performances: list[Performance]) -> str:
    """Markdown: one row for each kind of fault, in the order in which they first appeared."""
    lines = [
        "| scenario | fault | runs | p50 | p95 | max | gaps | rows recovered | rows missing | beyond the outage | goal |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    starts = [mark for p in performances for mark in p.findings.marks if mark.fault == RECORD_START]
    if starts:
        lines.append(_line(["every scenario", RECORD_START, str(len(starts)), *_latencies(starts), "", "", "", "", ""]))
    for title, group in _by_title(performances).items():
        gaps = sum(p.findings.gaps for p in group)
        recovered = sum(p.findings.recovered for p in group)
        missing = sum(p.findings.missing for p in group)
        lost = [p.findings.lost_beyond_outages for p in group if p.findings.lost_beyond_outages is not None]
        beyond = f"{sum(lost):,}" if lost else ""
        faults = _by_fault([mark for p in group for mark in p.findings.marks if mark.fault != RECORD_START])
        if not faults:
            lines.append(_line([title, *[""] * 5, f"{gaps:,}", f"{recovered:,}", f"{missing:,}", beyond, ""]))
        for number, (fault, marks) in enumerate(faults.items()):
            cells = [title if number == 0 else "", fault, str(len(marks)), *_latencies(marks)]
            cells += [f"{gaps:,}", f"{recovered:,}", f"{missing:,}", beyond] if number == 0 else [""] * 4
            lines.append(_line([*cells, _verdict(marks)]))
    return "\n".join(lines)


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def summary(performances: list[Performance]) -> str:
    """Two sentences about everything."""
    marks = [mark for p in performances for mark in p.findings.marks]
    latencies = sorted(mark.latency for mark in marks if mark.latency is not None)
    noticed = sorted(seconds for p in performances for seconds in p.findings.losses_noticed)
    parts = []
    if latencies:
        parts.append(
            f"{len(latencies)} returns: p50 {percentile(latencies, 50):.3f} s, p95 {percentile(latencies, 95):.3f} s,"
            f" max {latencies[-1]:.3f} s (gate {GATE_SECONDS:.0f} s)."
        )
    if noticed:
        middle, most = percentile(noticed, 50), percentile(noticed, 95)
        parts.append(f"{len(noticed)} losses noticed: p50 {middle:.3f} s, p95 {most:.3f} s.")
    return " ".join(parts) or "Nothing was measured."


def percentile(ascending: list[float], percent: float) -> float:
    """The smallest value that at least so many percent of the values do not exceed."""
    rank = max(1, -(-len(ascending) * percent // 100))
    return ascending[int(rank) - 1]


def _latencies(marks: list[Mark]) -> list[str]:
    known = sorted(mark.latency for mark in marks if mark.latency is not None)
    if not known:
        return ["never"] * 3
    most = f"{known[-1]:.2f} s" if len(known) == len(marks) else "never"
    return [f"{percentile(known, 50):.2f} s", f"{percentile(known, 95):.2f} s", most]


def _verdict(marks: list[Mark]) -> str:
    median, most = marks[0].goal.value
    known = sorted(mark.latency for mark in marks if mark.latency is not None)
    if len(known) < len(marks):
        return "missed"
    met = percentile(known, 50) <= median and percentile(known, 95) <= most
    wanted = f"≤ {median:g} s" if median == most else f"p50 ≤ {median:g} s, p95 ≤ {most:g} s"
    return f"{wanted}: {'met' if met else 'missed'}"


def _by_title(performances: list[Performance]) -> dict[str, list[Performance]]:
    groups: dict[str, list[Performance]] = {}
    for performance in performances:
        title = f"{performance.scenario.number}. {performance.scenario.title}"
        groups.setdefault(title, []).append(performance)
    return groups


def _by_fault(marks: list[Mark]) -> dict[str, list[Mark]]:
    groups: dict[str, list[Mark]] = {}
    for mark in marks:
        groups.setdefault(mark.fault, []).append(mark)
    return groups
