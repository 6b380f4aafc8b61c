#!/usr/bin/env python3
"""Compares what a centre holds with the database of one machine, value by value, and with the machine's digests.

    compare.py [--without-rows] DATABASE.sqlite ADDRESS

With --without-rows, the tables that only later versions send are not compared (KEPT_TABLES). Knows nothing of eegsync but the
schemas: SQLite is read by Python's own module, PostgreSQL by psql. Says what differs; exit 1 then.
"""

import csv
import hashlib
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Iterator

Row = tuple[str | None, ...]
# Tables of the ledger and of time: columns that both sides have, by stream.
TABLES = {
    "channel": 'number, name, type, unit, scale, "offset", raw_minimum, raw_maximum',
    "segment": "first_n, last_n, epoch, reference_n, reference_boottime_ns, period_ns, residual_ns, observation_count, "
    "uncertainty_ns",
    "gap": "first_n, channel, count, cause, recovered, boottime_ns, certainty, uncertainty",
    "epoch": "number, boot_identifier, first_n, first_index, boottime_ns",
    "loss_detection": "first_n, means",
}
# Those of which the centre keeps the rows as they are, from its step p0006_rows on.
KEPT_TABLES = {
    "arrival": "n, boottime_ns, device_ticks",
    "refit": "id, boottime_ns, version, evidence_count, shift_max_ns, shift_mean_ns",
    "undigested_rows": "first_n, last_n",
    "channel_declaration": 'number, name, unit, scale, "offset"',
    "channel_correction": 'id, number, name, unit, scale, "offset", reason, corrected_unix_seconds',
    "signal_check": "first_n, channel, last_n, condition, sample_count, railed_fraction, peak_to_peak, line_50_hz, line_60_hz",
}
KEPT_TABLES_OF_RECORDING = {
    "recording_edit": "id, field, before, after, boottime_ns",
    "streaming_return": "id, boottime_ns, layer, attempts, cause, heard_boottime_ns",
    "impedance": "id, electrode, kilohms, boottime_ns",
}
VIEWS = {
    "gap_time": "first_n, channel, last_n, count, channel_name, cause, meaning, recovered, missing, sampling_frequency, "
    "noticed_unix_ns, start_unix_ns, end_unix_ns, start_time, end_time, duration_seconds, certainty, uncertainty",
    "stream_overview": "stream, bank, view_name, sampling_frequency, channels, first_n, last_n, missing, recovered, gaps, "
    "open_gap_first_n, start_unix_ns, end_unix_ns, rows, duration_seconds, start_time, end_time, unknown_gaps, loss_detection",
    "segment_time": "first_n, last_n, reference_n, reference_unix_ns, period_ns, start_unix_ns, end_unix_ns, is_synchronised",
}
RECORDING = (
    "headset, model, serial_number, label, subject, task, state, start_time, end_time, duration_seconds, rows, missing, "
    "recovered, gaps, start_unix_ns, end_unix_ns, requested_unix_ns, stopped_unix_ns"
)
CHANNELS = 8


