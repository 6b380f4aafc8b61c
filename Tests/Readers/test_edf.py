"""Exported EDF+ and BDF+ files, as MNE, pyEDFlib and edfio read them.

What each reader can do differs, and is asserted as it is:

- MNE: values, times and annotations of continuous files, those of one channel too. It loads a discontinuous file as if it were
  continuous, drops the fraction of the start's second, and resamples streams of lower rates unless it is told which to load.
- pyEDFlib: all of a continuous file; refuses a discontinuous one.
- edfio: EDF+ and BDF+; loads a discontinuous file as if it were continuous.
"""

import datetime
from collections.abc import Iterable
from typing import Any

import edfio
import mne
import numpy as np
import pyedflib
import pytest

from expectations import DIRECTORY, EXPECTATIONS, Expectation, path

CONTINUOUS = [e for e in EXPECTATIONS if e["kind"].endswith("C")]
DISCONTINUOUS = [e for e in EXPECTATIONS if e["kind"].endswith("D")]
# Onset and duration in seconds, and the text.
Mark = tuple[float, float, str]
# Annotations are written to the microsecond.
MICROSECOND = 1.5e-6


def identify(expectation: Expectation) -> str:
    return str(expectation["file"])


def assert_values(read: np.ndarray[Any, Any], signal: dict[str, Any]) -> None:
    """The first samples are those of the recording; what follows fills the last data record."""
    expected = np.array(signal["values"])
    assert len(read) >= len(expected)
    assert len(read) - len(expected) < signal["samplingFrequency"] * 10
    assert np.max(np.abs(read[: len(expected)] - expected)) <= signal["tolerance"] + 1e-9


def assert_marks(read: Iterable[Mark], expectation: Expectation) -> None:
    """Every expected annotation is there once, to the microsecond; segments have further ones of the recording."""
    left = list(read)
    for mark in expectation["marks"]:
        duration = mark.get("durationSeconds") or 0
        matches = [
            i
            for i, (onset, length, text) in enumerate(left)
            if text == mark["text"]
            and abs(onset - mark["onsetSeconds"]) <= MICROSECOND
            and abs(length - duration) <= MICROSECOND
        ]
        assert matches, (mark, read)
        left.pop(matches[0])
    # Nothing is marked as missing that is not, but streams that begin late or end early.
    spurious = [m for m in left if m[2].startswith("BAD_ACQ_SKIP") and "ACCEL" not in m[2]]
    assert not spurious


def read_mne(expectation: Expectation, **options: object) -> Any:
    reader = mne.io.read_raw_edf if ".edf" in expectation["file"] else mne.io.read_raw_bdf
    return reader(path(expectation), verbose="error", **options)


@pytest.mark.parametrize("expectation", CONTINUOUS, ids=identify)
def test_mne(expectation: Expectation) -> None:
    for frequency in {s["samplingFrequency"] for s in expectation["signals"]}:
        signals = [s for s in expectation["signals"] if s["samplingFrequency"] == frequency]
        raw = read_mne(expectation, include=[s["label"] for s in signals])
        assert raw.info["sfreq"] == frequency
        assert raw.ch_names == [s["label"] for s in signals]
        assert raw.info["meas_date"].strftime("%Y-%m-%dT%H:%M:%S") == expectation["start"]
        # MNE gives volts where it knows the unit.
        factors = [1e6 if s["unit"] == "uV" else 1 for s in signals]
        for values, factor, signal in zip(raw.get_data(), factors, signals, strict=True):
            assert_values(values * factor, signal)
    if len({s["samplingFrequency"] for s in expectation["signals"]}) > 1:
        return
    raw = read_mne(expectation)
    assert raw.n_times == round(expectation["durationSeconds"] * raw.info["sfreq"])
    read = []
    for onset, duration, text, channels in zip(
        raw.annotations.onset, raw.annotations.duration, raw.annotations.description, raw.annotations.ch_names, strict=True
    ):
        # MNE keeps the channels that an annotation is for.
        read += [(onset, duration, f"{text}@@{c}") for c in channels] or [(onset, duration, text)]
    duration = expectation["durationSeconds"]
    inside = dict(expectation, marks=[m for m in expectation["marks"] if 0 <= m["onsetSeconds"] < duration])
    assert_marks(read, inside)


@pytest.mark.parametrize("expectation", CONTINUOUS, ids=identify)
def test_pyedflib(expectation: Expectation) -> None:
    with pyedflib.EdfReader(path(expectation)) as reader:
        assert reader.getSignalLabels() == [s["label"] for s in expectation["signals"]]
        # pyEDFlib shows the underscores of subfields as spaces, and X as nothing.
        subject = expectation["subject"]
        assert reader.getPatientCode() == ("" if subject == "X" else subject.replace("_", " "))
        # getStartdatetime() of 0.1.42 is wrong by a factor of 10 in the fraction, which the field below has in units of 100 ns.
        start = datetime.datetime.fromisoformat(expectation["start"])
        assert reader.getStartdatetime().replace(microsecond=0) == start
        assert reader.starttime_subsecond == round(expectation["startFractionSeconds"] * 1e7)
        assert reader.getFileDuration() == expectation["durationSeconds"]
        for index, signal in enumerate(expectation["signals"]):
            assert reader.getSampleFrequency(index) == signal["samplingFrequency"]
            assert reader.getPhysicalDimension(index) == signal["unit"]
            assert_values(reader.readSignal(index), signal)
        onsets, durations, texts = reader.readAnnotations()
        assert_marks([(o, max(d, 0), t) for o, d, t in zip(onsets, durations, texts, strict=True)], expectation)


