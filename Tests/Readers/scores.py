"""What a reader has made of one stream of a recording, and how much of it is right."""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from enum import Enum

import numpy as np

from recordings import Numbers, Recording, Stream, counts, seconds

# Of an event that the headset said of a sample, in samples; annotations are written to the microsecond.
SAME_SAMPLE = 0.01
# By so many samples a recording differs from its nominal rate that has one.
NOMINAL = 0.01


class Layout(Enum):
    """In which row of a file a sample stands."""

    GRID = "every n has a row"
    ROWS = "missing rows are left out"
    # EDF+D; a second is a record of all recordings here.
    RECORDS = "records of a second without any sample are left out"


@dataclass(frozen=True)
class Gap:
    """Missing rows, or missing values of one channel."""

    # The first missing row, or where rows are left out, the first row behind.
    row: int
    count: int
    # The index of the channel; None for whole rows.
    channel: int | None = None


@dataclass(frozen=True)
class Event:
    row: float
    text: str


@dataclass
class Reading:
    """One stream, as a reader gives it."""

    # A row for each sample, a column for each channel, in the channels' units; NaN where the reader sees no value.
    values: Numbers
    # Seconds since 1970 of each row.
    times: Numbers
    layout: Layout
    gaps: list[Gap] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)


@dataclass
class Score:
    """How many are right, of how many that the recording has."""

    samples: int = 0
    of_samples: int = 0
    # The largest distance of a value from the headset's own, of channels in microvolts.
    microvolts: float = 0
    # The largest distance of a sample's time from the recorded one, of recordings at their nominal rate and of others.
    milliseconds: float = 0
    drift_milliseconds: float = 0
    gaps: int = 0
    of_gaps: int = 0
    # Gaps where nothing is missing.
    false_gaps: int = 0
    events: int = 0
    of_events: int = 0

    def add(self, other: "Score") -> None:
        for each in fields(self):
            ours, theirs = getattr(self, each.name), getattr(other, each.name)
            setattr(self, each.name, max(ours, theirs) if each.type is float else ours + theirs)


