"""Exported datasets of BIDS, as the validator judges them, and as MNE-BIDS and pandas read them.

The validator recommends what only people can know, such as the address of the institution. A recording of which all of it has
been said must have nothing left to recommend; of the others exactly these fields may be missing, and nothing else.
"""

import json
import pathlib
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable
from typing import Any

import mne_bids
import numpy as np
import pandas
import pytest

from expectations import DIRECTORY

EXPECTATIONS: list[dict[str, Any]] = json.loads((DIRECTORY / "bids-expectations.json").read_text())
EEG = [e for e in EXPECTATIONS if e["kind"] == "eeg"]
TABLES = [e for e in EXPECTATIONS if e["kind"] != "eeg"]
VALIDATOR = pathlib.Path(sysconfig.get_path("scripts")) / "bids-validator-deno"
# What nobody but a person can say; see the page BIDS.
SAID_BY_PEOPLE = {
    "CapManufacturer",
    "CapManufacturersModelName",
    "CogAtlasID",
    "CogPOID",
    "EEGGround",
    "HEDVersion",
    "HeadCircumference",
    "InstitutionAddress",
    "InstitutionName",
    "InstitutionalDepartmentName",
    "Instructions",
    "License",
    "Manufacturer",
    "SourceDatasets",
    "StimulusPresentation",
    "SubjectArtefactDescription",
    "TaskDescription",
}
# What a link says; the fixture has none where nothing is described.
SAID_BY_LINKS = {"DeviceSerialNumber", "SoftwareVersions"}
# By default nobody has said the positions of E1 ... E4.
SAID_BY_NAMES = {"EEGPlacementScheme"}

RECOMMENDATIONS = {"JSON_KEY_RECOMMENDED", "SIDECAR_KEY_RECOMMENDED"}

Issue = dict[str, Any]


def identify(expectation: dict[str, Any]) -> str:
    return f"{expectation['dataset']}/{pathlib.Path(expectation['file']).name}"


def issues(dataset: pathlib.Path) -> list[Issue]:
    run = subprocess.run([VALIDATOR, "--format", "json", "--max-rows", "-1", dataset], stdout=subprocess.PIPE, check=False)
    report = json.loads(run.stdout)
    # Nothing was judged where nothing was found.
    assert report["summary"]["totalFiles"] > 10, report["summary"]
    found: list[Issue] = report["issues"]["issues"]
    return found


def errors(found: Iterable[Issue]) -> list[Issue]:
    return [issue for issue in found if issue.get("severity") == "error"]


def test_a_described_recording_leaves_nothing_to_say() -> None:
    assert issues(DIRECTORY / "bids-described") == []


def test_of_others_only_what_people_know_is_missing() -> None:
    found = issues(DIRECTORY / "bids")
    assert not errors(found)
    missing = {issue["subCode"] for issue in found if issue["code"] in RECOMMENDATIONS}
    assert missing <= SAID_BY_PEOPLE | SAID_BY_LINKS | SAID_BY_NAMES
    assert {issue["code"] for issue in found} - RECOMMENDATIONS <= {"TOO_FEW_AUTHORS"}


def plant(path: pathlib.Path, field: str) -> None:
    document = json.loads(path.read_text())
    del document[field]
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("pattern", "field"),
    [
        ("sub-*/**/*_eeg.json", "SoftwareFilters"),
        ("sub-*/**/*_eeg.json", "PowerLineFrequency"),
        ("sub-*/**/*_motion.json", "SamplingFrequency"),
        ("sub-*/**/*_physio.json", "StartTime"),
        ("sub-*/**/*_coordsystem.json", "EEGCoordinateSystem"),
        ("dataset_description.json", "BIDSVersion"),
    ],
)
def test_a_missing_required_field_is_noticed(pattern: str, field: str, tmp_path: pathlib.Path) -> None:
    dataset = tmp_path / "planted"
    shutil.copytree(DIRECTORY / "bids-described", dataset)
    plant(next(dataset.glob(pattern)), field)
    found = errors(issues(dataset))
    assert any(field in json.dumps(issue) for issue in found), found


@pytest.mark.parametrize("suffix", ["_eeg.edf", "_coordsystem.json", "participants.tsv"])
def test_a_missing_file_is_noticed(suffix: str, tmp_path: pathlib.Path) -> None:
    dataset = tmp_path / "planted"
    shutil.copytree(DIRECTORY / "bids-described", dataset)
    next(path for path in sorted(dataset.rglob("*")) if path.name.endswith(suffix)).unlink()
    assert issues(dataset)


def read(expectation: dict[str, Any]) -> Any:
    path = mne_bids.get_bids_path_from_fname(DIRECTORY / expectation["dataset"] / expectation["file"])
    path.update(root=DIRECTORY / expectation["dataset"])
    return mne_bids.read_raw_bids(path, verbose="error")


