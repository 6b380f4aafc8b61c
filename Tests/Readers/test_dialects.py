"""Tables of other tools' layouts, as those tools and scripts for them read them.

BrainFlow reads its own files. What muselsl and Mind Monitor write is read by two programs of others, BioPsyKit and
Muse Analysis Tools, as they are on PyPI. No package reads the text file of OpenBCI's GUI; `play_back` follows the
steps of the GUI's own playback (DataSourcePlayback) in other words.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from brainflow.board_shim import BoardShim
from brainflow.data_filter import DataFilter

from expectations import DIRECTORY
from recordings import Numbers, Recording, Stream, assert_counts, physical, seconds

DIALECTS = DIRECTORY / "dialects"
RECORDINGS: dict[str, Recording] = {r["name"]: r for r in json.loads((DIALECTS / "recordings.json").read_text())}
# The interpreter that has Tests/Readers/programs.txt: these programs do not know pandas 3.
PROGRAMS = os.environ.get("EEGSYNC_PROGRAMS_PYTHON", sys.executable)
# Times have six decimals, rounded down, and a double has a quarter of the last.
MICROSECOND = 1.3e-6


def files(dialect: str) -> list[Path]:
    found = sorted(DIALECTS.glob(f"*-{dialect}*.csv"))
    assert found
    return found


def recording(table: Path) -> Recording:
    return RECORDINGS[table.name.split("-")[0]]


def stream(table: Path, name: str) -> Stream:
    return next(s for s in recording(table)["streams"] if s["name"] == name)


def sidecar(table: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(table.with_suffix(".json").read_text())
    return document


def held(rows: Numbers, times: Numbers, slow: Stream, lead: float = 0) -> Numbers:
    """The latest values of a slower stream at each time, 0 before its first sample."""
    latest = np.searchsorted(seconds(slow) - lead, times + 1e-9, side="right") - 1
    values = physical(slow)
    assert len(rows) == len(times)
    return np.where(latest[:, None] < 0, 0, values[np.maximum(latest, 0)])


def assert_marks(markers: Numbers, times: Numbers, table: Path) -> None:
    """Each annotation is in the row whose time lies nearest, under the number that the sidecar names."""
    numbers = sidecar(table)["markers"]
    found = {int(i): int(markers[i]) for i in np.flatnonzero(markers)}
    expected = {}
    for mark in recording(table)["annotations"]:
        later = np.flatnonzero(times >= mark["unixNanoseconds"] / 1e9 - np.diff(times).min() / 2 - 1e-6)
        expected[int(later[0])] = numbers[mark["text"]]
    assert found == expected


# BrainFlow


def board_of(table: Path) -> dict[str, Any]:
    """What BrainFlow itself says of the board that the sidecar names."""
    match = re.fullmatch(r"BrainFlow board (\d+) \(\w+\), preset (\d)", sidecar(table)["layout"])
    assert match
    description: dict[str, Any] = BoardShim.get_board_descr(int(match[1]), int(match[2]))
    return description


@pytest.mark.parametrize("table", files("brainflow"), ids=lambda t: t.name)
def test_brainflow_reads_its_own_files(table: Path) -> None:
    read = DataFilter.read_file(str(table))
    board = board_of(table)
    assert read.shape[0] == board["num_rows"]
    times = read[board["timestamp_channel"]]
    kinds = [("eeg_channels", "eeg"), ("accel_channels", "accelerometer"), ("gyro_channels", "gyroscope")]
    kinds += [("ppg_channels", "ppg"), ("optical_channels", "optics")]
    names = {s["name"] for s in recording(table)["streams"]}
    owner = sidecar(table)["streams"][0]["name"]
    rows = stream(table, owner)
    assert np.abs(times - seconds(rows)).max() <= MICROSECOND
    seen = 0
    for key, name in kinds:
        if key not in board or name not in names or (key == "optical_channels" and "ppg" in names):
            continue
        values = read[board[key]].T
        source = stream(table, name)
        if name == owner:
            whole = {**source, "channels": source["channels"][: len(board[key])]}
            whole["values"] = [row[: len(board[key])] for row in source["values"]]
            assert_counts(values, whole)
        else:
            lead = 0.5 / source["samplingFrequency"] if source["samplingFrequency"] == rows["samplingFrequency"] else 0
            expected = held(values, times, source, lead)
            if recording(table)["name"] == "ganglion":
                expected = expected[:, [1, 0, 2]] * [1, 1, -1]
            assert np.abs(values - expected).max() <= 1e-6
        seen += 1
    assert seen > 0
    assert_marks(read[board["marker_channel"]], times, table)
    index = read[board["package_num_channel"]]
    assert np.all(index == np.round(index)) and index.max() < 2**32


def test_a_file_of_another_board_is_noticed(tmp_path: Path) -> None:
    """The planted defect of the test before: a column that is missing, and a count that is off by one."""
    table = DIALECTS / "cyton-brainflow.csv"
    read = DataFilter.read_file(str(table))
    cut = tmp_path / "cut.csv"
    DataFilter.write_file(read[1:], str(cut), "w")
    assert DataFilter.read_file(str(cut)).shape[0] != board_of(table)["num_rows"]
    eeg = stream(table, "eeg")
    read[1, 5] += eeg["channels"][0]["scale"]
    with pytest.raises(AssertionError):
        assert_counts(read[1:9].T, eeg)


def test_what_brainflow_writes_reads_alike(tmp_path: Path) -> None:
    """Written by BrainFlow again, the file is the same but for the sign of zeros."""
    table = DIALECTS / "cyton-brainflow.csv"
    again = tmp_path / "again.csv"
    DataFilter.write_file(DataFilter.read_file(str(table)), str(again), "w")
    assert again.read_text().replace("-0.000000", "0.000000") == table.read_text().replace("-0.000000", "0.000000")


# OpenBCI's GUI


def play_back(table: Path) -> tuple[str, int, Numbers]:
    """The board's class, the rate and the rows, by the steps of the GUI's playback."""
    lines = table.read_text().splitlines()
    rate, board = -1, ""
    for line in lines:
        if not line.startswith("%"):
            break
        if line.startswith("%Sample Rate"):
            rate = int(line[line.index("=") + 2 : line.index("Hz") - 1])
        if line.startswith("%Board"):
            board = line[line.index("=") + 2 :]
    first = next(i for i, line in enumerate(lines) if not line.startswith("%")) + 1
    # The last column is the time for people.
    return board, rate, np.array([[float(cell) for cell in line.split(",")[:-1]] for line in lines[first:]])


@pytest.mark.parametrize("table", files("openbci"), ids=lambda t: t.name)
def test_openbci_gui_plays_it_back(table: Path) -> None:
    board, rate, rows = play_back(table)
    classes = {"cyton": "BoardCytonSerial", "daisy": "BoardCytonSerialDaisy", "ganglion": "BoardGanglionNative"}
    identifiers = {"cyton": 0, "daisy": 2, "ganglion": 46}
    name = recording(table)["name"]
    assert board == "OpenBCI_GUI$" + classes[name]
    description = BoardShim.get_board_descr(identifiers[name])
    assert rate == description["sampling_rate"]
    # The GUI warns of an old file where the number of columns is another.
    assert rows.shape[1] == description["num_rows"]
    eeg = stream(table, "eeg")
    values = physical(eeg)
    for channel in values.T:  # The tool leaves the value before where a channel has none.
        for i in np.flatnonzero(np.isnan(channel)):
            channel[i] = channel[i - 1]
    assert np.abs(rows[:, description["eeg_channels"]] - values).max() <= 1e-6
    assert np.abs(rows[:, description["timestamp_channel"]] - seconds(eeg)).max() <= MICROSECOND
    assert_marks(rows[:, description["marker_channel"]], rows[:, description["timestamp_channel"]], table)


@pytest.mark.parametrize("table", files("openbci"), ids=lambda t: t.name)
def test_openbci_with_pandas(table: Path) -> None:
    """As scripts for the GUI's files do it."""
    frame = pd.read_csv(table, comment="%")
    frame.columns = [c.strip() for c in frame.columns]
    eeg = stream(table, "eeg")
    exg = [c for c in frame.columns if c.startswith("EXG Channel")]
    assert len(exg) == len(eeg["channels"]) and all(str(frame[c].dtype) == "float64" for c in exg)
    formatted = pd.to_datetime(frame["Timestamp (Formatted)"].str.strip(), format="%Y-%m-%d %H:%M:%S.%f", utc=True)
    behind = frame["Timestamp"] - formatted.astype("int64") / (1e9 if "[ns" in str(formatted.dtype) else 1e6)
    assert behind.min() > -1e-6 and behind.max() < 0.001


