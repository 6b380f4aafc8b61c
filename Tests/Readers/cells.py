"""The cells of the table of readers and formats: how each is read, and what may be wrong of it, with the reason."""

import importlib.metadata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import multiplexed_files as multiplexed
import signal_files as signals
import table_files as tables
from other_languages import read_octave, read_r_csv, read_r_sqlite
from recordings import RECORDINGS, Recording
from scores import Reading, Score, judge

# A clock that was never set is left out: EDF+ has no year 1970.
CHOSEN = [recording for recording in RECORDINGS if recording["name"] != "unset"]
# How far the nominal axis is from the times of `drift`, which is slow by 50 ppm for five minutes.
AXIS = 15.001
# In microvolts: half of a step of 16 bits over the range of `wide`; a count of 24 bits, by which a header of eight characters
# can be off there; and what 32 bits of floating point leave of it.
STEP, CHARACTERS, FLOAT = 3.07, 0.0224, 0.008
NOMINAL = "The axis is the nominal rate"


@dataclass(frozen=True)
class Cell:
    """A reader and a format. Everything must be right but what is said here."""

    reader: str
    format: str
    read: Callable[[Recording], Iterator[Reading]]
    why: str = ""
    # The largest errors that may be; a table's times are written to the microsecond.
    microvolts: float = 0.001
    milliseconds: float = 0.002
    drift_milliseconds: float = 0.002
    # So many of the gaps and of the events are lost, and so many gaps are seen where none is.
    lost_gaps: int = 0
    lost_events: int = 0
    false_gaps: int = 0
    is_refused: bool = False

    def __str__(self) -> str:
        return f"{self.reader.split()[0]}-{self.format.strip('`').replace(' ', '-')}"


@cache
def measured(cell: Cell) -> Score:
    total = Score()
    for recording in CHOSEN:
        for index, reading in enumerate(cell.read(recording)):
            total.add(judge(reading, recording, index))
    return total


def named(name: str, package: str) -> str:
    """With the version that requirements.txt pins."""
    return f"{name} {importlib.metadata.version(package)}"


def edf_cells() -> Iterator[Cell]:
    mne, pyedflib, edfio = named("MNE", "mne"), named("pyEDFlib", "pyedflib"), named("edfio", "edfio")
    for ending, microvolts in [("edf", STEP), ("bdf", CHARACTERS)]:
        fill: dict[str, Any] = {"gaps": "fill", "ending": ending}
        yield Cell(
            mne, f"`{ending}`", partial(signals.read_mne, **fill), "MNE drops the fraction of the start's second",
            microvolts=microvolts, milliseconds=250.001, drift_milliseconds=250 + AXIS,
        )  # fmt: skip
        for name, read in [(pyedflib, signals.read_pyedflib), (edfio, signals.read_edfio)]:
            yield Cell(
                name, f"`{ending}`", partial(read, **fill), NOMINAL, microvolts=microvolts, drift_milliseconds=AXIS
            )  # fmt: skip
        left_out: dict[str, Any] = {"gaps": "discontinuous", "ending": ending}
        written = f"`{ending} --gaps discontinuous`"
        early = "what follows a record that was left out is early, and marks are late"
        yield Cell(
            mne, written, partial(signals.read_mne, **left_out), f"Loaded as if it were continuous: {early}",
            microvolts=microvolts, milliseconds=9250.001, drift_milliseconds=2250 + AXIS, lost_gaps=2, lost_events=2,
            false_gaps=2,
        )  # fmt: skip
        yield Cell(
            edfio, written, partial(signals.read_edfio, **left_out), f"Loaded as if it were continuous: {early}",
            microvolts=microvolts, milliseconds=9000.001, drift_milliseconds=2000 + AXIS, lost_gaps=1, lost_events=2,
            false_gaps=1,
        )  # fmt: skip
        yield Cell(
            pyedflib, written, partial(signals.read_pyedflib, **left_out), "EDF+D is refused with a message", is_refused=True
        )


def multiplexed_cells() -> Iterator[Cell]:
    mne, late = named("MNE", "mne"), "what follows a gap is early"
    yield Cell(
        mne, "`set`", partial(multiplexed.read_mne, gaps="discontinuous", ending="set"),
        f"A boundary is an annotation, {late}; one that reaches beyond the end of the shorter axis is cut",
        microvolts=FLOAT, milliseconds=11_164.063, drift_milliseconds=3499.375, lost_gaps=1, false_gaps=1,
    )  # fmt: skip
    yield Cell(
        mne, "`set --gaps fill`", partial(multiplexed.read_mne, gaps="fill", ending="set"), NOMINAL, microvolts=FLOAT,
        drift_milliseconds=AXIS,
    )  # fmt: skip
    octave = "A boundary has its length, and each piece its time; Octave cuts texts beyond ASCII"
    yield Cell(
        "Octave", "`set`", partial(read_octave, gaps="discontinuous"), octave,
        microvolts=FLOAT, drift_milliseconds=3.001, lost_events=1,
    )  # fmt: skip
    yield Cell(
        mne, "`brainvision`", partial(multiplexed.read_mne, gaps="fill", ending="vhdr"),
        f"{NOMINAL}; MNE drops the channel of a marker", drift_milliseconds=AXIS, lost_gaps=3,
    )  # fmt: skip
    yield Cell(
        mne, "`brainvision --gaps discontinuous`", partial(multiplexed.read_mne, gaps="discontinuous", ending="vhdr"),
        f"MNE does not read the date of a new segment: {late}",
        milliseconds=11_164.063, drift_milliseconds=3499.375, lost_gaps=12,
    )  # fmt: skip
    yield Cell(named("pyxdf", "pyxdf"), "`xdf`", multiplexed.read_pyxdf)
    yield Cell(
        named("MNE-BIDS", "mne-bids"), "`bids`", signals.read_mne_bids,
        f"{NOMINAL}; EEG alone, motion is a table",
        microvolts=CHARACTERS, drift_milliseconds=AXIS,
    )  # fmt: skip


def table_cells() -> Iterator[Cell]:
    pandas, polars, duckdb = named("pandas", "pandas"), named("Polars", "polars"), named("DuckDB", "duckdb")
    yield Cell(pandas, "`csv`", tables.read_pandas_csv)
    yield Cell(polars, "`csv`", tables.read_polars_csv)
    yield Cell(duckdb, "`csv`", tables.read_duckdb_csv)
    events = sum(len(recording["annotations"]) for recording in CHOSEN)
    yield Cell(
        "R", "`csv`", partial(read_r_csv, chosen=CHOSEN), "Marks stand in the JSON file, which base R does not read",
        lost_events=events,
    )  # fmt: skip
    yield Cell(pandas, "`parquet`", tables.read_pandas_parquet)
    yield Cell(polars, "`parquet`", tables.read_polars_parquet)
    yield Cell(duckdb, "`parquet`", tables.read_duckdb_parquet)
    yield Cell("Python's sqlite3", "`sqlite`", tables.read_sqlite)
    yield Cell("R with RSQLite", "`sqlite`", partial(read_r_sqlite, chosen=CHOSEN))


CELLS = [*edf_cells(), *multiplexed_cells(), *table_cells()]