@pytest.mark.parametrize("expectation", EEG, ids=identify)
def test_mne_bids(expectation: dict[str, Any]) -> None:
    raw = read(expectation)
    assert raw.ch_names == expectation["names"]
    assert set(raw.get_channel_types()) == {"eeg"}
    assert raw.info["sfreq"] == expectation["samplingFrequency"]
    assert raw.info["meas_date"].strftime("%Y-%m-%dT%H:%M:%S.%fZ") == expectation["start"]
    for read_values, values in zip(raw.get_data() * 1e6, expectation["values"], strict=True):
        expected = np.array(values, dtype=float)
        assert np.max(np.abs(read_values[: len(expected)] - expected)) <= expectation["tolerance"]
    frequency = raw.info["sfreq"]
    samples = {
        (str(text), round(float(onset) * frequency), round(float(duration) * frequency))
        for text, onset, duration in zip(
            raw.annotations.description, raw.annotations.onset, raw.annotations.duration, strict=True
        )
    }
    for first, count in expectation["gaps"]:
        assert ("gap", first, count) in samples
        assert ("BAD_ACQ_SKIP", first, count) in samples
    for text, sample in expectation["marks"].items():
        assert any(entry[:2] == (text, sample) for entry in samples), (text, samples)


def test_mne_bids_reads_what_was_described() -> None:
    (expectation,) = [e for e in EEG if e["dataset"] == "bids-described"]
    assert "_ses-night1_task-rest_run-03_" in expectation["file"]
    raw = read(expectation)
    assert raw.info["line_freq"] == 50
    assert raw.info["bads"] == ["AF7"]
    assert raw.info["subject_info"]["sex"] == 2
    # Behind the left ear, in front of the right one, by the names.
    positions = raw.get_montage().get_positions()["ch_pos"]
    assert positions["TP9"][0] < -0.08 < 0.03 < positions["AF8"][0]
    assert positions["TP9"][1] < 0 < positions["AF8"][1]
    everything = b"".join(path.read_bytes() for path in sorted((DIRECTORY / "bids-described").rglob("*")) if path.is_file())
    # A dataset is made to be given away.
    assert b"Secret" not in everything
    assert b"1990-12-31" not in everything
    assert b"31-DEC-1990" not in everything


def test_pandas_reads_the_electrodes() -> None:
    (path,) = (DIRECTORY / "bids-described").rglob("*_electrodes.tsv")
    table = pandas.read_csv(path, sep="\t", index_col="name", na_values="n/a")
    assert table.loc["TP9", "impedance"] == 12.5
    assert table.loc["reference", "impedance"] == 4
    assert np.isnan(table.loc["reference", "x"])
    assert np.allclose(np.linalg.norm(table.loc[["TP9", "AF7", "AF8", "TP10"], ["x", "y", "z"]], axis=1), 0.095, atol=1e-4)


@pytest.mark.parametrize("expectation", TABLES, ids=identify)
def test_pandas(expectation: dict[str, Any]) -> None:
    path = DIRECTORY / expectation["dataset"] / expectation["file"]
    table = pandas.read_csv(path, sep="\t", header=None, na_values="n/a", compression="infer")
    expected = np.array(expectation["values"], dtype=float).T
    assert table.shape == expected.shape
    values = table.to_numpy(dtype=float)
    assert np.array_equal(np.isnan(values), np.isnan(expected))
    assert np.nanmax(np.abs(values - expected)) <= expectation["tolerance"]
    document = json.loads(path.with_name(path.name.split(".")[0] + ".json").read_text())
    assert document["SamplingFrequency"] == expectation["samplingFrequency"]
    if expectation["kind"] == "physio":
        assert document["Columns"] == expectation["names"]
        assert document["StartTime"] == 0.02
        return
    channels = pandas.read_csv(path.with_name(path.name.replace("_motion.tsv", "_channels.tsv")), sep="\t")
    assert list(channels["component"]) == ["x", "y", "z"]
    events = pandas.read_csv(path.with_name(path.name.replace("_motion.tsv", "_events.tsv")), sep="\t", na_values="n/a")
    gaps = events[events["trial_type"] == "gap"]
    lengths = (gaps["duration"] * expectation["samplingFrequency"]).round()
    assert [[int(a), int(b)] for a, b in zip(gaps["sample"], lengths, strict=True)] == expectation["gaps"]
    for text, sample in expectation["marks"].items():
        assert list(events[events["trial_type"] == text]["sample"]) == [sample]


def test_scans_say_when_each_file_began() -> None:
    for expectation in EXPECTATIONS:
        if expectation["kind"] == "physio":
            continue
        path = pathlib.Path(expectation["file"])
        (table,) = (DIRECTORY / expectation["dataset"] / path.parent.parent).glob("*_scans.tsv")
        scans = pandas.read_csv(table, sep="\t", index_col="filename")
        assert scans.loc[f"{path.parent.name}/{path.name}", "acq_time"] == expectation["start"]
