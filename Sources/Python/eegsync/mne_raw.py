"""A recording as MNE's Raw, without an export: what is looked at is read from the database, in the moment in which it is."""

import dataclasses
import sqlite3
from typing import TYPE_CHECKING, Literal, SupportsIndex

from eegsync.database import integer, query
from eegsync.recording import Recording, Stream
from eegsync.time_map import TimeMap

if TYPE_CHECKING:
    from eegsync.mne_reader import RawEegsync

# Through gaps of at least this long a Raw would be mostly gap: the same limit as that of `eegsync export`.
LONGEST_GAP_SECONDS = 86_400

Fill = Literal["nan", "hold"]


@dataclasses.dataclass(frozen=True)
class Part:
    """A stretch of a stream through which n counts the time."""

    first_n: int
    last_n: int


def raw(recording: Recording, stream: str = "eeg", part: SupportsIndex | None = None, fill: Fill = "nan") -> "RawEegsync":
    """A stream as `mne.io.Raw`, read lazily. What is committed later is not in it.

    Sample k is the n of `first_n + k`, at the nominal sampling frequency; `utc` has the times of the clock, and
    `info["description"]` says how far the two come apart. Voltages are in volts, whatever else in the unit that
    `raw.info["chs"]` cannot say and the database can.

    Gaps are annotated BAD_ACQ_SKIP, of which MNE leaves the data out by itself (filters, spectra, epochs, ICA). With
    `fill="nan"` there is no number where nothing was measured, so that what does not look at annotations fails visibly
    instead of computing with values that nobody has measured. With `fill="hold"` the last value is held, as in an EDF of
    `eegsync export`: for what cannot go on without numbers, such as `resample` of a whole Raw.

    Between two boots of the machine, and through gaps of a day, n does not count the time: there a recording falls into
    parts, of which `part` names one, from 0. Raises ValueError where there are several and none was named.
    """
    from eegsync.mne_reader import RawEegsync

    found = recording.stream(stream)
    number = integer(part)
    if number is None and part is not None:
        raise TypeError(f"{part!r} is no number of a part")
    all_parts = query(recording.path, lambda connection: parts(connection, found))
    if not all_parts:
        raise ValueError(f"stream {found.name} of recording {recording.id} has no samples yet")
    if number is None and len(all_parts) > 1:
        spans = ", ".join(f"{index}: n {each.first_n} to {each.last_n}" for index, each in enumerate(all_parts))
        raise ValueError(
            f"stream {found.name} of recording {recording.id} has {len(all_parts)} parts ({spans}), because the machine"
            f" restarted or a day is missing in between; name one, as in raw(recording, {found.name!r}, part=0)"
        )
    if not 0 <= (number or 0) < len(all_parts):
        raise ValueError(
            f"stream {found.name} of recording {recording.id} has {len(all_parts)} parts; {number} is none of them"
        )
    return RawEegsync(recording, found, all_parts[number or 0], fill)


def parts(connection: sqlite3.Connection, stream: Stream) -> list[Part]:
    """The parts of a stream, cut where n does not count the time."""
    extents = []
    cuts: set[tuple[int, int]] = set()
    for bank in stream.banks:
        extent = connection.execute("SELECT min(n), max(n) FROM sample WHERE stream_id = ?", [bank.stream_id])
        extents.append(extent.fetchone())
        cuts.update(
            (first, first + count)
            for first, count in connection.execute(
                "SELECT first_n, count FROM gap WHERE stream_id = ? AND channel = 0 AND (count = 0 OR count >= ?)",
                [bank.stream_id, int(LONGEST_GAP_SECONDS * stream.sampling_frequency)],
            )
        )
    extents = [extent for extent in extents if extent[0] is not None]
    if not extents:
        return []
    first, last = min(extent[0] for extent in extents), max(extent[1] for extent in extents)
    found = []
    for gap_first, next_n in sorted(cuts):
        if first < gap_first <= last:
            found.append(Part(first, gap_first - 1))
        if gap_first <= last:
            first = max(first, next_n)
    return [*found, Part(first, last)]


@dataclasses.dataclass(frozen=True)
class Hole:
    """A run of missing samples within a part, of some channels or, where none is named, of all."""

    first_n: int
    count: int
    channel_names: tuple[str, ...]
    cause: str
    certainty: str
    # Samples, of a length that clocks show
    uncertainty: int | None


@dataclasses.dataclass(frozen=True)
class Mark:
    """An annotation; n with the fraction of a sample."""

    n: float
    duration_seconds: float
    description: str
    source: str


def holes(connection: sqlite3.Connection, stream: Stream, names: list[str], part: Part) -> list[Hole]:
    """What is missing of a part, by the ledger, without what arrived after all."""
    found: list[Hole] = []
    column = 0
    for bank in stream.banks:
        of_bank = tuple(names[column : column + len(bank.channels)])
        column += len(bank.channels)
        whole = of_bank if len(stream.banks) > 1 else ()
        ledger = connection.execute(
            "SELECT first_n, count, channel, cause, certainty, uncertainty, recovered FROM gap"
            " WHERE stream_id = ? AND count > recovered AND first_n <= ? AND first_n + count > ? ORDER BY first_n, channel",
            [bank.stream_id, part.last_n, part.first_n],
        ).fetchall()
        for first, count, channel, cause, certainty, uncertainty, recovered in ledger:
            concerned = whole if channel == 0 else (of_bank[channel - 1],)
            begin, end = max(first, part.first_n), min(first + count - 1, part.last_n)
            runs = [(begin, end)] if recovered == 0 else _missing_runs(connection, bank.stream_id, channel, begin, end)
            found += [Hole(a, b - a + 1, concerned, cause, certainty, uncertainty) for a, b in runs]
    return found


def marks(connection: sqlite3.Connection, recording: Recording, stream: Stream, part: Part) -> list[Mark]:
    """The annotations within a part, at the instant of their onset."""
    time_map = TimeMap.read(connection, stream.banks[0].stream_id)
    rows = connection.execute(
        "SELECT n, onset_unix_ns, coalesce(duration_seconds, 0), description, source FROM annotation_sample"
        " WHERE recording_id = ? AND view_name = ? AND n BETWEEN ? AND ? ORDER BY onset_unix_ns, annotation_id",
        [recording.id, stream.view_name, part.first_n, part.last_n],
    )
    return [Mark(time_map.position(row[0], row[1]), *row[2:]) for row in rows]


def _missing_runs(connection: sqlite3.Connection, stream_id: int, channel: int, first: int, last: int) -> list[tuple[int, int]]:
    """The runs without a row, or without a value of the channel, of a gap of which something arrived."""
    value = "n" if channel == 0 else f"c{channel}"
    present = connection.execute(
        f"SELECT n FROM sample WHERE stream_id = ? AND n BETWEEN ? AND ? AND {value} IS NOT NULL ORDER BY n",
        [stream_id, first, last],
    )
    runs, begin = [], first
    for (n,) in present:
        if n > begin:
            runs.append((begin, n - 1))
        begin = n + 1
    return [*runs, (begin, last)] if begin <= last else runs
