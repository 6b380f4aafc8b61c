"""Every sample that a headset took is stored with its values, or is in the gap ledger, once."""

from __future__ import annotations

from dataclasses import dataclass, field

from checks import ranges
from checks.database import StoredStream
from checks.placement import Placement
from checks.ranges import Range

# Values are compared in pieces, so that a message can name the first wrong row.
_PIECE = 1024


@dataclass
class SampleReport:
    """What was found about one stream."""

    problems: list[str] = field(default_factory=list)
    # Positions that the headset took and that are not stored, by boot number.
    missing: dict[int, list[Range]] = field(default_factory=dict)
    time_error: float = 0.0


def check_values(stored: StoredStream, placements: list[Placement], report: SampleReport) -> None:
    """Each stored value is what the headset measured at that position."""
    for placement in placements:
        ns = [n for n in stored.rows if placement.epoch.holds(n)]
        for start, end in ranges.of_numbers(ns):
            if _check_run(stored, placement, start, end, report):
                return
        sampled = placement.stream.sampled(2**63)
        held = [(placement.position(a), placement.position(b)) for a, b in ranges.of_numbers(ns)]
        never = ranges.without(held, sampled)
        if never:
            report.problems.append(f"{stored.name}: positions {never[:3]} are stored, but were never sampled")


def _check_run(stored: StoredStream, placement: Placement, start: int, end: int, report: SampleReport) -> bool:
    for n in range(start, end, _PIECE):
        count = min(_PIECE, end - n)
        true = placement.rows(n, count)
        for number, values in enumerate(true):
            kept = stored.rows[n + number]
            if any(value is not None and value != right for value, right in zip(kept, values, strict=False)):
                report.problems.append(f"{stored.name}: row n {n + number} is {kept}, the headset measured {values}")
                return True
    return False


def check_completeness(stored: StoredStream, placements: list[Placement], until: int, report: SampleReport) -> None:
    """From the first row on and until an instant, each sample is stored or ledgered as a whole row."""
    bounds = stored.bounds
    if bounds is None:
        return
    ledger = ranges.union((g.first_n, g.end_n(bounds[1])) for g in stored.gaps if g.channel == 0)
    rows = ranges.of_numbers(stored.rows)
    for placement in placements:
        epoch = placement.epoch
        first = max(epoch.first_n, bounds[0])
        end = bounds[1] + 1 if epoch.end_n is None else epoch.end_n
        sampled = [(placement.n(a), placement.n(b)) for a, b in placement.stream.sampled(until)]
        sampled = ranges.clipped(sampled, first, 2**62)
        held = ranges.clipped(rows, first, end)
        known = ranges.union([*held, *ranges.clipped(ledger, first, end)])
        forgotten = ranges.without(sampled, known)
        if epoch.end_n is not None:
            # What this boot sampled after the next epoch had begun has no n of its own; the next check speaks of it.
            forgotten = ranges.clipped(forgotten, first, end)
        if forgotten:
            report.problems.append(
                f"{stored.name}: {ranges.size(forgotten)} samples are neither stored nor ledgered,"
                f" the first at n {forgotten[0]}"
            )
        _check_channels(stored, placement, report)
        missing = ranges.without(ranges.clipped(sampled, first, end), held)
        at = [(placement.position(a), placement.position(b)) for a, b in missing]
        report.missing.setdefault(placement.boot.number, []).extend(at)


def _check_channels(stored: StoredStream, placement: Placement, report: SampleReport) -> None:
    """A value that is lacking in a row that is there has a line of its own in the ledger."""
    for channel in range(stored.channels):
        absent = ranges.of_numbers(n for n, row in stored.rows.items() if row[channel] is None and placement.epoch.holds(n))
        ledger = ranges.union((g.first_n, g.end_n(2**62)) for g in stored.gaps if g.channel == channel + 1)
        forgotten = ranges.without(absent, ledger)
        if forgotten:
            report.problems.append(f"{stored.name}: channel {channel + 1} lacks n {forgotten[0]}, which no gap tells")


def check_times(
    stored: StoredStream, placements: list[Placement], shifts: dict[int, int], most_seconds: float, report: SampleReport
) -> None:
    """The stored time of a sample is when it was taken. `shifts`: what a host boot's clock lacks to the headset's."""
    for segment in stored.segments:
        middle = (segment.first_n + segment.last_n) // 2
        for n in (segment.first_n, middle, segment.last_n):
            placement = next((p for p in placements if p.epoch.holds(n)), None)
            if placement is None:
                continue
            true = placement.stream.clock.time(placement.position(n))
            error = (segment.boottime(n) + shifts.get(segment.host_boot, 0) - true) / 1e9
            report.time_error = max(report.time_error, abs(error))
    if report.time_error > most_seconds:
        report.problems.append(f"{stored.name}: a sample's time is wrong by {report.time_error:.3f} s")
