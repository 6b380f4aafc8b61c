"""A real daemon, with a simulated headset, and somebody who follows it."""

import os
import pathlib
import subprocess
import time
from collections.abc import Iterator

import numpy as np
import pytest

import eegsync

PROGRAM = os.environ["EEGSYNC_PROGRAM"]
CONFIGURATION = """\
database: {directory}/eegsync.sqlite
central: {{kind: simulation, headsets: [{{name: a, model: buffered-eeg, serial: "SIM-0001"}}]}}
headsets:
  - name: left
    model: buffered-eeg
"""


@pytest.fixture
def directory(tmp_path: pathlib.Path) -> Iterator[pathlib.Path]:
    """Where a daemon records, from the first samples on."""
    (tmp_path / "eegsync.yaml").write_text(CONFIGURATION.format(directory=tmp_path))
    with (tmp_path / "daemon.log").open("w") as log:
        daemon = subprocess.Popen([PROGRAM, "run", "--config", tmp_path / "eegsync.yaml"], stderr=log, stdout=log)
        try:
            record(tmp_path, "start", "--wait")
            yield tmp_path
        finally:
            daemon.terminate()
            daemon.wait()


def record(directory: pathlib.Path, verb: str, *options: str) -> None:
    subprocess.run([PROGRAM, "record", verb, "left", *options, "--config", directory / "eegsync.yaml"], check=True)


def test_samples_are_there_as_they_are_committed(directory: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    recording = eegsync.recording(directory / "eegsync.sqlite")
    found: list[eegsync.Samples] = []
    ages = []
    for samples in eegsync.follow(recording, start=0):
        found.append(samples)
        ages.append((time.time_ns() - int(samples.unix_ns[-1])) / 1e9)
        if len(found) == 4:
            record(directory, "stop")
    with capsys.disabled():
        # The daemon commits each second while somebody follows, of 250 samples; each ten seconds else.
        print(f"\nfollowing a daemon: {[len(each) for each in found]} samples, the newest {max(ages[1:4]):.2f} s old or less")
    n = np.concatenate([each.n for each in found])
    assert np.array_equal(n, np.arange(len(n)))
    assert np.array_equal(eegsync.read(recording).n, n)
