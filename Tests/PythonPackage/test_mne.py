"""A recording as MNE's Raw, beside the same recording exported by eegsync and read by MNE."""

import pathlib
import pickle

import mne
import numpy as np
import pytest

import eegsync
from databases import DEMO, change, copy

mne.set_log_level("ERROR")


def test_the_same_as_the_exported_file() -> None:
    raw = eegsync.raw(eegsync.recording(DEMO))
    exported = mne.io.read_raw_bdf(DEMO.with_name("demo.bdf"))
    ours, theirs = raw.get_data(), exported.get_data()[:, : len(raw.times)]
    measured = ~np.isnan(ours)
    assert measured.mean() > 0.9 and not measured.all()
    # Half a step of 24 bits.
    assert np.abs(ours - theirs)[measured].max() < 1.2e-8
    assert raw.info["meas_date"].replace(microsecond=0) == exported.info["meas_date"]
    assert raw.info["sfreq"] == exported.info["sfreq"] and raw.get_channel_types() == ["eeg"] * 8
    gaps = [each for each in raw.annotations if each["description"] == "BAD_ACQ_SKIP"]
    # The last one fills the last data record.
    fills = [each for each in exported.annotations if each["description"] == "BAD_ACQ_SKIP" and each["onset"] < raw.times[-1]]
    assert len(gaps) == len(fills) > 0
    for gap, fill in zip(gaps, fills, strict=True):
        assert gap["duration"] == pytest.approx(fill["duration"], abs=1e-5)


def test_what_is_missing_is_nan_exactly_where_it_is_annotated() -> None:
    recording = eegsync.recording(DEMO)
    raw = eegsync.raw(recording)
    annotated = np.zeros(len(raw.times), dtype=bool)
    for each in raw.annotations:
        first = round(each["onset"] * 250)
        annotated[first : first + round(each["duration"] * 250)] = True
    assert np.array_equal(np.isnan(raw.get_data()).all(axis=0), annotated)
    assert annotated.sum() == recording.missing


def test_it_is_read_piece_by_piece_and_survives_pickling() -> None:
    raw = eegsync.raw(eegsync.recording(DEMO))
    assert not raw.preload
    again = pickle.loads(pickle.dumps(raw))
    whole = raw.get_data()
    for picks, start, stop in [([0], 0, 1), ([3, 1], 70_000, 70_500), (range(8), 149_000, len(raw.times))]:
        assert np.array_equal(again.get_data(list(picks), start, stop), whole[list(picks), start:stop], equal_nan=True)
    cropped = raw.copy().crop(100, 110)
    assert np.array_equal(cropped.get_data(), whole[:, 25_000:27_501], equal_nan=True)
    samples = eegsync.read(eegsync.recording(DEMO), start=25_000, stop=27_501)
    assert np.array_equal(cropped.utc()[samples.n - 25_000], samples.time)


def test_mne_computes_around_the_gaps(tmp_path: pathlib.Path) -> None:
    raw = eegsync.raw(eegsync.recording(DEMO))
    gap = next(each for each in raw.annotations if each["description"] == "BAD_ACQ_SKIP")
    piece = raw.copy().crop(max(gap["onset"] - 10, 0), gap["onset"] + gap["duration"] + 10)
    missing = np.isnan(piece.get_data()).sum()
    assert missing > 0
    filtered = piece.copy().load_data().filter(1, 40)
    assert np.isnan(filtered.get_data()).sum() == missing
    assert np.isfinite(piece.compute_psd().get_data()).all()
    epochs = mne.make_fixed_length_epochs(piece, duration=1, preload=True)
    assert 0 < len(epochs) < len(epochs.drop_log) and np.isfinite(epochs.get_data()).all()
    average = piece.copy().load_data().set_eeg_reference("average")
    assert np.isnan(average.get_data()).sum() == missing
    piece.save(tmp_path / "piece_raw.fif")
    assert np.array_equal(np.isnan(mne.io.read_raw_fif(tmp_path / "piece_raw.fif").get_data()), np.isnan(piece.get_data()))


