"""What each recording of the fixtures holds, whatever format it was written in.

`swift test --filter ReaderFixtureTests` writes it beside the files.
"""

import json
from typing import Any

import numpy as np

from expectations import DIRECTORY

# A recording, one of its streams, as RecordingExpectation.swift writes them.
Recording = dict[str, Any]
Stream = dict[str, Any]
Numbers = np.ndarray[Any, Any]
RECORDINGS: list[Recording] = json.loads((DIRECTORY / "recordings.json").read_text())
assert len(RECORDINGS) > 5


def counts(stream: Stream) -> Numbers:
    """The headset's counts, row after row; NaN where one is missing."""
    return np.array([[np.nan if v is None else v for v in row] for row in stream["values"]])


def physical(stream: Stream) -> Numbers:
    """The same in the channels' units."""
    scales = np.array([c["scale"] for c in stream["channels"]])
    offsets = np.array([c["offset"] for c in stream["channels"]])
    values: Numbers = counts(stream) * scales + offsets
    return values


def seconds(stream: Stream) -> Numbers:
    """The time of each row, in seconds since 1970; to the quarter of a microsecond that a double has."""
    nanoseconds = np.array(stream["unixNanoseconds"], dtype=np.int64)
    times: Numbers = nanoseconds // 10**9 + nanoseconds % 10**9 / 1e9
    return times


def assert_counts(read: Numbers, stream: Stream) -> None:
    """Values that were read, in the channels' units, are the headset's own counts, each of them."""
    scales = np.array([c["scale"] for c in stream["channels"]])
    offsets = np.array([c["offset"] for c in stream["channels"]])
    expected = counts(stream)
    assert read.shape == expected.shape
    assert np.array_equal(np.isnan(read), np.isnan(expected))
    assert np.array_equal(np.round((read - offsets) / scales), expected, equal_nan=True)
