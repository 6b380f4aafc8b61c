"""The export of a replayed MindWave recording, as MNE reads it; skipped where the recording is not at hand."""

import pathlib
from typing import Any

import mne
import numpy as np
import pytest

from expectations import DIRECTORY

EXPORTED = DIRECTORY / "mindwave-replay.edf"
RECORDED = pathlib.Path(__file__).resolve().parents[3] / "shared/data/mindwave-rfcomm-baseline.bytes"
Numbers = np.ndarray[Any, Any]
SAMPLES = 165093
FREQUENCY = 512
# Microvolts of one count: 1.8 V, 12 bits, gain 2000.
SCALE = 1.8e6 / 4096 / 2000

pytestmark = pytest.mark.skipif(not (EXPORTED.exists() and RECORDED.exists()), reason="the recording is not at hand")


def recorded_counts() -> Numbers:
    """The raw samples, found by their frames alone: AA AA 04 80 02, two bytes, checksum."""
    data = RECORDED.read_bytes()
    counts, place = [], 0
    while place + 3 < len(data):
        assert data[place : place + 2] == b"\xaa\xaa"
        length = data[place + 2]
        payload = data[place + 3 : place + 3 + length]
        if payload[:2] == b"\x80\x02":
            counts.append(int.from_bytes(payload[2:4], "big", signed=True))
        place += length + 4
    return np.array(counts)


def assert_scaled(microvolts: Numbers, counts: Numbers) -> None:
    assert len(microvolts) == len(counts)
    assert np.max(np.abs(microvolts - counts * SCALE)) < SCALE / 100


def test_duration_and_scale() -> None:
    raw = mne.io.read_raw_edf(EXPORTED, verbose="error")
    assert raw.info["sfreq"] == FREQUENCY
    # What only fills the last data record is annotated, and left out.
    values = raw.get_data(reject_by_annotation="omit", verbose="error")[0] * 1e6
    assert len(values) == SAMPLES
    assert len(values) / FREQUENCY == pytest.approx(322.45, abs=0.005)
    padding = [a for a in raw.annotations if a["description"] == "BAD_ACQ_SKIP"]
    assert [a["onset"] for a in padding] == [pytest.approx(SAMPLES / FREQUENCY, abs=1e-6)]
    assert_scaled(values, recorded_counts())


def test_the_check_bites() -> None:
    counts = recorded_counts()
    assert len(counts) == SAMPLES
    assert_scaled(counts * SCALE, counts)
    with pytest.raises(AssertionError):
        assert_scaled(counts * SCALE * 1.001, counts)
    with pytest.raises(AssertionError):
        assert_scaled(counts[1:] * SCALE, counts[:-1])
