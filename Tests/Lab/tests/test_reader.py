"""The bare reader notices what did not come."""

from __future__ import annotations

import json
import os
import socket
import subprocess

import pytest
from headsets import buffered_messages as messages

READER = os.environ.get("EEGSYNC_LAB_READER", "")


@pytest.mark.skipif(not READER, reason="Tests/Lab/run compiles the reader")
@pytest.mark.parametrize("lost", [[], [3], [5, 6, 12]])
def test_it_counts_sampling_periods_that_never_came(lost: list[int]) -> None:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        # The index wraps on the way.
        for number in range(20):
            if number not in lost:
                index = (0xFFFF_FFF0 + 2 * number) & 0xFFFF_FFFF
                ours.send(messages.block(False, 1, 0, 0, 1, 2, index, bytes(6)))
        command = [READER, str(theirs.fileno()), "1"]
        done = subprocess.run(command, pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, check=True)
    found = json.loads(done.stdout)
    assert (found["messages"], found["bytes"]) == (20 - len(lost), 24 * (20 - len(lost)))
    assert found["missing"] == 2 * len(lost)
