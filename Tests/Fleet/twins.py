#!/usr/bin/env python3
"""One headset that two machines record, for Tests/Fleet/run.

    twins.py notifications BOOT FIRST LAST [--lost A-B]... [--half A-B]... [--change INDEX] >FILE
    twins.py compare MERGED.sqlite MERGE.json ADDRESS

`notifications` writes what a headset of the page BufferedEEGService sends in a boot, from the index FIRST up to but not
including LAST, for `eegsync replay`: without packets that begin in the ranges --lost, with two of four channels in the ranges
--half, and with another value at the index --change. The same index has the same values and the same instant whoever receives
it.

`compare` takes the database of a machine into which `eegsync merge --json` has merged the other machine's, and what that
printed. What the centre says of this machine's recording, which is the first one there, and of its twin must be the same: how
many samples both have and how many differ, what comes in, each row with its time and its values, and the ledger. Says what
differs; exit 1 then.
"""

import argparse
import json
import pathlib
import sqlite3
import struct
import sys
from collections.abc import Iterator

from compare import Centre, Row, same

CONTROL = "ab870003-81bc-439d-a90a-be5d3a2ce5f9"
DATA = "ab870004-81bc-439d-a90a-be5d3a2ce5f9"
CHANNELS = 4
SAMPLING_FREQUENCY = 256
# Of a packet.
INSTANTS = 8
# When index 0 was, in seconds since 1970.
BEGAN = 1_772_359_200
TICKS_PER_SECOND = 32_768


def castagnoli(message: bytes) -> int:
    """Computes CRC-32C."""
    remainder = 0xFFFFFFFF
    for byte in message:
        remainder ^= byte
        for _ in range(8):
            remainder = remainder >> 1 ^ (0x82F63B78 if remainder & 1 else 0)
    return remainder ^ 0xFFFFFFFF


def text(words: str) -> bytes:
    return bytes([len(words)]) + words.encode("ascii")


def status_report(boot: int, index: int) -> Iterator[bytes]:
    """The messages of a headset that streams, and has nothing in its memory."""
    ticks = index * TICKS_PER_SECOND // SAMPLING_FREQUENCY
    yield struct.pack("<BBBBIQIBIII", 0x81, 1, 0, 90, boot, ticks, TICKS_PER_SECOND, 1, index, index, 0)
    channels = b"".join(
        struct.pack("<BBdd", 0, 24, 0.024, 0.0) + text(f"E{number}") + text("uV") for number in range(1, CHANNELS + 1)
    )
    yield struct.pack("<BBBBBBd", 0x82, 0, 0, CHANNELS, 0, CHANNELS, SAMPLING_FREQUENCY) + text("eeg") + channels
    yield bytes([0x83, 1])


def block(boot: int, first: int, channels: int, change: int | None) -> bytes:
    message = struct.pack("<BBIBBBBI", 0x91, 0, boot, 0, 0, channels, INSTANTS, first)
    for index in range(first, first + INSTANTS):
        for channel in range(channels):
            value = (index * 31 + channel * 1009) % 20011 - 10005 + (1 if index == change and channel == 0 else 0)
            message += value.to_bytes(3, "little", signed=True)
    return message + struct.pack("<I", castagnoli(message))


def write_notifications(arguments: argparse.Namespace) -> None:
    def line(index: int, characteristic: str, message: bytes) -> None:
        print(f"{BEGAN + index / SAMPLING_FREQUENCY:.6f}\t{characteristic}\t{message.hex()}")

    for message in status_report(arguments.boot, arguments.first):
        line(arguments.first, CONTROL, message)
    for index in range(arguments.first, arguments.last, INSTANTS):
        if not any(index in lost for lost in arguments.lost):
            channels = CHANNELS // 2 if any(index in half for half in arguments.half) else CHANNELS
            line(index + INSTANTS, DATA, block(arguments.boot, index, channels, arguments.change))


def counts(said: dict[str, list[dict[str, int]]]) -> tuple[object, ...]:
    """What `eegsync merge` says of the two recordings."""
    if len(said["twins"]) != 1 or "contradiction" in said["twins"][0]:
        sys.exit(f"merge did not say what it found in one stream: {said['twins']}")
    twin = said["twins"][0]
    names = ("samples_shared", "samples_differing", "rows_taken", "values_filled", "gaps_closed")
    return tuple(twin.get(name, 0) for name in names)


def differences(what: str, own: list[tuple[object, ...]], there: list[Row]) -> list[str]:
    """As in compare.py, with an example of a row that differs."""
    if len(own) != len(there):
        return [f"{what}: {len(own)} rows after the merge, {len(there)} at the centre"]
    for left, right in zip(own, there, strict=True):
        if len(left) != len(right) or not all(map(same, left, right)):
            return [f"{what}: {left} after the merge, {right} at the centre"]
    return []


def compare(arguments: argparse.Namespace) -> list[str]:
    db = sqlite3.connect(f"file:{arguments.database}?mode=ro", uri=True)
    centre = Centre(arguments.address)
    (uuid,) = db.execute("SELECT uuid FROM recording WHERE id = 1").fetchone()
    key = f"(SELECT id FROM recording WHERE uuid = '{uuid}')"
    own: list[tuple[object, ...]] = [counts(json.loads(pathlib.Path(arguments.said).read_text(encoding="utf-8")))]
    there = centre.rows(f"""
        SELECT * FROM (
            SELECT sum(samples_shared), sum(samples_differing) FROM recording_twin WHERE recording_id = {key}) AS t, (
            SELECT coalesce(sum(filled) FILTER (WHERE channel = 0), 0), coalesce(sum(filled) FILTER (WHERE channel > 0), 0),
                count(*) FILTER (WHERE channel = 0 AND recovered < count AND missing = 0)
            FROM filled_gap WHERE recording_id = {key}) AS g""")
    found = differences("samples that both have, that differ, rows, values and gaps closed", own, list(there))
    own = db.execute("""
        SELECT first_n, channel, count, cause, recovered FROM gap
        WHERE stream_id = (SELECT id FROM stream WHERE recording_id = 1) ORDER BY first_n, channel""").fetchall()
    there = centre.rows(f"""
        SELECT first_n, channel, count, cause, recovered + filled FROM filled_gap WHERE recording_id = {key}
        ORDER BY first_n, channel""")
    found += differences("the ledger", own, list(there))
    (view,) = db.execute("SELECT view_name FROM stream WHERE recording_id = 1").fetchone()
    own = db.execute(f'SELECT n, unix_ns, time, E1, E2, E3, E4 FROM "{view}" ORDER BY n').fetchall()
    there = centre.rows(f"""
        SELECT n, unix_ns, time, value[1], value[2], value[3], value[4]
        FROM filled_samples({key}, 'eeg', '2000-01-01', '2100-01-01') ORDER BY n""")
    return found + differences("samples", own, list(there))


def index_range(words: str) -> range:
    begin, end = map(int, words.split("-"))
    return range(begin, end)


def main() -> None:
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    notifications = commands.add_parser("notifications")
    for name in ("boot", "first", "last"):
        notifications.add_argument(name, type=int)
    for name in ("--lost", "--half"):
        notifications.add_argument(name, type=index_range, action="append", default=[])
    notifications.add_argument("--change", type=int)
    comparison = commands.add_parser("compare")
    for name in ("database", "said", "address"):
        comparison.add_argument(name)
    arguments = parser.parse_args()
    if arguments.command == "notifications":
        write_notifications(arguments)
        return
    found = compare(arguments)
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
