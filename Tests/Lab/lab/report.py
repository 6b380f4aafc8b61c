"""The tables of the documentation: what was measured over bluetoothd, and beside it the same over the kernel's sockets."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from lab.findings import Findings
from lab.marks import GATE_SECONDS, RECORD_START, Mark, Verdict, by_fault
from lab.measurements import Measurement, Reader, percentile
from lab.performance import Performance
from lab.scenario import Scenario

# So much of a failed scenario's log is repeated: where only the output is kept, it is all that is left of it.
LOG_LINES = 60

_ROUTES = {"bluez": "bluetoothd", "kernel": "kernel"}


def tables(performances: list[Performance]) -> dict[str, str]:
    """Markdown by the table's name on the page; without those that would be empty."""
    measurements = [m for p in performances for m in p.findings.measurements]
    # With the host's clock a return takes as long as the machine is busy.
    simulated = [p for p in performances if p.scenario.is_time_simulated]
    found = {
        "returns": _returns_table(simulated),
        "losses": _losses_table(simulated),
        "latency": _latency_table([m for m in measurements if m.seconds is not None]),
        "processor": _processor_table([m for m in measurements if m.processors is not None]),
    }
    return {name: "\n".join(lines) for name, lines in found.items() if len(lines) > 2}


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


def failures(performances: list[Performance]) -> list[str]:
    """Lines at the end, where they are found: every scenario that failed, why, and what its daemon last said."""
    lines = []
    for performance in performances:
        if performance.passed:
            continue
        lines.append(f"failed: {performance.scenario.name} --first-seed {performance.seed}")
        lines += [f"    {problem}" for problem in performance.findings.problems]
        log = performance.directory / "eegsync.log" if performance.directory else None
        if log is not None and log.exists():
            said = log.read_text(encoding="utf-8", errors="replace").splitlines()
            lines += [f"    | {line}" for line in said[-LOG_LINES:]]
    return lines


def _route(performance: Performance, mark: Mark) -> str:
    """`bluez` or `kernel`; serial ports are sockets of the kernel, whether bluetoothd runs or not."""
    headsets = performance.scenario.headsets
    is_serial = any(headset.is_serial for headset in headsets if headset.alias == mark.headset)
    return "kernel" if is_serial else mark.route


# What happened: the same scenarios on both routes.


class _Row:
    """A scenario, with what was performed of it on each route."""

    def __init__(self, scenario: Scenario) -> None:
        self.title = f"{scenario.number}. {scenario.title}"
        self.performances: list[Performance] = []

    def marks(self, route: str) -> list[Mark]:
        """What was noted on a route, without the start of the recording."""
        return [
            mark
            for p in self.performances
            for mark in p.findings.marks
            if mark.fault != RECORD_START and _route(p, mark) == route
        ]

    def on(self, route: str) -> list[Performance]:
        """The performances that used a route for all of their headsets."""
        return [p for p in self.performances if _main_route(p) == route]


def _main_route(performance: Performance) -> str:
    scenario = performance.scenario
    if all(headset.is_serial for headset in scenario.headsets if headset.alias):
        return "kernel"
    routes = {_route(performance, mark) for mark in performance.findings.marks}
    return routes.pop() if len(routes) == 1 else scenario.central


def _rows(performances: list[Performance]) -> Iterable[_Row]:
    rows: dict[str, _Row] = {}
    # Those over bluetoothd first: theirs are the titles and the order.
    for performance in sorted(performances, key=lambda p: p.scenario.central == "kernel"):
        key = performance.scenario.name.removeprefix("kernel-").removesuffix("-kernel")
        rows.setdefault(key, _Row(performance.scenario)).performances.append(performance)
    return rows.values()


def _returns_table(performances: list[Performance]) -> list[str]:
    names = [f"{name}: returns | p50 | p95 | max" for name in _ROUTES.values()]
    lines = [_line(["scenario", "fault", *names, "goal"]), "|---|---|" + "--:|" * 8 + "---|"]
    starts = {route: _starts(performances, route) for route in _ROUTES}
    if any(starts.values()):
        lines.append(_line(["every scenario", RECORD_START, *_latencies(starts), ""]))
    for row in _rows(performances):
        if not any(row.marks(route) for route in _ROUTES):
            cells = [_outcome(row.on(route)) for route in _ROUTES]
            lines.append(_line([row.title, "", cells[0], "", "", "", cells[1], "", "", "", ""]))
            continue
        faults = {route: by_fault(row.marks(route)) for route in _ROUTES}
        for number, fault in enumerate(dict.fromkeys([*faults["bluez"], *faults["kernel"]])):
            marks = {route: faults[route].get(fault, []) for route in _ROUTES}
            lines.append(_line([row.title if number == 0 else "", fault, *_latencies(marks), _goal(marks)]))
    return lines


