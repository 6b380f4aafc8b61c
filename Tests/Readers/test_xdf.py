"""Exported XDF files, as pyxdf reads them, with its removal of jitter and without."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pyxdf

from expectations import DIRECTORY
from recordings import RECORDINGS, Numbers, Recording, assert_counts, seconds

PAGE = Path(__file__).resolve().parents[2] / "Sources/eegsync/eegsync.docc/ExportingXDF.md"
# A double has a quarter of it in this century.
MICROSECOND = 1e-6
GAPS = ["discontinuous", "segments"]


def identify(recording: Recording) -> str:
    return str(recording["name"])


def load(file: Path, *, dejitter: bool) -> tuple[list[Any], Any]:
    streams: list[Any]
    streams, header = pyxdf.load_xdf(file, dejitter_timestamps=dejitter)
    return streams, header


def split(streams: list[Any]) -> tuple[list[Any], list[Any]]:
    """Streams of samples, and those of marks."""
    marks = [s for s in streams if s["info"]["type"] == ["Markers"]]
    return [s for s in streams if s not in marks], marks


def joined(streams: list[Any], name: str) -> tuple[Numbers, Numbers]:
    """Values and times of a stream of the recording, from all streams of the file that hold pieces of it."""
    pieces = [s for s in streams if s["info"]["name"][0].split("-")[1] == name]
    return np.concatenate([s["time_series"] for s in pieces]), np.concatenate([s["time_stamps"] for s in pieces])


def without_flag(file: Path, to: Path) -> Path:
    """The file as pyxdf before 1.17.5 sees it, which does not know that samples can be dropped."""
    data = file.read_bytes()
    flag = b"<can_drop_samples>true<"
    assert flag in data
    to.write_bytes(data.replace(flag, b"<can_drop_samples>nope<"))
    return to


@pytest.mark.parametrize("gaps", GAPS)
@pytest.mark.parametrize("recording", RECORDINGS, ids=identify)
def test_values_and_times(recording: Recording, gaps: str) -> None:
    file = DIRECTORY / f"{recording['name']}-{gaps}.xdf"
    for dejitter in (False, True):
        streams, _ = split(load(file, dejitter=dejitter)[0])
        for stream in recording["streams"]:
            values, times = joined(streams, stream["name"])
            assert_counts(values, stream)
            if gaps == "discontinuous" or not dejitter:
                assert np.max(np.abs(times - seconds(stream))) < MICROSECOND


@pytest.mark.parametrize("recording", RECORDINGS, ids=identify)
def test_descriptions(recording: Recording) -> None:
    streams, header = load(DIRECTORY / f"{recording['name']}-discontinuous.xdf", dejitter=False)
    assert header["info"]["version"] == ["1.0"]
    for read, stream in zip(split(streams)[0], recording["streams"], strict=True):
        channels = read["info"]["desc"][0]["channels"][0]["channel"]
        assert [c["label"][0] for c in channels] == [c["name"] for c in stream["channels"]]
        assert [c["type"][0] for c in channels] == [c["type"] for c in stream["channels"]]
        units = ["microvolts" if c["unit"] == "uV" else c["unit"] for c in stream["channels"]]
        assert [c["unit"][0] for c in channels] == units
        assert [float(c["raw"][0]["scale"][0]) for c in channels] == [c["scale"] for c in stream["channels"]]
        assert float(read["info"]["nominal_srate"][0]) == stream["samplingFrequency"]
        footer = read["footer"]["info"]
        assert int(footer["sample_count"][0]) == len(stream["n"])
        assert float(footer["first_timestamp"][0]) == read["time_stamps"][0]
        assert float(footer["last_timestamp"][0]) == read["time_stamps"][-1]
        assert read["clock_values"] == [0.0, 0.0]


def assert_marks(streams: list[Any], recording: Recording) -> None:
    """Each mark is there once, at its instant; one of a sample at the time of that sample."""
    samples, marks = split(streams)
    expected = sorted(recording["annotations"], key=lambda a: a["unixNanoseconds"])
    read = [(t, v[0]) for s in marks for t, v in zip(s["time_stamps"], s["time_series"], strict=True)]
    assert [text for _, text in read] == [a["text"] for a in expected]
    for (time, _), annotation in zip(read, expected, strict=True):
        if "n" in annotation:
            row = recording["streams"][0]["n"].index(annotation["n"])
            assert time == samples[0]["time_stamps"][row]
        assert abs(time - annotation["unixNanoseconds"] / 1e9) < MICROSECOND


@pytest.mark.parametrize("recording", RECORDINGS, ids=identify)
def test_marks(recording: Recording) -> None:
    assert_marks(load(DIRECTORY / f"{recording['name']}-discontinuous.xdf", dejitter=True)[0], recording)


def worst_error(file: Path, recording: Recording, *, dejitter: bool) -> float:
    """How far the times of any sample are from those that were recorded, in milliseconds."""
    streams, _ = split(load(file, dejitter=dejitter)[0])
    errors = [np.max(np.abs(joined(streams, s["name"])[1] - seconds(s))) for s in recording["streams"]]
    return float(max(errors)) * 1000


def test_table(tmp_path: Path) -> None:
    """The page has the largest error of a sample's time for each way to read each recording."""
    rows = []
    for recording in RECORDINGS:
        cells = []
        for gaps in GAPS:
            file = DIRECTORY / f"{recording['name']}-{gaps}.xdf"
            older = without_flag(file, tmp_path / file.name)
            errors = [
                worst_error(file, recording, dejitter=False),
                worst_error(file, recording, dejitter=True),
                worst_error(older, recording, dejitter=True),
            ]
            cells += [f"{error:.2f}" for error in errors]
        rows.append(f"| `{recording['name']}` | " + " | ".join(cells) + " |")
    text = PAGE.read_text()
    begin, end = "<!-- xdf table begin -->", "<!-- xdf table end -->"
    table = text[text.index(begin) : text.index(end)].splitlines()[3:]
    assert [line for line in table if line] == rows, "\n".join(rows)


def test_the_checks_bite() -> None:
    """A sample that moved by one, a value off by one count, a mark one sample late, a mark lost: each is found."""
    recording = next(r for r in RECORDINGS if r["name"] == "wide")
    stream = recording["streams"][0]
    streams, _ = load(DIRECTORY / "wide-discontinuous.xdf", dejitter=False)
    values, _ = joined(split(streams)[0], stream["name"])
    with pytest.raises(AssertionError):
        assert_counts(np.roll(values, 1, axis=0), stream)
    off = values.copy()
    off[7, 3] += stream["channels"][3]["scale"]
    with pytest.raises(AssertionError):
        assert_counts(off, stream)
    assert_marks(streams, recording)
    marks = split(streams)[1][0]
    marks["time_stamps"][1] += 1 / stream["samplingFrequency"]
    with pytest.raises(AssertionError):
        assert_marks(streams, recording)
    marks["time_stamps"][1] -= 1 / stream["samplingFrequency"]
    marks["time_stamps"], marks["time_series"] = marks["time_stamps"][1:], marks["time_series"][1:]
    with pytest.raises(AssertionError):
        assert_marks(streams, recording)
