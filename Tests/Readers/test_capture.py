"""Captures, as Wireshark reads them: every packet whole, and every notification with its characteristic."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from expectations import DIRECTORY

CAPTURES = sorted(DIRECTORY.glob("capture-*.btsnoop"))
NOTIFICATION, HEADER = "0x1b", b"btsnoop\0\0\0\0\1\0\0\3\xea"

pytestmark = pytest.mark.skipif(
    not CAPTURES or shutil.which("tshark") is None, reason="no captures were written, or tshark is not installed"
)


def dissect(file: Path, *fields: str, where: str = "") -> list[list[str]]:
    """One row of fields for each packet that the filter lets through."""
    columns = [word for field in fields for word in ("-e", field)]
    command = ["tshark", "-n", "-r", str(file), "-Y", where, "-T", "fields", *columns]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def is_serial(file: Path) -> bool:
    return file.stem.removeprefix("capture-") in ("cyton", "thinkgear", "unicorn")


@pytest.mark.parametrize("file", CAPTURES, ids=lambda file: file.stem)
def test_every_packet_is_whole(file: Path) -> None:
    assert file.read_bytes().startswith(HEADER)
    assert len(dissect(file, "frame.number")) > 100
    assert dissect(file, "frame.number", "_ws.expert.message", where="_ws.malformed || _ws.expert.severity >= 0x600000") == []


@pytest.mark.parametrize("file", [file for file in CAPTURES if not is_serial(file)], ids=lambda file: file.stem)
def test_notifications_have_their_characteristic(file: Path) -> None:
    expected = json.loads(file.with_suffix(".json").read_text())
    rows = dissect(file, "btatt.value", "btatt.uuid16", "btatt.uuid128", where=f"btatt.opcode == {NOTIFICATION}")
    assert len(rows) == expected["notifications"]
    assert sum(len(value.replace(":", "")) // 2 for value, *_ in rows) == expected["bytes"]
    assert all(short or long for _, short, long in rows)


@pytest.mark.parametrize("file", [file for file in CAPTURES if is_serial(file)], ids=lambda file: file.stem)
def test_serial_ports_have_their_bytes(file: Path) -> None:
    expected = json.loads(file.with_suffix(".json").read_text())
    received = "hci_h4.direction == 0x01 && btrfcomm.dlci > 1 && btrfcomm.frame_type == 0xef"
    rows = dissect(file, "btrfcomm.len", where=received)
    assert len(rows) == expected["notifications"]
    assert sum(int(length) for (length,) in rows) == expected["bytes"]


def without(data: bytes, opcode: int) -> bytes:
    """The file without the messages of the Attribute Protocol that have the opcode."""
    kept, place = bytearray(HEADER), len(HEADER)
    while place < len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        record = data[place : place + 24 + length]
        # Behind the header of the record: type, ACL and L2CAP headers.
        if len(record) <= 33 or record[24] != 2 or record[33] != opcode:
            kept += record
        place += len(record)
    return bytes(kept)


def test_the_check_bites(tmp_path: Path) -> None:
    whole = next(file for file in CAPTURES if not is_serial(file))
    copy = tmp_path / whole.name
    copy.with_suffix(".json").write_text(whole.with_suffix(".json").read_text())
    copy.write_bytes(without(whole.read_bytes(), 0xFF))
    test_notifications_have_their_characteristic(copy)
    # Without the declarations of characteristics, and without notifications.
    for opcode in (0x09, 0x1B):
        copy.write_bytes(without(whole.read_bytes(), opcode))
        with pytest.raises(AssertionError):
            test_notifications_have_their_characteristic(copy)
