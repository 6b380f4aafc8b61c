"""EEGLAB's, BrainVision's and XDF files, as MNE and pyxdf give them."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import mne
import numpy as np
import pyxdf

from expectations import DIRECTORY
from recordings import Recording, Stream, seconds
from scores import Event, Gap, Layout, Reading, gaps_of_channels
from signal_files import MISSING

LAYOUTS = {"fill": Layout.GRID, "discontinuous": Layout.ROWS}
READERS = {"vhdr": mne.io.read_raw_brainvision, "set": mne.io.read_raw_eeglab}


def path(recording: Recording, index: int, gaps: str, ending: str) -> Path:
    suffix = "" if index == 0 else f"_{recording['streams'][index]['name']}"
    return DIRECTORY / f"{recording['name']}-{gaps}{suffix}.{ending}"


def read_mne(recording: Recording, gaps: str, ending: str) -> Iterator[Reading]:
    for index, stream in enumerate(recording["streams"]):
        with warnings.catch_warnings():
            # MNE says once more in words what a boundary is.
            warnings.filterwarnings("ignore", message=".*boundary.*")
            raw = READERS[ending](path(recording, index, gaps, ending), preload=True, verbose="error")
        # EEGLAB's numbers are microvolts for MNE, whatever their unit; of BrainVision's it knows the unit.
        units = np.array([1e6 if c["unit"] == "uV" or ending == "set" else 1.0 for c in stream["channels"]])
        # Without a date, as in EEGLAB's files, from the first sample.
        start = raw.info["meas_date"].timestamp() if raw.info["meas_date"] else seconds(stream)[0]
        found, events = [], []
        notes = raw.annotations
        for onset, duration, name, channels in zip(notes.onset, notes.duration, notes.description, notes.ch_names, strict=True):
            # BrainVision's type of a marker stands before a slash.
            text = str(name).split("/", 1)[1] if ending == "vhdr" else str(name)
            row, count = onset * stream["samplingFrequency"], round(duration * stream["samplingFrequency"])
            if text == "boundary" or text.startswith(MISSING):
                found.append(gap(row, count, text.removeprefix(MISSING).strip(), list(channels), stream))
            else:
                events.append(Event(row, text))
        yield Reading(raw.get_data().T * units, start + raw.times, LAYOUTS[gaps], found, events)


def gap(row: float, count: int, name: str, channels: list[str], stream: Stream) -> Gap:
    """A marked stretch; a boundary lies half a sample before the row behind it."""
    names = [c["name"] for c in stream["channels"]]
    channel = channels[0] if channels else name
    return Gap(int(np.ceil(row - 0.25)), count, names.index(channel) if channel in names else None)


def read_pyxdf(recording: Recording) -> Iterator[Reading]:
    streams, _ = pyxdf.load_xdf(DIRECTORY / f"{recording['name']}-discontinuous.xdf")
    marks = [s for s in streams if s["info"]["type"] == ["Markers"]]
    samples = [s for s in streams if s["info"]["type"] != ["Markers"]]
    for read, stream in zip(samples, recording["streams"], strict=True):
        values, stamps = read["time_series"].astype(float), read["time_stamps"]
        # What is missing is seen by the distance of the stamps.
        missing = np.round(np.diff(stamps) * stream["samplingFrequency"]).astype(int) - 1
        found = [Gap(int(i) + 1, int(missing[i])) for i in np.flatnonzero(missing)]
        events = [
            Event(float(np.interp(time, stamps, np.arange(len(stamps)))), text[0])
            for mark in marks
            for time, text in zip(mark["time_stamps"], mark["time_series"], strict=True)
        ]
        yield Reading(values, stamps, Layout.ROWS, found + gaps_of_channels(values), events)