def read_edfio(expectation: Expectation) -> edfio.Edf | edfio.Bdf:
    reader = edfio.read_edf if ".edf" in expectation["file"] else edfio.read_bdf
    return reader(path(expectation))


@pytest.mark.parametrize("expectation", CONTINUOUS, ids=identify)
def test_edfio(expectation: Expectation) -> None:
    file = read_edfio(expectation)
    assert file.patient.code == expectation["subject"]
    assert file.recording.equipment_code == "Buffered_EEG"
    if expectation["file"].startswith("unset"):
        # A date that the format cannot name is unknown, and edfio says so.
        with pytest.raises(edfio.AnonymizedDateError):
            _ = file.startdate
    else:
        assert file.startdate.isoformat() == expectation["start"][:10]
    start = datetime.time.fromisoformat(expectation["start"][11:])
    assert file.starttime == start.replace(microsecond=round(expectation["startFractionSeconds"] * 1e6))
    assert file.duration == expectation["durationSeconds"]
    signals: list[edfio.EdfSignal | edfio.BdfSignal] = [*file.signals]
    for read, signal in zip(signals, expectation["signals"], strict=True):
        assert read.label == signal["label"]
        assert read.sampling_frequency == signal["samplingFrequency"]
        assert_values(read.data, signal)
    assert_marks([(a.onset, a.duration or 0, a.text) for a in file.annotations], expectation)


@pytest.mark.parametrize("expectation", DISCONTINUOUS, ids=identify)
def test_discontinuous(expectation: Expectation) -> None:
    """The gap survives in the annotations of MNE and edfio, whose samples after it are early; pyEDFlib refuses the file."""
    gaps = [m for m in expectation["marks"] if m["text"] == "BAD_ACQ_SKIP"]
    longest = max((m["durationSeconds"] for m in gaps), default=0)
    left_out = longest > 2
    with pytest.raises(OSError, match="discontinuous"):
        pyedflib.EdfReader(path(expectation))
    file = read_edfio(expectation)
    assert (file.duration < expectation["durationSeconds"]) == left_out
    assert_marks([(a.onset, a.duration or 0, a.text) for a in file.annotations], expectation)
    raw = read_mne(expectation)
    assert (raw.n_times < round(expectation["durationSeconds"] * raw.info["sfreq"])) == left_out


@pytest.mark.parametrize("name", ["mixed-fill", "mixed-fill-together"])
def test_types(name: str) -> None:
    """MNE takes EEG for EEG, by the name of the electrode, and nothing else."""
    raw = mne.io.read_raw_edf(DIRECTORY / f"{name}.edf", infer_types=True, verbose="error")
    types = dict(zip(raw.ch_names, raw.get_channel_types(), strict=True))
    motion = {"ACCEL X": "misc", "ACCEL Y": "misc"} if name.endswith("together") else {}
    assert types == {"TP9": "eeg", "AF7": "eeg"} | motion
    raw.set_montage("standard_1005")
    if not motion:
        assert not [d for d in raw.annotations.description if d.startswith("BAD")]
        other = mne.io.read_raw_edf(DIRECTORY / f"{name}_motion.edf", infer_types=True, verbose="error")
        assert other.get_channel_types() == ["misc", "misc"]


def test_the_checks_bite() -> None:
    """A value off by one count, a gap one sample late, an annotation lost: each is found."""
    expectation = next(e for e in EXPECTATIONS if e["file"] == "plain-fill.edf")
    signal = expectation["signals"][0]
    values = np.array(signal["values"])
    values[100] += 0.2197265625
    with pytest.raises(AssertionError):
        assert_values(values, signal)
    with pytest.raises(AssertionError):
        assert_values(np.array(signal["values"])[1:], signal)
    marks = [(m["onsetSeconds"], m.get("durationSeconds") or 0, m["text"]) for m in expectation["marks"]]
    assert_marks(marks, expectation)
    with pytest.raises(AssertionError):
        assert_marks(marks[1:], expectation)
    onset, duration, text = marks[0]
    with pytest.raises(AssertionError):
        assert_marks([(onset + 1 / 256, duration, text), *marks[1:]], expectation)
    with pytest.raises(AssertionError):
        assert_marks([*marks, (20.0, 1.0, "BAD_ACQ_SKIP")], expectation)
