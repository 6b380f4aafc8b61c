"""Exported tables, as pandas reads them without any option but the name of the time column."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from expectations import DIRECTORY, EXPECTATIONS

TABLES = sorted(DIRECTORY.glob("*.csv"))


@pytest.mark.parametrize("table", TABLES, ids=lambda t: t.name)
def test_pandas(table: Path) -> None:
    frame = pd.read_csv(table, parse_dates=["time"])
    sidecar = json.loads(table.with_suffix(".json").read_text())
    assert str(frame["time"].dtype).startswith("datetime64") and "UTC" in str(frame["time"].dtype)
    assert frame["n"].tolist() == list(range(sidecar["first_n"], sidecar["last_n"] + 1))
    names = [c["name"] for c in sidecar["channels"]]
    assert frame.columns.tolist() == ["n", "time", *names]
    assert int(frame[names].isna().all(axis=1).sum()) == sidecar["missing_row_count"]
    gaps = [g for g in sidecar["gaps"] if "channel" not in g]
    assert sum(g["count"] for g in gaps) == sidecar["missing_row_count"]
    steps = frame["time"].diff().dropna().dt.total_seconds()
    assert np.allclose(steps, 1 / sidecar["sampling_frequency"], atol=2e-6)
    # The values of the EDF+ file of the same recording, which its own test has compared with the formula.
    stem = table.stem.split("_")[0]
    signals = [
        s for e in EXPECTATIONS if e["file"].startswith(f"{stem}-fill") and e["file"].endswith(".bdf") for s in e["signals"]
    ]
    for channel in sidecar["channels"]:
        signal = next(s for s in signals if s["label"].endswith(f"{channel['type']} {channel['name']}"))
        column = frame[channel["name"]].to_numpy()
        present = ~np.isnan(column)
        assert np.allclose(column[present], np.array(signal["values"])[present], rtol=0, atol=abs(channel["scale"]) * 1e-5)
        raw = (column[present] - channel["offset"]) / channel["scale"]
        assert np.allclose(raw, np.round(raw), atol=1e-5)
