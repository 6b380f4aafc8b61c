"""Says what Muse Analysis Tools reads of a table of Mind Monitor."""

import json
import math
import os
import sys
import tempfile
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from analyze_muse import analyze_muse_data as tools

with tempfile.TemporaryDirectory() as directory:
    # It keeps what it found in a file of its own.
    tools.out_dirname = directory
    data, statistics = tools.read_eeg_data(sys.argv[1], "")


def plain(values: Any) -> list[Any]:
    return [None if math.isnan(value) else value for value in values.tolist()]


raw = [name for name in data.columns if name.startswith("RAW_")]
print(
    json.dumps(
        {
            "sampling_rate": tools.Sampling_Rate,
            "columns": {name: plain(data[name]) for name in raw},
            "statistics": {name: {"mean": float(statistics[name]["mean"])} for name in raw},
            "elements": data["Elements"].astype(str).tolist(),
        }
    )
)
