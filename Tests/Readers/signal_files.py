"""EDF+, BDF+ and BIDS, as MNE, MNE-BIDS, pyEDFlib and edfio give them."""

import datetime
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import edfio
import mne
import mne_bids
import numpy as np
import pyedflib

from expectations import DIRECTORY
from recordings import Numbers, Recording, Stream
from scores import Event, Gap, Layout, Reading

# What only the table of readers and formats needs.
TABLE = DIRECTORY / "table"
MISSING = "BAD_ACQ_SKIP"
LAYOUTS = {"fill": Layout.GRID, "discontinuous": Layout.RECORDS}
# Onset and duration in seconds, the text, and the channels it is for.
Mark = tuple[float, float, str, list[str]]


def path(recording: Recording, index: int, gaps: str, ending: str) -> Path:
    """The file of a stream; motion has one of its own."""
    suffix = "" if index == 0 else "_motion"
    name = f"{recording['name']}-{gaps}{suffix}.{ending}"
    return DIRECTORY / name if (DIRECTORY / name).exists() else TABLE / name


def label(channel: dict[str, Any]) -> str:
    kind = "EEG" if channel["type"] == "EEG" else f"MISC {channel['type']}"
    return f"{kind} {channel['name']}"


def marked(marks: Iterable[Mark], stream: Stream, labels: list[str]) -> tuple[list[Gap], list[Event]]:
    """Gaps and events of what is marked in seconds from the first sample."""
    rate = stream["samplingFrequency"]
    gaps, events = [], []
    for onset, duration, text, channels in marks:
        # `BAD_ACQ_SKIP@@EEG TP9` is for a channel.
        words, _, channel = text.partition("@@")
        if words == MISSING:
            names = channels or [channel]
            indexes = [labels.index(name) if name else None for name in names]
            gaps += [Gap(round(onset * rate), round(duration * rate), index) for index in indexes]
        else:
            events.append(Event(onset * rate, text))
    return gaps, events


def of_raw(raw: mne.io.BaseRaw, stream: Stream, start: float, layout: Layout) -> Reading:
    """What MNE gives: volts where the unit is one of voltage."""
    factors = np.array([1e6 if c["unit"] == "uV" else 1.0 for c in stream["channels"]])
    notes = raw.annotations
    marks = zip(notes.onset, notes.duration, map(str, notes.description), map(list, notes.ch_names), strict=True)
    gaps, events = marked(marks, stream, list(raw.ch_names))
    return Reading(raw.get_data().T * factors, start + raw.times, layout, gaps, events)


def read_mne(recording: Recording, gaps: str, ending: str) -> Iterator[Reading]:
    for index, stream in enumerate(recording["streams"]):
        reader = {"edf": mne.io.read_raw_edf, "bdf": mne.io.read_raw_bdf}[ending]
        raw = reader(path(recording, index, gaps, ending), verbose="error")
        yield of_raw(raw, stream, raw.info["meas_date"].timestamp(), LAYOUTS[gaps])


def read_mne_bids(recording: Recording) -> Iterator[Reading]:
    """EEG alone; motion is a table, which MNE-BIDS does not read."""
    (file,) = [f for e in ("edf", "bdf") for f in (TABLE / "bids").glob(f"sub-{recording['name']}/eeg/*_eeg.{e}")]
    name = mne_bids.get_bids_path_from_fname(file).update(root=TABLE / "bids")
    raw = mne_bids.read_raw_bids(name, verbose="error")
    yield of_raw(raw, recording["streams"][0], raw.info["meas_date"].timestamp(), Layout.GRID)


def read_pyedflib(recording: Recording, gaps: str, ending: str) -> Iterator[Reading]:
    for index, stream in enumerate(recording["streams"]):
        with pyedflib.EdfReader(str(path(recording, index, gaps, ending))) as reader:
            values = np.array([reader.readSignal(i) for i in range(reader.signals_in_file)]).T
            # getStartdatetime() is wrong in the fraction, which this field has in units of 100 ns.
            start = reader.getStartdatetime().replace(microsecond=0, tzinfo=datetime.UTC).timestamp()
            start += reader.starttime_subsecond / 1e7
            onsets, durations, texts = reader.readAnnotations()
            marks: list[Mark] = [(o, d, str(t), []) for o, d, t in zip(onsets, durations, texts, strict=True)]
            yield of_signals(values, start, marks, stream, gaps)


def read_edfio(recording: Recording, gaps: str, ending: str) -> Iterator[Reading]:
    for index, stream in enumerate(recording["streams"]):
        file = str(path(recording, index, gaps, ending))
        read: edfio.Edf | edfio.Bdf = edfio.read_edf(file) if ending == "edf" else edfio.read_bdf(file)
        values = np.array([signal.data for signal in read.signals]).T
        start = datetime.datetime.combine(read.startdate, read.starttime, datetime.UTC).timestamp()
        marks: list[Mark] = [(a.onset, a.duration or 0, a.text, []) for a in read.annotations]
        yield of_signals(values, start, marks, stream, gaps)


def of_signals(values: Numbers, start: float, marks: list[Mark], stream: Stream, gaps: str) -> Reading:
    found, events = marked(marks, stream, [label(c) for c in stream["channels"]])
    times = start + np.arange(len(values)) / stream["samplingFrequency"]
    return Reading(values, times, LAYOUTS[gaps], found, events)
