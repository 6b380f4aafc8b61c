#!/usr/bin/env python3
"""Draws the schema of a real database for the page DataModel, from what SQLite says of its tables, columns and keys.

    schema_picture.py DATABASE           prints the SVG
    schema_picture.py DATABASE --write   puts it beside the page

Where tables stand is written here; a table that stands nowhere is an error, so that a new one is not forgotten.
"""

import html
import pathlib
import sqlite3
import sys
import textwrap

PICTURE = pathlib.Path(__file__).resolve().parents[2] / "Sources/eegsync/eegsync.docc/schema.svg"

# Tables with their columns, in columns of the picture from left to right.
DRAWN = [
    ["headset", "host_boot", "clock_offset", "provenance", "link"],
    ["recording", "recording_detail", "recording_property", "annotation"],
    ["stream", "epoch", "segment", "gap", "gap_cause"],
    ["sample", "channel", "channel_correction", "arrival", "signal_check", "block"],
]
# The others, by what they are about.
NAMED = {
    "Connections": (
        "adoption candidate connection_attempt connection_event early_start full_disk handle_map headset_identifier"
        " link_quality machine machine_boot pause preserved_state process status_report streaming_return suspension"
        " switched_off_adapter"
    ),
    "What headsets say": "channel_declaration clock_observation headset_message impedance loss_detection",
    "Requests and schedules": "capture capture_chunk impedance_measurement recording_end schedule schedule_start",
    "Evidence and corrections": (
        "confirmation digest_sum merge_conflict merged_machine merged_recording recording_edit refit replaced_segment"
        " undigested_rows whole_confirmation"
    ),
    "Housekeeping": "deleted_stream deletion disk_start grdb_migrations schema_snapshot spool",
}
WIDTH, ROW, HEAD, GAP, MARGIN, BETWEEN = 216, 16, 22, 20, 40, 84
INK, LINE, FILL, KEY = "#1d2733", "#7b8794", "#ffffff", "#0b5cad"
KEYS = (
    "Bold: primary key. Blue: foreign key, with an arrow to what it names, but for host_boot_id and its like: every instant"
    " is one of these and boottime_ns."
)
VIEWS = (
    "Of sample, c1 ... c8 are the channels 1 to 8 of its stream. Views, such as eeg_1 and gap_time, show these tables in UTC"
    " and in physical units."
)

# (table of the key, its column, table that it points to)
Key = tuple[str, str, str]


def read(database: str) -> tuple[dict[str, list[tuple[str, bool]]], list[Key]]:
    """Columns of each table, with whether each is in the primary key; and the foreign keys."""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    columns = {
        table: [(row[1], row[5] > 0) for row in connection.execute(f"SELECT * FROM pragma_table_info('{table}')")]
        for table in tables
        if not table.startswith("sqlite_")
    }
    keys = [
        (table, row[3], row[2])
        for table in columns
        for row in connection.execute(f"SELECT * FROM pragma_foreign_key_list('{table}')")
    ]
    connection.close()
    return columns, sorted(set(keys))


def check(tables: set[str]) -> None:
    """Refuses a schema that has other tables than the picture."""
    stands = {table for column in DRAWN for table in column} | {table for names in NAMED.values() for table in names.split()}
    if tables != stands:
        missing, gone = sorted(tables - stands), sorted(stands - tables)
        raise SystemExit(f"the picture of the schema does not name {missing}, and names {gone}, which are not there")


def picture(database: str) -> str:
    columns, keys = read(database)
    check(set(columns))
    boxes: dict[str, tuple[int, int, int]] = {}
    bottom = 0
    for index, stack in enumerate(DRAWN):
        x, y = MARGIN + index * (WIDTH + BETWEEN), MARGIN
        for table in stack:
            boxes[table] = (index, x, y)
            y += HEAD + ROW * len(columns[table]) + 8 + GAP
        bottom = max(bottom, y)
    height = bottom + 190
    width = 2 * MARGIN + len(DRAWN) * WIDTH + (len(DRAWN) - 1) * BETWEEN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="{FILL}"/>',
        '<marker id="end" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">',
        f'<path d="M0 0 8 4 0 8z" fill="{LINE}"/></marker>',
    ]
    for table, column, parent in keys:
        # Almost every table points to the boots of the host: those lines would hide the others.
        if table in boxes and parent in boxes and parent not in ("host_boot", table):
            lines.append(arrow(boxes, columns, table, column, parent))
    for table, (_, x, y) in boxes.items():
        foreign = {column for owner, column, _ in keys if owner == table}
        lines += box(table, columns[table], foreign, x, y)
    lines += legend(bottom)
    return "\n".join([*lines, "</svg>", ""])


def arrow(
    boxes: dict[str, tuple[int, int, int]], columns: dict[str, list[tuple[str, bool]]], table: str, column: str, parent: str
) -> str:
    """From the row of a foreign key to the head of the table that it points to."""
    (from_index, from_x, from_y), (to_index, to_x, to_y) = boxes[table], boxes[parent]
    number = [name for name, _ in columns[table]].index(column)
    y, target = from_y + HEAD + ROW * number + ROW // 2 + 2, to_y + HEAD // 2
    if from_index == to_index:
        start, end, bend = from_x, to_x, from_x - 44
        control = f"{bend} {y} {bend} {target}"
    else:
        is_left = to_index < from_index
        start, end = (from_x, to_x + WIDTH) if is_left else (from_x + WIDTH, to_x)
        middle = start + (-BETWEEN // 2 if is_left else BETWEEN // 2)
        control = f"{middle} {y} {middle} {target}"
    return f'<path d="M{start} {y}C{control} {end} {target}" fill="none" stroke="{LINE}" marker-end="url(#end)"/>'


def box(table: str, columns: list[tuple[str, bool]], foreign: set[str], x: int, y: int) -> list[str]:
    height = HEAD + ROW * len(columns) + 8
    found = [
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{height}" rx="4" fill="{FILL}" stroke="{INK}"/>',
        f'<path d="M{x} {y + HEAD}h{WIDTH}" stroke="{INK}"/>',
        f'<text x="{x + 8}" y="{y + 15}" font-weight="bold" fill="{INK}">{html.escape(table)}</text>',
    ]
    for number, (column, is_primary) in enumerate(columns):
        style = ' font-weight="bold"' if is_primary else ""
        colour = KEY if column in foreign else INK
        found.append(
            f'<text x="{x + 8}" y="{y + HEAD + ROW * number + 15}"{style} fill="{colour}">{html.escape(column)}</text>'
        )
    return found


def legend(top: int) -> list[str]:
    texts = [KEYS, VIEWS, *(f"{subject}: {', '.join(names.split())}." for subject, names in NAMED.items())]
    lines = [line for text in texts for line in textwrap.wrap(text, 165, subsequent_indent="    ")]
    return [
        f'<text x="{MARGIN}" y="{top + 8 + 20 * number}" fill="{INK}" xml:space="preserve">{html.escape(line)}</text>'
        for number, line in enumerate(lines)
    ]


if __name__ == "__main__":
    drawn = picture(sys.argv[1])
    if sys.argv[2:] == ["--write"]:
        PICTURE.write_text(drawn)
    else:
        sys.stdout.write(drawn)
