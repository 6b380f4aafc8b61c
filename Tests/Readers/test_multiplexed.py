"""Exported BrainVision and EEGLAB files, as MNE reads them."""

import json
import warnings
from pathlib import Path

import mne
import numpy as np
import pytest

from expectations import DIRECTORY
from recordings import RECORDINGS, Numbers, Recording, Stream, counts

READERS = {"vhdr": mne.io.read_raw_brainvision, "set": mne.io.read_raw_eeglab}
GAPS = ["fill", "discontinuous"]
# What one of a unit is in MNE's own: EEGLAB's readers take every number for microvolts.
UNITS = {"vhdr": {"uV": 1e-6}, "set": {}}
everything = pytest.mark.parametrize(
    ("recording", "gaps", "ending"),
    [(r, g, e) for r in RECORDINGS for g in GAPS for e in READERS],
    ids=lambda v: str(v["name"]) if isinstance(v, dict) else str(v),
)


def path(recording: Recording, gaps: str, ending: str, index: int = 0) -> Path:
    """The file of a stream: the first one has the name that was asked for."""
    suffix = "" if index == 0 else f"_{recording['streams'][index]['name']}"
    return DIRECTORY / f"{recording['name']}-{gaps}{suffix}.{ending}"


def load(file: Path) -> mne.io.BaseRaw:
    with warnings.catch_warnings():
        # MNE says once more in words what a boundary is.
        warnings.filterwarnings("ignore", message=".*boundary.*")
        warnings.filterwarnings("error", message=".*Unknown types.*")
        raw: mne.io.BaseRaw = READERS[file.suffix[1:]](file, preload=True, verbose="error")
    return raw


def read_counts(raw: mne.io.BaseRaw, stream: Stream, ending: str) -> Numbers:
    """The headset's counts, row after row."""
    scales = np.array([c["scale"] for c in stream["channels"]])
    offsets = np.array([c["offset"] for c in stream["channels"]])
    units = np.array([UNITS[ending].get(c["unit"], 1e-6 if ending == "set" else 1.0) for c in stream["channels"]])
    values: Numbers = np.round((raw.get_data().T / units - offsets) / scales)
    return values


def expected_counts(stream: Stream, gaps: str) -> Numbers:
    """The same, made from what the recording holds: what is missing is held, or its rows left out."""
    rows = counts(stream)
    if gaps == "fill":
        n = np.array(stream["n"])
        grid = np.full((n[-1] - n[0] + 1, rows.shape[1]), np.nan)
        grid[n - n[0]] = rows
        rows = grid
    for column in rows.T:
        present = np.flatnonzero(~np.isnan(column))
        held = np.searchsorted(present, np.arange(len(column)), side="right") - 1
        column[:] = column[present[np.maximum(held, 0)]]
    return rows


@everything
def test_values(recording: Recording, gaps: str, ending: str) -> None:
    for index, stream in enumerate(recording["streams"]):
        raw = load(path(recording, gaps, ending, index))
        assert raw.ch_names == [c["name"] for c in stream["channels"]]
        assert raw.info["sfreq"] == pytest.approx(stream["samplingFrequency"], rel=1e-12)
        assert np.array_equal(read_counts(raw, stream, ending), expected_counts(stream, gaps))


@everything
def test_types(recording: Recording, gaps: str, ending: str) -> None:
    """EEG is EEG, and nothing else is."""
    for index, stream in enumerate(recording["streams"]):
        raw = load(path(recording, gaps, ending, index))
        for channel, kind in zip(stream["channels"], raw.get_channel_types(), strict=True):
            assert (kind == "eeg") == (channel["type"] == "EEG"), (channel, kind)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda r: str(r["name"]))
def test_start(recording: Recording) -> None:
    raw = load(path(recording, "fill", "vhdr"))
    start = recording["streams"][0]["unixNanoseconds"][0]
    assert raw.info["meas_date"] is not None
    assert round(raw.info["meas_date"].timestamp() * 1e6) == start // 1000


def onsets(raw: mne.io.BaseRaw, ending: str, prefix: str = "") -> list[tuple[int, int, str]]:
    """Onset and duration in samples, and the text behind BrainVision's type of it."""
    rate = raw.info["sfreq"]
    found = []
    for onset, duration, text in zip(raw.annotations.onset, raw.annotations.duration, raw.annotations.description, strict=True):
        words = text.split("/", 1)[1] if ending == "vhdr" else text
        if words.startswith(prefix):
            found.append((round(onset * rate), round(duration * rate), str(words)))
    return found