def test_hold_repeats_the_last_value() -> None:
    recording = eegsync.recording(DEMO)
    plain, held = eegsync.raw(recording).get_data(), eegsync.raw(recording, fill="hold")
    filled = held.get_data()
    assert np.isfinite(filled).all() and np.array_equal(filled[~np.isnan(plain)], plain[~np.isnan(plain)])
    first = int(np.argmax(np.isnan(plain[0])))
    assert first > 0 and (filled[:, first] == plain[:, first - 1]).all()
    # The same where a piece begins within the gap.
    assert np.array_equal(held.get_data(start=first + 1, stop=first + 3), filled[:, first + 1 : first + 3])


def test_marks_types_and_units(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    columns = "recording_id, host_boot_id, boottime_ns, duration_seconds, description, source, stream_id, n"
    start = 60_836_483_915
    change(
        path,
        f"INSERT INTO annotation ({columns}) VALUES (1, 1, {start + 40_002_000_000}, 1.5, 'dark', 'operator', NULL, NULL)",
        f"INSERT INTO annotation ({columns}) VALUES (1, 1, {start}, NULL, 'trigger 7', 'headset', 1, 5000)",
        "UPDATE channel SET type = 'ACCEL', unit = 'g' WHERE number = 7",
        "UPDATE channel SET type = 'TRIG', unit = 'n/a' WHERE number = 8",
        "UPDATE channel SET unit = 'mV' WHERE number = 2",
        "UPDATE channel SET unit = 'n/a' WHERE number = 3",
        "UPDATE sample SET c4 = NULL WHERE n BETWEEN 1000 AND 1009",
        "INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns)"
        " VALUES (1, 1000, 4, 10, 'packetLost', 1, 1)",
    )
    recording = eegsync.recording(path)
    raw = eegsync.raw(recording)
    assert raw.get_channel_types() == ["eeg", "eeg", "misc", "eeg", "eeg", "eeg", "misc", "stim"]
    values = eegsync.read(recording, start=500, stop=501).values[0]
    factors = np.array([1e-6, 1e-3, 1, 1e-6, 1e-6, 1e-6, 1, 1])
    assert np.array_equal(raw.get_data(start=500, stop=501)[:, 0], values * factors)
    said = {each["description"]: each for each in raw.annotations if not each["description"].startswith("BAD")}
    times = eegsync.annotations(recording).set_index("description")["onset"]
    stamps = raw.utc()
    for text, duration in [("dark", 1.5), ("trigger 7", 0)]:
        sample = round(said[text]["onset"] * 250)
        assert said[text]["duration"] == duration
        assert abs((stamps[sample] - times[text].to_datetime64()) / np.timedelta64(1, "ns")) <= 2_000_000
    assert said["trigger 7"]["onset"] == 5000 / 250
    (lost,) = (each for each in raw.annotations if each["ch_names"] == ("C4",))
    assert (lost["onset"], lost["duration"]) == (4.0, 0.04)
    assert np.isnan(raw.get_data(start=1000, stop=1010)).all(axis=1).tolist() == [False] * 3 + [True] + [False] * 4


def test_two_boots_are_two_parts(tmp_path: pathlib.Path) -> None:
    path = copy(DEMO, tmp_path)
    change(
        path,
        "INSERT INTO host_boot (id, uuid) VALUES (2, 'another')",
        "INSERT INTO gap (stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns)"
        " VALUES (1, 20000, 0, 0, 'hostRestarted', 1, 1)",
    )
    recording = eegsync.recording(path)
    with pytest.raises(ValueError, match=r"has 2 parts \(0: n 0 to 19999, 1: n 20000"):
        eegsync.raw(recording)
    first, second = (eegsync.raw(recording, part=part) for part in (0, 1))
    assert len(first.times) == 20_000
    whole = eegsync.read(recording, start=20_000, stop=20_010)
    assert np.array_equal(second.get_data(stop=10), whole.values.T * 1e-6)
    assert second.utc(np.array([0]))[0] == whole.time[0]
    assert len(eegsync.raw(recording, part=np.int64(0)).times) == 20_000
    with pytest.raises(TypeError, match="no number of a part"):
        eegsync.raw(recording, part=True)
    with pytest.raises(ValueError, match="2 is none of them"):
        eegsync.raw(recording, part=2)
