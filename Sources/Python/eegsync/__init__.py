"""Reads recordings of eegsync out of their SQLite database, while they are recorded or later, without an export.

>>> import eegsync
>>> night = eegsync.recording("eegsync.sqlite", "latest")
>>> minute = eegsync.read(night, "eeg", start="2026-03-01T10:00:00Z", stop="2026-03-01T10:01:00Z")
>>> minute.frame()

Whatever is read here is opened for reading only: nothing of it can change a recording, or hold it up.
"""

from eegsync.database import DatabaseError
from eegsync.following import follow
from eegsync.ledger import annotations, gaps
from eegsync.mne_raw import raw
from eegsync.reading import read
from eegsync.recording import Channel, Recording, Stream, recording, recordings
from eegsync.samples import Samples

__all__ = [
    "Channel",
    "DatabaseError",
    "Recording",
    "Samples",
    "Stream",
    "annotations",
    "follow",
    "gaps",
    "raw",
    "read",
    "recording",
    "recordings",
]