# muselsl and Mind Monitor


def of_program(program: str, table: Path) -> Any:
    """What a public program makes of a table, which Tests/Readers/programs/ says as JSON."""
    script = Path(__file__).parent / "programs" / program
    said = subprocess.run([PROGRAMS, "-B", script, table], check=True, capture_output=True, text=True)
    return json.loads(said.stdout.splitlines()[-1])


@pytest.mark.parametrize("table", files("muselsl"), ids=lambda t: t.name)
def test_muselsl_table(table: Path) -> None:
    frame = pd.read_csv(table)
    owner = stream(table, sidecar(table)["streams"][0]["name"])
    assert np.abs(frame["timestamps"] - seconds(owner)).max() <= MICROSECOND
    columns = [c for c in sidecar(table)["columns"] if c["holds"] == "channel"]
    order = [[c["name"] for c in owner["channels"]].index(c["channel"]) for c in columns]
    chosen = {**owner, "channels": [owner["channels"][i] for i in order]}
    chosen["values"] = [[row[i] for i in order] for row in owner["values"]]
    assert_counts(frame[[c["name"] for c in columns]].to_numpy(), chosen)
    if recording(table)["annotations"]:
        assert_marks(frame["Marker0"].to_numpy(), frame["timestamps"].to_numpy(), table)
    if owner["name"] == "eeg" and "muse-" in table.name:
        assert frame.columns.tolist() == ["timestamps", "TP9", "AF7", "AF8", "TP10", "Right AUX", "Marker0"]


