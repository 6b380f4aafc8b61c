"""The bare reader notices what did not come, and when the rest came."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import struct
import subprocess
import termios
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from guest import arrivals
from headsets import buffered_messages as messages

READER = os.environ.get("EEGSYNC_LAB_READER", "")
pytestmark = pytest.mark.skipif(not READER, reason="Tests/Lab/run compiles the reader")


def block(number: int) -> bytes:
    """Two sampling periods; the index wraps on the way."""
    return messages.block(False, 1, 0, 0, 1, 2, (0xFFFF_FFF0 + 2 * number) & 0xFFFF_FFFF, bytes(6))


def read(packets: Iterable[bytes], *arguments: str) -> dict[str, Any]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        for packet in packets:
            ours.send(packet)
        command = [READER, str(theirs.fileno()), "1", *arguments]
        done = subprocess.run(command, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("lost", [[], [3], [5, 6, 12]])
def test_it_counts_sampling_periods_that_never_came(lost: list[int]) -> None:
    found = read(block(number) for number in range(20) if number not in lost)
    assert (found["messages"], found["bytes"]) == (20 - len(lost), 24 * (20 - len(lost)))
    assert found["missing"] == 2 * len(lost)


def test_it_passes_over_what_is_no_notification() -> None:
    packets = [b"\x1b\x10\x00" + block(0), b"\x13", b"\x1b\x10\x00" + block(1)]
    found = read(packets, "3")
    assert (found["messages"], found["bytes"], found["missing"]) == (2, 48, 0)


def test_it_notes_arrivals_after_what_was_waiting(tmp_path: Path) -> None:
    file = tmp_path / "arrivals"
    before = 0
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        ours.send(block(0))
        command = [READER, str(theirs.fileno()), "1", "0", str(file)]
        with subprocess.Popen(command, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE):
            for number in range(1, 20):
                while _unread(ours) > 0:
                    pass
                before = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
                ours.send(block(number))
    found = arrivals.of_reader(file)
    # The first one had waited for the reader's own start, for which it is not to blame.
    assert 0xFFFF_FFF0 not in found
    assert found[0xFFFF_FFF0 + 2 * 19 - 2**32] >= before


def _unread(sender: socket.socket) -> int:
    """The bytes that the other end has not received."""
    return int(struct.unpack("i", fcntl.ioctl(sender, termios.TIOCOUTQ, bytes(4)))[0])