def _starts(performances: list[Performance], route: str) -> list[Mark]:
    return [mark for p in performances for mark in p.findings.marks if mark.fault == RECORD_START and _route(p, mark) == route]


def _outcome(performances: list[Performance]) -> str:
    if not performances:
        return ""
    return "passed" if all(p.passed for p in performances) else "failed"


def _latencies(marks: dict[str, list[Mark]]) -> list[str]:
    cells = []
    for route in _ROUTES:
        if marks[route]:
            verdict = Verdict(marks[route])
            cells += [str(len(marks[route])), *map(_seconds, (verdict.median, verdict.most, verdict.longest))]
        else:
            cells += [""] * 4
    return cells


def _seconds(seconds: float) -> str:
    return "never" if seconds == float("inf") else f"{seconds:.2f} s"


def _goal(marks: dict[str, list[Mark]]) -> str:
    verdicts = {name: Verdict(marks[route]) for route, name in _ROUTES.items() if marks[route]}
    missed = [name for name, verdict in verdicts.items() if not verdict.is_met]
    wanted = next(iter(verdicts.values())).wanted
    if not missed:
        return f"{wanted}: met"
    return f"{wanted}: missed" if len(missed) == len(verdicts) else f"{wanted}: missed ({missed[0]})"


def _losses_table(performances: list[Performance]) -> list[str]:
    names = [f"{name}: gaps | rows recovered | rows missing | beyond the outage" for name in _ROUTES.values()]
    lines = [_line(["scenario", *names]), "|---|" + "--:|" * 8]
    for row in _rows([p for p in performances if p.scenario.is_recorded]):
        cells = [_losses([p.findings for p in row.on(route)]) for route in _ROUTES]
        if any(any(part) for part in cells):
            lines.append(_line([row.title, *cells[0], *cells[1]]))
    return lines


def _losses(group: list[Findings]) -> list[str]:
    if not any(findings.gaps or findings.missing for findings in group):
        return [""] * 4
    beyond = [findings.lost_beyond_outages for findings in group if findings.lost_beyond_outages is not None]
    counts = [sum(f.gaps for f in group), sum(f.recovered for f in group), sum(f.missing for f in group)]
    return [*(f"{count:,}" for count in counts), f"{sum(beyond):,}" if beyond else ""]


# What it costs: eegsync beside a bare reader.


def _latency_table(measurements: list[Measurement]) -> list[str]:
    names = [f"{name}: p50 | p95 | p99" for name in _ROUTES.values()]
    lines = [_line(["notifications", "reader", *names]), "|---|---|" + "--:|" * 6]
    for sent in dict.fromkeys(m.sent for m in measurements):
        found = {
            reader: [
                _middle([m.seconds or {} for m in measurements if (m.sent, m.route, m.reader) == (sent, route, reader)], key)
                for route in _ROUTES
                for key in ("p50", "p95", "p99")
            ]
            for reader in Reader
        }
        for number, reader in enumerate(Reader):
            cells = ["" if seconds is None else f"{seconds * 1e3:.3f} ms" for seconds in found[reader]]
            lines.append(_line([sent if number == 0 else "", reader.value, *cells]))
        ratios = [_ratio(mine, bare) for mine, bare in zip(found[Reader.EEGSYNC], found[Reader.BARE], strict=True)]
        lines.append(_line(["", "ratio", *ratios]))
    return lines


def _processor_table(measurements: list[Measurement]) -> list[str]:
    lines = [
        _line(["notifications", "route", "eegsync", "bluetoothd", "dbus-daemon", "sum", "bare C reader", "ratio"]),
        "|---|---|" + "--:|" * 6,
    ]
    for sent in dict.fromkeys(m.sent for m in measurements):
        for number, (route, name) in enumerate(_ROUTES.items()):
            mine, bare = (
                [m.processors or {} for m in measurements if (m.sent, m.route, m.reader) == (sent, route, reader)]
                for reader in Reader
            )
            parts = [_middle(mine, program) for program in ("eegsync", "bluetoothd", "dbus-daemon")]
            floor = _middle(bare, "reader")
            known = [part for part in parts if part is not None]
            cells = ["" if part is None else f"{part * 100:.1f} %" for part in (*parts, sum(known) if known else None, floor)]
            lines.append(_line([sent if number == 0 else "", name, *cells, _ratio(parts[0], floor)]))
    return lines


def _middle(figures: list[dict[str, float]], key: str) -> float | None:
    """Of several runs."""
    known = [entry[key] for entry in figures if key in entry]
    return median(known) if known else None


def _ratio(mine: float | None, bare: float | None) -> str:
    return "" if mine is None or not bare else f"{mine / bare:.2f}"


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"