class Centre:
    def __init__(self, address: str) -> None:
        self.address = address

    def rows(self, sql: str) -> Iterator[Row]:
        # NULL is written as \N, which no text of these is.
        command = [
            "psql",
            "--no-psqlrc",
            "--quiet",
            "--csv",
            "--tuples-only",
            "--pset=null=\\N",
            "--command",
            sql,
            self.address,
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
            assert process.stdout is not None
            for row in csv.reader(process.stdout):
                yield tuple(None if cell == "\\N" else cell for cell in row)
            if process.wait() != 0:
                sys.exit(f"psql could not: {sql}")


def same(own: object, there: str | None) -> bool:
    if own is None or there is None:
        return own is None and there is None
    if isinstance(own, float):
        return own == float(there)
    if isinstance(own, int):
        return float(there) == own if "." in there else int(there) == own
    return str(own) == there


def differences(what: str, own: list[tuple[object, ...]], there: list[Row]) -> list[str]:
    found = []
    if len(own) != len(there):
        found.append(f"{what}: {len(own)} rows here, {len(there)} at the centre")
    for left, right in zip(own, there, strict=False):
        if len(left) != len(right) or not all(map(same, left, right)):
            found.append(f"{what}: {left} here, {right} at the centre")
            break
    return found


def samples(db: sqlite3.Connection, centre: Centre, stream: int, uuid: str) -> list[str]:
    columns = ", ".join(f"c{number}" for number in range(1, CHANNELS + 1))
    own = db.execute(f"SELECT n, {columns} FROM sample WHERE stream_id = ? ORDER BY n", (stream,))
    there = centre.rows(
        f"SELECT n, {columns} FROM sample WHERE stream_id = (SELECT id FROM stream WHERE uuid = '{uuid}') ORDER BY n"
    )
    for count, left in enumerate(own, 1):
        right = next(there, None)
        if right is None or tuple(None if value is None else int(value) for value in right) != left:
            list(there)
            return [f"stream {uuid}: the {count}th row is {left} here, {right} at the centre"]
    more = sum(1 for _ in there)
    return [f"stream {uuid}: {more} rows more at the centre"] if more else []


def digests(centre: Centre, uuid: str, channel_count: int) -> list[str]:
    """Computes the chains of the centre's rows anew, as the page Evidence says."""
    key = f"(SELECT id FROM stream WHERE uuid = '{uuid}')"
    rows = {}
    for cells in centre.rows(f"SELECT n, c1, c2, c3, c4, c5, c6, c7, c8 FROM sample WHERE stream_id = {key} ORDER BY n"):
        n, *values = (None if cell is None else int(cell) for cell in cells)
        rows[n] = values
    blocks = [
        (str(chain), int(channel or 0), int(first or 0), int(last or 0), str(digest))
        for chain, channel, first, last, digest in centre.rows(
            f"SELECT chain, channel, first_n, last_n, encode(digest, 'hex') FROM block WHERE stream_id = {key} "
            "ORDER BY chain, number"
        )
    ]
    late = [(channel, range(first, last + 1)) for chain, channel, first, last, _ in blocks if chain == "late"]
    previous = {chain: hashlib.sha256(f"{uuid}\n{chain}\n".encode()).digest() for chain in ("live", "late")}
    if not blocks and rows:
        return [f"stream {uuid}: rows without digests at the centre"]
    for chain, channel, first, last, digest in blocks:
        block = hashlib.sha256(previous[chain] + bytes([channel]))
        for n in range(first, last + 1):
            if n not in rows:
                continue
            came_late = {c for c, ns in late if n in ns}
            if chain == "live" and 0 in came_late:
                continue
            values = rows[n]
            values = (
                values[channel - 1 : channel]
                if channel
                else [None if c in came_late else value for c, value in enumerate(values[:channel_count], 1)]
            )
            missing = sum(1 << bit for bit, value in enumerate(values) if value is None)
            block.update(struct.pack(f"<q{len(values)}iB", n, *(value or 0 for value in values), missing))
        if block.hexdigest() != digest:
            return [f"stream {uuid}, n {first} to {last}: not what was written"]
        previous[chain] = bytes.fromhex(digest)
    return []


def physical(db: sqlite3.Connection, centre: Centre, uuid: str, name: str, view: str) -> list[str]:
    """The view of the stream here, and the one of all streams of its name there: times and physical values."""
    cursor = db.execute(f'SELECT * FROM "{view}" ORDER BY n LIMIT 3000')
    columns = [item[0] for item in cursor.description]
    wanted = ", ".join(f'"{column}"' for column in columns)
    key = f"(SELECT id FROM stream WHERE uuid = '{uuid}')"
    there = list(centre.rows(f'SELECT {wanted} FROM "{name}" WHERE stream_id = {key} ORDER BY n LIMIT 3000'))
    return differences(f"the view {name} of stream {uuid}", cursor.fetchall(), there)


def compare(path: str, centre: Centre, *, with_rows: bool) -> list[str]:
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    found = []
    keeps_rows = with_rows and list(centre.rows("SELECT to_regclass('recording_row') IS NOT NULL")) == [("t",)]
    for recording, uuid in db.execute("SELECT id, uuid FROM recording ORDER BY id").fetchall():
        key = f"(SELECT id FROM recording WHERE uuid = '{uuid}')"
        own = db.execute(f"SELECT {RECORDING} FROM recording_overview WHERE recording_id = ?", (recording,)).fetchall()
        there = list(centre.rows(f"SELECT {RECORDING} FROM recording_overview WHERE recording_id = {key}"))
        found += differences(f"recording {uuid}", own, there)
        columns = "onset_unix_ns, onset, duration_seconds, description, source, view_name, n, device_ticks, code"
        own = db.execute(f"SELECT {columns} FROM annotation_time WHERE recording_id = ? ORDER BY 1, 4", (recording,)).fetchall()
        sql = f'SELECT {columns} FROM annotation_time WHERE recording_id = {key} ORDER BY 1, description COLLATE "C"'
        found += differences(f"annotations of {uuid}", own, list(centre.rows(sql)))
        own = db.execute("SELECT uuid FROM annotation WHERE recording_id = ? ORDER BY 1", (recording,)).fetchall()
        found += differences(
            "UUIDs of annotations", own, list(centre.rows(f"SELECT uuid FROM annotation WHERE recording_id = {key} ORDER BY 1"))
        )
        for table, columns in KEPT_TABLES_OF_RECORDING.items() if keeps_rows else []:
            own = db.execute(f"SELECT {columns} FROM {table} WHERE recording_id = ? ORDER BY id", (recording,)).fetchall()
            there = list(centre.rows(f"SELECT {columns} FROM {table} WHERE recording_id = {key} ORDER BY id"))
            found += differences(f"{table} of {uuid}", own, there)
    streams = db.execute("SELECT id, uuid, channel_count, name, view_name FROM stream ORDER BY id").fetchall()
    for stream, uuid, count, name, view in streams:
        key = f"(SELECT id FROM stream WHERE uuid = '{uuid}')"
        for table, columns in (TABLES | VIEWS | (KEPT_TABLES if keeps_rows else {})).items():
            own = db.execute(f"SELECT {columns} FROM {table} WHERE stream_id = ? ORDER BY 1, 2", (stream,)).fetchall()
            found += differences(
                f"{table} of {uuid}",
                own,
                list(centre.rows(f"SELECT {columns} FROM {table} WHERE stream_id = {key} ORDER BY 1, 2")),
            )
        found += samples(db, centre, stream, uuid)
        found += digests(centre, uuid, count)
        found += physical(db, centre, uuid, name, view)
    if not streams:
        found.append(f"{path} has no stream: nothing was compared")
    return found


def main() -> None:
    *options, path, address = sys.argv[1:]
    found = compare(path, Centre(address), with_rows="--without-rows" not in options)
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