@pytest.mark.parametrize("name", ["muse", "athena"])
def test_biopsykit_reads_muselsl(name: str) -> None:
    table = DIALECTS / f"{name}-muselsl.csv"
    read = of_program("biopsykit_muse.py", table)
    eeg = stream(table, "eeg")
    values = np.array([[np.nan if v is None else v for v in read["columns"][c]] for c in ("TP9", "AF7", "AF8", "TP10")]).T
    assert_counts(values, {**eeg, "channels": eeg["channels"][:4], "values": [row[:4] for row in eeg["values"]]})
    assert np.abs(np.array(read["utc"]) - seconds(eeg)).max() <= MICROSECOND


@pytest.mark.parametrize("table", files("mindmonitor"), ids=lambda t: t.name)
def test_mind_monitor_table(table: Path) -> None:
    frame = pd.read_csv(table, parse_dates=["TimeStamp"])
    assert str(frame["TimeStamp"].dtype).startswith("datetime64")
    samples = frame[frame["Elements"].isna()]
    eeg = stream(table, "eeg")
    step = 1450 / 16383 if recording(table)["name"] == "athena" else 1650 / 4095
    counts = samples[["RAW_TP9", "RAW_AF7", "RAW_AF8", "RAW_TP10"]].to_numpy() / step
    expected = np.array([[np.nan if v is None else v for v in row[:4]] for row in eeg["values"]])
    assert np.array_equal(np.round(counts), expected, equal_nan=True) and np.nanmax(np.abs(counts - expected)) < 0.001
    texts = frame["Elements"].dropna().tolist()
    assert texts == ["/muse/event/connected anna"] + ["/Marker/" + m["text"] for m in recording(table)["annotations"]]
    unix = samples["TimeStamp"].to_numpy().astype("datetime64[us]").astype(np.int64) / 1e6
    behind = seconds(eeg) - unix
    assert behind.min() > -MICROSECOND and behind.max() < 0.001 + MICROSECOND
    motion = samples[["Accelerometer_X", "Accelerometer_Y", "Accelerometer_Z"]].fillna(0).to_numpy()
    assert np.abs(motion - held(motion, seconds(eeg), stream(table, "accelerometer"))).max() <= 1e-6


def test_muse_analysis_tools_reads_mind_monitor() -> None:
    table = DIALECTS / "muse-mindmonitor.csv"
    read = of_program("muse_analysis_tools.py", table)
    eeg = stream(table, "eeg")
    assert read["sampling_rate"] == 256
    raw = np.array([[row[c] for c in range(4)] for row in eeg["values"]], dtype=float) * 1650 / 4095
    for channel, name in enumerate(["RAW_TP9", "RAW_AF7", "RAW_AF8", "RAW_TP10"]):
        found = np.array([np.nan if v is None else v for v in read["columns"][name]])
        assert np.allclose(found[~np.isnan(found)], raw[~np.isnan(raw[:, channel]), channel], rtol=0, atol=1e-4)
        assert read["statistics"][name]["mean"] == pytest.approx(float(np.nanmean(raw[:, channel])), abs=1e-3)
    assert next(e for e in read["elements"] if e != "nan") == "/muse/event/connected anna"
    assert "/Marker/eyes closed" in read["elements"]
