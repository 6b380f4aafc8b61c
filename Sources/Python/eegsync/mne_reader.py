"""The class that MNE reads through; imported only where MNE is wanted."""

import sqlite3
from typing import Any

import mne
import numpy as np
from numpy.typing import NDArray

from eegsync.database import query
from eegsync.mne_raw import Fill, Hole, Mark, Part, holes, marks
from eegsync.reading import Limit, read_stream
from eegsync.recording import Recording, Stream, moment
from eegsync.samples import unique_names
from eegsync.time_map import NO_TIME, TimeMap

# BIDS's words for types as MNE's; whatever else a headset sends is `misc`.
TYPES = {"EEG": "eeg", "EOG": "eog", "ECG": "ecg", "EMG": "emg", "TRIG": "stim", "TEMP": "temperature"}
VOLTS = {"V": 1.0, "mV": 1e-3, "uV": 1e-6, "nV": 1e-9}
# How far back a value is looked for that `hold` holds.
HOLD_NUMBERS = 65_536


class RawEegsync(mne.io.BaseRaw):  # type: ignore[misc]
    """A part of a stream; see `eegsync.raw`."""

    def __init__(self, recording: Recording, stream: Stream, part: Part, fill: Fill) -> None:
        names = unique_names(stream)

        def work(connection: sqlite3.Connection) -> tuple[TimeMap, list[Hole], list[Mark]]:
            connection.execute("BEGIN")
            return (
                TimeMap.read(connection, stream.banks[0].stream_id),
                holes(connection, stream, names, part),
                marks(connection, recording, stream, part),
            )

        self._time_map, found_holes, found_marks = query(recording.path, work)
        super().__init__(
            _info(recording, stream, part, names, self._time_map),
            preload=False,
            last_samps=[part.last_n - part.first_n],
            filenames=[recording.path],
            orig_format="int",
            raw_extras=[{"recording": recording, "stream": stream, "part": part, "fill": fill}],
        )
        self.set_annotations(_annotations(part, stream.sampling_frequency, found_holes, found_marks, self.info["meas_date"]))

    def utc(self, samples: NDArray[np.int64] | None = None) -> NDArray[np.datetime64]:
        """The times of samples of this Raw by the recording's clock, to the nanosecond; of all samples where none are named.

        Counted from the first sample that was recorded, also in a Raw that was cropped, whose own begin at `first_samp`.
        """
        part: Part = self._raw_extras[0]["part"]
        wanted = np.arange(self.first_samp, self.last_samp + 1) if samples is None else np.asarray(samples, dtype=np.int64)
        return self._time_map.unix_ns(wanted + part.first_n).view("datetime64[ns]")

    def _read_segment_file(
        self, data: NDArray[Any], idx: Any, fi: int, start: int, stop: int, cals: NDArray[Any], mult: NDArray[Any] | None
    ) -> None:
        """Called by MNE for the samples `start` to before `stop`, of the channels `idx`, or of all, multiplied by `mult`."""
        recording, stream, part, fill = (self._raw_extras[fi][name] for name in ("recording", "stream", "part", "fill"))
        first = part.first_n + start
        begin = first - HOLD_NUMBERS if fill == "hold" else first
        found = query(
            recording.path, lambda connection: read_stream(connection, stream, Limit(n=begin), Limit(n=part.first_n + stop))
        )
        block = np.full((len(stream.channels), part.first_n + stop - begin), np.nan)
        factors = np.array([VOLTS.get(channel.unit, 1.0) for channel in stream.channels])
        block[:, found.n - begin] = found.values.T * factors[:, np.newaxis]
        for row, channel in enumerate(stream.channels):
            if fill == "hold":
                block[row] = _held(block[row])
            elif TYPES.get(channel.type) == "stim":
                # Of triggers MNE takes whole numbers; 0 is none.
                block[row, np.isnan(block[row])] = 0
        block = block[:, first - begin :]
        data[:] = block[idx] * cals if mult is None else mult @ block


def _info(recording: Recording, stream: Stream, part: Part, names: list[str], time_map: TimeMap) -> Any:
    types = [
        "misc" if kind in ("eeg", "eog", "ecg", "emg") and channel.unit not in VOLTS else kind
        for channel, kind in ((channel, TYPES.get(channel.type, "misc")) for channel in stream.channels)
    ]
    info = mne.create_info(names, stream.sampling_frequency, types, verbose="error")
    device = {"type": recording.model, "model": recording.headset}
    if recording.serial_number is not None:
        device["serial"] = recording.serial_number
    info["device_info"] = device
    if recording.subject is not None:
        info["subject_info"] = {"his_id": recording.subject}
    start = int(time_map.unix_ns(np.array([part.first_n]))[0])
    if start != NO_TIME:
        info.set_meas_date(moment(start))
        seconds = _deviation_seconds(stream, part, time_map)
        info["description"] = (
            f"eegsync recording {recording.id}, stream {stream.name}, n {part.first_n} to {part.last_n}; times at the"
            f" nominal sampling frequency differ from the clock's by up to {seconds:.6f} s"
        )
    return info


def _deviation_seconds(stream: Stream, part: Part, time_map: TimeMap) -> float:
    """How far n / nominal frequency and the time map come apart from the first sample on: most at an end of a line."""
    borders = np.concatenate([time_map.first_n, time_map.first_n - 1, [part.last_n]])
    n = borders[(borders >= part.first_n) & (borders <= part.last_n)]
    mapped = time_map.unix_ns(n)
    start = time_map.unix_ns(np.array([part.first_n]))[0]
    elapsed = (mapped[mapped != NO_TIME] - start) / 1e9
    return float(np.abs(elapsed - (n[mapped != NO_TIME] - part.first_n) / stream.sampling_frequency).max())


def _annotations(part: Part, frequency: float, found: list[Hole], said: list[Mark], start: Any) -> Any:
    extras: list[dict[str, Any]] = [
        {"cause": hole.cause, "certainty": hole.certainty, "uncertainty_samples": hole.uncertainty} for hole in found
    ]
    extras += [{"source": mark.source} for mark in said]
    return mne.Annotations(
        onset=[(each.first_n - part.first_n) / frequency for each in found]
        + [(each.n - part.first_n) / frequency for each in said],
        duration=[hole.count / frequency for hole in found] + [mark.duration_seconds for mark in said],
        description=["BAD_ACQ_SKIP"] * len(found) + [mark.description for mark in said],
        orig_time=start,
        ch_names=[hole.channel_names for hole in found] + [()] * len(said),
        extras=extras,
    )


def _held(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each missing value as the last one before it, and 0 before the first."""
    index = np.where(np.isnan(values), -1, np.arange(len(values)))
    last = np.maximum.accumulate(index)
    return np.where(last < 0, 0.0, values[np.maximum(last, 0)])
