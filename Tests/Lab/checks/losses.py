"""Nothing may be lost that the headset still had."""

from __future__ import annotations

from checks import ranges
from checks.database import StoredStream
from checks.placement import Placement
from checks.samples import SampleReport
from headsets.truth import TrueBoot, Truth
from lab.marks import NANOSECONDS

# A block is sent when its first sample is 0.2 s old at the latest, and a connection ends some intervals later.
_IN_FLIGHT_NANOSECONDS = 500_000_000
# A notification that was lost holds samples that are no older: six of 30 Hz, and what waits for the headset's next turn.
_IN_NOTIFICATION_NANOSECONDS = 300_000_000
# The journal tells of an overrun at most once a second.
_OVERRUN_NANOSECONDS = 2_000_000_000


def check_buffered(
    stored: StoredStream, placements: list[Placement], truth: Truth, report: SampleReport, excused_from: int = 2**62
) -> None:
    """Of a headset with memory only that may be missing which the memory lost: overwritten, or its power failed.

    What was sampled from `excused_from` on may be missing, too.
    """
    for placement in placements:
        boot = placement.boot
        missing = report.missing.get(boot.number, [])
        ended = _end(boot, truth)
        if ended is not None:
            # What was taken since the last link of that boot was gone before anybody could read it.
            lost_from = placement.stream.clock.position(_last_link(truth, boot.began, ended) - _IN_FLIGHT_NANOSECONDS)
            missing = ranges.clipped(missing, 0, max(lost_from, 0))
        missing = ranges.clipped(missing, 0, placement.stream.clock.position(excused_from))
        count = ranges.size(missing)
        overwritten = _overwritten(truth, boot, ended, stored.position)
        if overwritten:
            overwritten += placement.stream.clock.position(boot.began + _OVERRUN_NANOSECONDS)
        if count > overwritten:
            report.problems.append(
                f"{stored.name}: {count} samples of boot {boot.number} are missing, the first at {missing[0]},"
                f" but the headset lost only {overwritten}"
            )


def check_unbuffered(
    stored: StoredStream, placements: list[Placement], excused: list[ranges.Range], report: SampleReport
) -> None:
    """Of a headset without memory only that may be missing which was taken while it could not be heard."""
    for placement in placements:
        for start, end in report.missing.get(placement.boot.number, []):
            clock = placement.stream.clock
            outside = ranges.without([(clock.time(start), clock.time(end - 1) + 1)], excused)
            if outside:
                report.problems.append(
                    f"{stored.name}: samples {start} to {end - 1} are missing although the headset was heard"
                )


def beyond_outages(stored: StoredStream, outages: list[ranges.Range]) -> int:
    """How many rows are missing beyond those that were due during outages: what the way back and the edges cost."""
    missing = sum((gap.count or 0) - gap.recovered for gap in stored.gaps if gap.channel == 0)
    return round(missing - ranges.size(outages) * stored.sampling_frequency / NANOSECONDS)


def unheard(truth: Truth, characteristic: str = "") -> list[ranges.Range]:
    """When a headset could not be heard: away, not connected, without a subscription, or with a notification that was lost."""
    heard = {"range": True, "link": False, "subscribed": False}
    since: int | None = -(2**62)
    silent = []
    for entry in truth.events:
        time = int(entry["time"])
        match entry["event"]:
            case "vanished":
                heard["range"] = False
            case "returned":
                heard["range"] = True
            case "connected":
                heard["link"] = True
            case "disconnected" | "poweredOff":
                heard["link"] = heard["subscribed"] = False
            case "lost":
                if characteristic in str(entry["uuid"]):
                    silent.append((time - _IN_NOTIFICATION_NANOSECONDS, time))
            case "subscribed":
                if characteristic in str(entry["uuid"]):
                    heard["subscribed"] = bool(entry["on"])
        if all(heard.values()):
            if since is not None:
                silent.append((since - _IN_FLIGHT_NANOSECONDS, time + _IN_FLIGHT_NANOSECONDS))
            since = None
        elif since is None:
            since = time
    if since is not None:
        silent.append((since - _IN_FLIGHT_NANOSECONDS, 2**62))
    return ranges.union(silent)


def _end(boot: TrueBoot, truth: Truth) -> int | None:
    """When a boot lost its memory; None while it still has it."""
    return next((time for time in truth.times("poweredOff") if time >= boot.began), None)


def _last_link(truth: Truth, began: int, ended: int) -> int:
    """When a central could read a memory for the last time."""
    last = began
    is_linked = False
    for entry in truth.events:
        time = int(entry["time"])
        if not began <= time <= ended:
            continue
        if entry["event"] == "connected":
            is_linked = True
        elif entry["event"] in ("vanished", "disconnected", "poweredOff") and is_linked:
            is_linked = False
            last = time
    return last


def _overwritten(truth: Truth, boot: TrueBoot, ended: int | None, stream: int) -> int:
    counts = [
        int(entry["lost"])
        for entry in truth.events
        if entry["event"] == "overrun" and entry["stream"] == stream and boot.began <= int(entry["time"]) <= (ended or 2**62)
    ]
    return max(counts, default=0)
