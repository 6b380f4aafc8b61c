"""What is missing of a recording, and what was said of it, as tables of pandas."""

import sqlite3
from typing import TYPE_CHECKING, Any

from eegsync.database import query
from eegsync.recording import Recording

if TYPE_CHECKING:
    import pandas as pd


def gaps(recording: Recording, stream: str | None = None) -> "pd.DataFrame":
    """The gap ledger, by time: a row for each gap, of one stream or of all.

    `count` samples are missing from `first_n` on (NA while the end is not known), of the channel `channel_name` or of all
    where that is None; `recovered` of them came later after all. `start` and `end` are in UTC. `certainty` says how the
    length is known: `counted`, `timed` (right within `uncertainty` samples) or `unknown`.
    """
    import pandas as pd

    view = None if stream is None else recording.stream(stream).view_name
    frame = _frame(
        recording,
        "SELECT stream, view_name, first_n, count, channel_name, start_unix_ns AS start, end_unix_ns AS end,"
        " duration_seconds, cause, meaning, recovered, missing, certainty, uncertainty FROM gap_time"
        " WHERE recording_id = ?1 AND coalesce(view_name = ?2, 1) ORDER BY start_unix_ns, stream_id, first_n, channel",
        [recording.id, view],
    )
    for column in ("first_n", "count", "recovered", "missing", "uncertainty"):
        frame[column] = frame[column].astype("Int64")
    for column in ("start", "end"):
        frame[column] = pd.to_datetime(frame[column].astype("Int64"), unit="ns", utc=True)
    frame["duration_seconds"] = frame["duration_seconds"].astype("float64")
    return frame


def annotations(recording: Recording) -> "pd.DataFrame":
    """The annotations that hold, by onset, which is in UTC; `duration_seconds` is NaN for an annotation without a duration.

    `view_name` and `n` are the stream and the sample of what a headset said of a sample, `code` the number of its trigger.
    """
    import pandas as pd

    frame = _frame(
        recording,
        "SELECT onset_unix_ns AS onset, duration_seconds, description, source, view_name, n, code, annotation_id"
        " FROM annotation_time WHERE recording_id = ? ORDER BY onset_unix_ns, annotation_id",
        [recording.id],
    )
    for column in ("n", "code", "annotation_id"):
        frame[column] = frame[column].astype("Int64")
    frame["onset"] = pd.to_datetime(frame["onset"].astype("Int64"), unit="ns", utc=True)
    frame["duration_seconds"] = frame["duration_seconds"].astype("float64")
    return frame


def _frame(recording: Recording, sql: str, arguments: list[Any]) -> "pd.DataFrame":
    import pandas as pd

    def work(connection: sqlite3.Connection) -> pd.DataFrame:
        cursor = connection.execute(sql, arguments)
        names = [column[0] for column in cursor.description]
        # Objects, for numbers of 64 bits beside None are rounded otherwise.
        return pd.DataFrame(cursor.fetchall(), columns=names, dtype=object)

    return query(recording.path, work)
