"""Writes the first stream of a database as EDF+ with a library of others, and says what that cost.

write_hour.py pyEDFlib|edfio|MNE DATABASE FILE
"""

import json
import sqlite3
import sys
import time

import edfio
import mne
import numpy as np
import pyedflib

FREQUENCY = 250
MICROVOLTS_PER_COUNT = 0.0223517


def values(database: str) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
    """Microvolts, a row for each channel, of whole seconds."""
    query = "SELECT c1, c2, c3, c4, c5, c6, c7, c8 FROM sample WHERE stream_id = 1 ORDER BY n"
    rows = np.array(sqlite3.connect(database).execute(query).fetchall(), dtype=float)
    return rows[: len(rows) // FREQUENCY * FREQUENCY].T * MICROVOLTS_PER_COUNT


def main() -> None:
    library, database, path = sys.argv[1:]
    begun = time.process_time()
    channels = values(database)
    names = [f"E{number}" for number in range(len(channels))]
    if library == "pyEDFlib":
        with pyedflib.EdfWriter(path, len(channels), file_type=pyedflib.FILETYPE_EDFPLUS) as writer:
            for number, (name, row) in enumerate(zip(names, channels, strict=True)):
                header: dict[str, str | int | float | None] = {"label": name, "dimension": "uV", "sample_frequency": FREQUENCY}
                header |= {"physical_min": int(row.min()) - 1, "physical_max": int(row.max()) + 1}
                writer.setSignalHeader(number, header | {"digital_min": -32768, "digital_max": 32767})
            writer.writeSamples(list(channels))
    elif library == "edfio":
        signals = [
            edfio.EdfSignal(row, FREQUENCY, label=name, physical_dimension="uV")
            for name, row in zip(names, channels, strict=True)
        ]
        edfio.Edf(signals).write(path)
    else:
        info = mne.create_info(names, FREQUENCY, "eeg")
        mne.export.export_raw(path, mne.io.RawArray(channels / 1e6, info, verbose="error"), verbose="error")
    print(json.dumps({"cpuSeconds": time.process_time() - begun}))


if __name__ == "__main__":
    main()