class FileRows:
    """The rows of a file in which a recording's samples stand."""

    def __init__(self, stream: Stream, layout: Layout) -> None:
        self.n = np.array(stream["n"])
        self.layout = layout
        self.record = round(stream["samplingFrequency"])
        self.records = np.unique((self.n - self.n[0]) // self.record)

    def row(self, n: float) -> float:
        """Where n stands, or would stand; between two rows where it lies between them."""
        whole = int(np.floor(n))
        if self.layout is Layout.GRID:
            return n - float(self.n[0])
        if self.layout is Layout.ROWS:
            index = int(np.searchsorted(self.n, whole))
            is_there = index < len(self.n) and self.n[index] == whole
            return index + (n - whole if is_there else 0)
        record, rest = divmod(n - float(self.n[0]), self.record)
        index = int(np.searchsorted(self.records, record))
        is_there = index < len(self.records) and self.records[index] == record
        return float(index * self.record + (rest if is_there else 0))


def runs(numbers: Numbers) -> list[tuple[int, int]]:
    """The first and the length of each run of ascending integers without a break."""
    if len(numbers) == 0:
        return []
    starts = np.flatnonzero(np.diff(numbers, prepend=numbers[0] - 2) > 1)
    lengths = np.diff([*starts, len(numbers)])
    return [(int(numbers[start]), int(length)) for start, length in zip(starts, lengths, strict=True)]


def gaps_of_cells(values: Numbers) -> list[Gap]:
    """Gaps as a table shows them that has a row for every n: empty rows, and empty cells of other rows."""
    missing = np.asarray(np.isnan(values).all(axis=1))
    found = [Gap(row, count) for row, count in runs(np.flatnonzero(missing))]
    return found + gaps_of_channels(np.where(missing[:, None], 0.0, values))


def gaps_of_channels(values: Numbers) -> list[Gap]:
    """Empty cells, channel by channel."""
    return [
        Gap(row, count, channel)
        for channel, column in enumerate(values.T)
        for row, count in runs(np.flatnonzero(np.isnan(column)))
    ]


def gaps_of_numbers(n: Numbers, values: Numbers) -> list[Gap]:
    """Gaps as a table shows them that leaves missing rows out: where n leaps, and empty cells."""
    leaps = np.flatnonzero(np.diff(n) > 1)
    return [Gap(int(i) + 1, int(n[i + 1] - n[i]) - 1) for i in leaps] + gaps_of_channels(values)


def expected_gaps(stream: Stream, file: FileRows) -> set[Gap]:
    n = file.n
    whole = {Gap(round(file.row(n[i] + 1)), int(n[i + 1] - n[i] - 1)) for i in np.flatnonzero(np.diff(n) > 1)}
    single = {
        Gap(round(file.row(first)), count, channel)
        for channel, column in enumerate(counts(stream).T)
        for first, count in runs(n[np.isnan(column)])
    }
    return whole | single


def events_right(events: Iterable[Event], recording: Recording, file: FileRows) -> int:
    """How many events of the recording are there at their samples; one that fell between two samples at either of them."""
    left, right = list(events), 0
    stream = recording["streams"][0]
    for annotation in recording["annotations"]:
        at, tolerance = annotation.get("n"), SAME_SAMPLE
        if at is None:
            at, tolerance = np.interp(annotation["unixNanoseconds"] / 1e9, seconds(stream), file.n), 1 - SAME_SAMPLE
        # BrainVision has numbers of triggers instead of texts.
        texts = {annotation["text"], f"S{annotation['text'].removeprefix('Trigger '):>3}"}
        found = [e for e in left if e.text in texts and abs(e.row - file.row(float(at))) < tolerance]
        if found:
            left.remove(found[0])
            right += 1
    return right


def judge(reading: Reading, recording: Recording, index: int) -> Score:
    """Compares with what the recording holds. Marks of the recording are counted with its first stream."""
    stream = recording["streams"][index]
    file = FileRows(stream, reading.layout)
    expected, recorded = counts(stream), seconds(stream)
    rows = np.array([round(file.row(n)) for n in stream["n"]])
    present = rows < len(reading.values)
    read, scales = in_counts(reading, stream, rows, present)
    # What is missing has no right value; whether a reader sees that it is missing is said by its gaps.
    off = np.where(np.isnan(expected), 0.0, np.abs(read - expected))
    error = float(np.max(np.abs(reading.times[rows[present]] - recorded[present]))) * 1000
    drift = (recorded[-1] - recorded[0]) * stream["samplingFrequency"] - (stream["n"][-1] - stream["n"][0])
    gaps = expected_gaps(stream, file)
    found = {g for g in reading.gaps if g.row < rows[-1]}
    stretches = {(g.row, g.count) for g in gaps}
    return Score(
        samples=int(np.sum((np.round(off) == 0).all(axis=1))),
        of_samples=len(expected),
        microvolts=float(np.max((off * np.abs(scales))[:, [c["unit"] == "uV" for c in stream["channels"]]], initial=0)),
        milliseconds=error if abs(drift) < NOMINAL else 0,
        drift_milliseconds=0 if abs(drift) < NOMINAL else error,
        gaps=len(found & gaps),
        of_gaps=len(gaps),
        false_gaps=len([g for g in found if (g.row, g.count) not in stretches]),
        events=events_right(reading.events, recording, file) if index == 0 else 0,
        of_events=len(recording["annotations"]) if index == 0 else 0,
    )


def in_counts(reading: Reading, stream: Stream, rows: Numbers, present: Numbers) -> tuple[Numbers, Numbers]:
    """What stands where the recording's samples should, in the headset's counts, infinite where nothing does; and a count."""
    scales = np.array([c["scale"] for c in stream["channels"]])
    offsets = np.array([c["offset"] for c in stream["channels"]])
    read = np.full((len(rows), len(scales)), np.inf)
    with np.errstate(invalid="ignore"):  # R's NA is a NaN of its own kind.
        read[present] = np.nan_to_num((reading.values[rows[present]] - offsets) / scales, nan=np.inf)
    return read, scales