@pytest.mark.parametrize("ending", list(READERS))
def test_marks(ending: str) -> None:
    """Each mark lies at its sample; those of a gap at the first sample behind it where that is left out."""
    plain = next(r for r in RECORDINGS if r["name"] == "plain")
    raw = load(path(plain, "fill", ending))
    for text, at, seconds in [("eyes closed µ", 2.5, 10), ("Blink", 2.5, 0), ("in the gap", 15, 0), ("late", 29.9, 0)]:
        found = [mark for mark in onsets(raw, ending) if mark[2] == text]
        assert len(found) == 1, text
        assert abs(found[0][0] - round(at * 256)) <= 1
        assert found[0][1] == (seconds * 256 or (1 if ending == "vhdr" else 0))
    raw = load(path(plain, "discontinuous", ending))
    n = np.array(plain["streams"][0]["n"])
    for text, at in [("Blink", 2.5), ("in the gap", 15), ("late", 29.9)]:
        expected = int(np.searchsorted(n, round(at * 256)))
        found = [mark for mark in onsets(raw, ending) if mark[2] == text]
        assert abs(found[0][0] - expected) <= 1, (text, found, expected)


@pytest.mark.parametrize("ending", list(READERS))
def test_triggers(ending: str) -> None:
    """A trigger of the headset lies at its very sample."""
    wide = next(r for r in RECORDINGS if r["name"] == "wide")
    for gaps in GAPS:
        raw = load(path(wide, gaps, ending))
        n = wide["streams"][0]["n"]
        found = [onset for onset, _, text in onsets(raw, ending) if text.startswith(("Trigger", "S  "))]
        expected = [a["n"] if gaps == "fill" else n.index(a["n"]) for a in wide["annotations"]]
        assert found == expected


def test_held_rows_are_left_out_by_mne() -> None:
    """Whatever is held is BAD for MNE, and nothing else of the first stream is."""
    plain = next(r for r in RECORDINGS if r["name"] == "plain")
    stream = plain["streams"][0]
    rows = counts(stream)
    complete = int(np.sum(~np.isnan(rows).any(axis=1)))
    for ending in READERS:
        raw = load(path(plain, "fill", ending))
        bad = [a for a in raw.annotations if a["description"].upper().startswith("BAD")]
        assert bad
        kept = raw.get_data(reject_by_annotation="omit").shape[1]
        assert kept == complete, ending


def test_boundaries() -> None:
    """A boundary lies between the rows at each gap, as long as the gap."""
    drift = next(r for r in RECORDINGS if r["name"] == "drift")
    n = np.array(drift["streams"][0]["n"])
    steps = np.flatnonzero(np.diff(n) > 1)
    raw = load(path(drift, "discontinuous", "set"))
    found = [
        (onset * 256, duration * 256)
        for onset, duration, text in zip(
            raw.annotations.onset, raw.annotations.duration, raw.annotations.description, strict=True
        )
        if text == "boundary"
    ]
    assert np.allclose([onset for onset, _ in found], steps + 0.5)
    assert np.allclose([duration for _, duration in found], np.diff(n)[steps] - 1)
    segments = [m for m in onsets(load(path(drift, "discontinuous", "vhdr")), "vhdr") if m[2] == ""]
    assert [onset for onset, _, _ in segments] == list(steps + 1)


def test_lengths() -> None:
    """Of a gap that no counter has counted the file says so."""
    for ending in READERS:
        for gaps in GAPS:
            marks = onsets(load(DIRECTORY / f"fine-{gaps}.{ending}"), ending, "BAD_LENGTH_TIMED")
            assert [(onset, text) for onset, _, text in marks] == [(600, "BAD_LENGTH_TIMED +-3 samples")]


def test_sidecars() -> None:
    for ending in READERS:
        facts = json.loads((DIRECTORY / f"fine-fill.{ending}.json").read_text())
        assert facts["streams"][0]["name"] == "eeg"
        assert facts["streams"][0]["gaps"][0]["count"] == 61
        assert facts["start"] == "2026-03-01T10:00:00.250000Z"


def test_the_checks_bite(tmp_path: Path) -> None:
    """A count off by one, a row too many: both are found."""
    wide = next(r for r in RECORDINGS if r["name"] == "wide")
    stream = wide["streams"][0]
    for ending, data in [("vhdr", "eeg"), ("set", "fdt")]:
        for name in DIRECTORY.glob("wide-fill.*"):
            (tmp_path / name.name).write_bytes(name.read_bytes())
        file = tmp_path / f"wide-fill.{data}"
        numbers = np.frombuffer(file.read_bytes(), dtype="<f4").copy()
        numbers[7] += 1.0 if ending == "vhdr" else stream["channels"][7]["scale"]
        file.write_bytes(numbers.tobytes())
        read = read_counts(load(tmp_path / f"wide-fill.{ending}"), stream, ending)
        assert np.sum(read != expected_counts(stream, "fill")) == 1
