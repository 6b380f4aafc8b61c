#!/usr/bin/env python3
"""Compares a database that was fetched from a centre with the machine's own, table by table and row by row.

    same.py MACHINE.sqlite FETCHED.sqlite
    same.py --whole EXPORTED.sqlite FETCHED.sqlite

With --whole, the first is what the machine exports as a database: every table there is, with every column, is the same, but for
the keys of blocks, which nothing refers to. Knows nothing of eegsync but the schema. Says what differs; exit 1 then.
"""

import sqlite3
import sys

OF_STREAM = "WHERE stream_id = (SELECT id FROM stream WHERE uuid = ?)"
# What a stream has, by its UUID: columns without keys that only one database has.
STREAM_TABLES = {
    "sample": "n, c1, c2, c3, c4, c5, c6, c7, c8",
    "channel": 'number, name, type, unit, scale, "offset", raw_minimum, raw_maximum',
    "epoch": "number, boot_identifier, first_n, first_index, host_boot_id, boottime_ns",
    "segment": "first_n, last_n, epoch, host_boot_id, reference_n, reference_boottime_ns, period_ns, residual_ns, "
    "observation_count, uncertainty_ns",
    "gap": "first_n, channel, count, cause, recovered, host_boot_id, boottime_ns, certainty, uncertainty",
    "loss_detection": "first_n, means",
    "block": "chain, number, channel, first_n, last_n, row_count, hex(digest)",
}
OF_RECORDING = "WHERE recording_id = (SELECT id FROM recording WHERE uuid = ?)"
RECORDING_TABLES = {
    "stream": "uuid, position, name, bank, sampling_frequency, samples_per_count, counter_modulus, channel_count, view_name",
    "annotation": "uuid, host_boot_id, boottime_ns, duration_seconds, description, source, n, device_ticks, code, "
    "(SELECT uuid FROM annotation AS r WHERE r.id = annotation.replaces), withdrawn_host_boot_id, withdrawn_boottime_ns",
    "link": "uuid, host_boot_id, began_boottime_ns, ended_boottime_ns, (SELECT facts FROM provenance WHERE id = provenance_id)",
    "recording_detail": "session, run, operator, notes, time_zone, subject_name, subject_sex, subject_birthdate, "
    "subject_handedness",
    "recording_property": "key, value",
    "recording_overview": "headset, model, serial_number, label, subject, task, start_time, end_time, duration_seconds, rows, "
    "missing, recovered, gaps, start_unix_ns, end_unix_ns",
    "annotation_time": "onset, description, source, duration_seconds, n",
    "gap_time": "stream, first_n, count, channel, cause, start_time, end_time",
}
WHOLE_TABLES = {"host_boot": "id, uuid", "clock_offset": "host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised"}


def differences(machine: sqlite3.Connection, fetched: sqlite3.Connection) -> list[str]:
    found: list[str] = []
    compared = 0

    def compare(table: str, columns: str, condition: str, *key: str) -> None:
        nonlocal compared
        order = ", ".join(str(number + 1) for number in range(min(3, columns.count(",") + 1)))
        sql = f"SELECT {columns} FROM {table} {condition} ORDER BY {order}"
        left, right = (db.execute(sql, key).fetchall() for db in (machine, fetched))
        compared += len(right)
        if left != right:
            count = sum(1 for pair in zip(left, right, strict=False) if pair[0] != pair[1])
            found.append(f"{table} of {key}: {len(left)} and {len(right)} rows, {count} differ")

    for (uuid,) in fetched.execute("SELECT uuid FROM recording").fetchall():
        for table, columns in RECORDING_TABLES.items():
            compare(table, columns, OF_RECORDING, uuid)
        for stream, view in fetched.execute("SELECT uuid, view_name FROM stream").fetchall():
            for table, columns in STREAM_TABLES.items():
                compare(table, columns, OF_STREAM, stream)
            compare(f'"{view}"', "*", "")
    for table, columns in WHOLE_TABLES.items():
        compare(table, columns, "")
    if compared == 0:
        found.append("nothing was compared")
    return found


def whole_differences(exported: sqlite3.Connection, fetched: sqlite3.Connection) -> list[str]:
    found: list[str] = []
    compared = 0
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
    names, others = ([name for (name,) in db.execute(tables)] for db in (exported, fetched))
    if names != others:
        found.append(f"tables: {names} and {others}")
    for name in names:
        columns = [column for (column,) in exported.execute("SELECT name FROM pragma_table_info(?)", (name,))]
        if name == "block":
            columns.remove("id")
        # Rows of a real number beside an integer compare as numbers, and differ as texts.
        wanted = ", ".join(f'quote("{column}")' for column in columns)
        left, right = (set(db.execute(f'SELECT {wanted} FROM "{name}"')) for db in (exported, fetched))
        compared += len(left)
        # Of the process and the machine, what lies during the recording.
        more = set() if name in ("process", "suspension", "full_disk") and right else left - right
        if more or right - left:
            found.append(f"{name}: {len(more)} rows of {len(left)} are not there, {len(right - left)} others are")
    if compared == 0:
        found.append("nothing was compared")
    return found


def main() -> None:
    paths = [path for path in sys.argv[1:] if path != "--whole"]
    machine, fetched = (sqlite3.connect(f"file:{path}?mode=ro", uri=True) for path in paths)
    found = (whole_differences if "--whole" in sys.argv else differences)(machine, fetched)
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
