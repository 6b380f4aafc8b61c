"""Recordings, their streams and their channels, as the database describes them."""

import dataclasses
import datetime
import os
import pathlib
import sqlite3
from typing import SupportsIndex

from eegsync.database import DatabaseError, integer, query

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


@dataclasses.dataclass(frozen=True)
class Channel:
    """One electrode or sensor axis: physical value = raw * scale + offset, in unit."""

    name: str
    # BIDS's words, such as EEG, ACCEL, GYRO, PPG
    type: str
    unit: str
    scale: float
    offset: float
    # What the headset declares; a value beyond it is stored as it came.
    raw_minimum: int
    raw_maximum: int


@dataclasses.dataclass(frozen=True)
class Bank:
    """Up to eight channels of a stream that share a row of the table `sample`."""

    stream_id: int
    channels: tuple[Channel, ...]


@dataclasses.dataclass(frozen=True)
class Stream:
    """Channels of a recording that are sampled together."""

    name: str
    # The view of the database that shows the same, such as eeg_1
    view_name: str
    # Hertz, nominal
    sampling_frequency: float
    banks: tuple[Bank, ...]

    @property
    def channels(self) -> tuple[Channel, ...]:
        return tuple(channel for bank in self.banks for channel in bank.channels)


@dataclasses.dataclass(frozen=True)
class Recording:
    """What is recorded from one headset between a person's start and stop, as it was when it was asked for."""

    path: pathlib.Path
    id: int
    headset: str
    model: str
    serial_number: str | None
    label: str | None
    subject: str | None
    task: str | None
    # waiting, recording, stopping or stopped
    state: str
    # Nanoseconds since 1970 in UTC, of the first and the last sample; None before the first one, or without a clock
    start_unix_ns: int | None
    end_unix_ns: int | None
    # Samples, sums over the streams
    rows: int
    missing: int
    streams: tuple[Stream, ...]

    @property
    def start(self) -> datetime.datetime | None:
        """The first sample in UTC, cut to microseconds."""
        return moment(self.start_unix_ns)

    @property
    def end(self) -> datetime.datetime | None:
        """The last sample in UTC, cut to microseconds."""
        return moment(self.end_unix_ns)

    def stream(self, name: str) -> Stream:
        """The stream of a name, such as `eeg`, or of the name of its view, such as `eeg_1`."""
        for stream in self.streams:
            if name in (stream.name, stream.view_name):
                return stream
        names = ", ".join(stream.name for stream in self.streams) or "none yet"
        raise KeyError(f"recording {self.id} has no stream {name}; its streams are: {names}")


def moment(unix_ns: int | None) -> datetime.datetime | None:
    """A time of Python, which knows no nanoseconds."""
    return None if unix_ns is None else EPOCH + datetime.timedelta(microseconds=unix_ns // 1000)


def recordings(path: str | os.PathLike[str]) -> list[Recording]:
    """All recordings of a database, by their number.

    Raises DatabaseError where the file cannot be read, or is no database of eegsync.
    """
    file = pathlib.Path(path).resolve()

    def work(connection: sqlite3.Connection) -> list[Recording]:
        connection.execute("BEGIN")
        found = connection.execute(
            "SELECT recording_id, headset, model, serial_number, label, subject, task, state, start_unix_ns, end_unix_ns,"
            " rows, missing FROM recording_overview ORDER BY recording_id"
        ).fetchall()
        return [Recording(*(file, *row, _streams(connection, row[0]))) for row in found]

    return query(file, work)


def recording(path: str | os.PathLike[str], name: str | SupportsIndex = "latest") -> Recording:
    """One recording: by its number, `latest` for the one with the highest number, or a headset's name for its latest one."""
    number = None if isinstance(name, str) else integer(name)
    if number is None and not isinstance(name, str):
        raise TypeError(f"{name!r} is no number of a recording, and no name")
    found = recordings(path)
    matching = [each for each in found if name in ("latest", str(each.id)) or number == each.id]
    matching = matching or [each for each in found if each.headset == name]
    if not matching:
        raise DatabaseError(f"{path} has no recording {name}; `eegsync recordings` lists those that it has.")
    return matching[-1]


def _streams(connection: sqlite3.Connection, recording_id: int) -> tuple[Stream, ...]:
    banks: dict[str, list[Bank]] = {}
    facts: dict[str, tuple[str, float]] = {}
    for stream_id, name, view_name, frequency in connection.execute(
        "SELECT id, name, view_name, sampling_frequency FROM stream WHERE recording_id = ? ORDER BY position, bank",
        [recording_id],
    ).fetchall():
        channels = connection.execute(
            'SELECT name, type, unit, scale, "offset", raw_minimum, raw_maximum FROM channel'
            " WHERE stream_id = ? ORDER BY number",
            [stream_id],
        )
        banks.setdefault(name, []).append(Bank(stream_id, tuple(Channel(*row) for row in channels)))
        facts.setdefault(name, (view_name, frequency))
    return tuple(Stream(name, *facts[name], tuple(of_name)) for name, of_name in banks.items())
