"""Reads the daemon's tap for a while and notes when each run of rows was there: lines of its first n, its rows, and when.

    python -m guest.tap_reader SOCKET SECONDS OUTPUT

SOCKET is the daemon's.
"""

from __future__ import annotations

import socket
import struct
import sys
from pathlib import Path

from guest.clock import NANOSECONDS, now

# The kind of a frame that holds samples, and what such a frame begins with; see the page Tap.
_SAMPLES = 6
_HEAD = struct.Struct("<B19xqqIBB")
_LATE = 1
_MOST_BYTES = 1 << 16


def main(path: str, seconds: str, output: str) -> None:
    found: list[tuple[int, int, int]] = []
    tap = socket.socket(socket.AF_UNIX)
    tap.connect(path)
    rest = b""
    end = now() + round(float(seconds) * NANOSECONDS)
    while (instant := now()) < end:
        piece = tap.recv(_MOST_BYTES)
        instant = now()
        if not piece:
            raise SystemExit("the daemon let this reader go")
        rest += piece
        while len(rest) >= 4 and len(rest) >= 4 + (length := struct.unpack_from("<I", rest)[0]):
            frame, rest = rest[4 : 4 + length], rest[4 + length :]
            if frame[0] == _SAMPLES:
                _, _, first_n, rows, _, flags = _HEAD.unpack_from(frame)
                if not flags & _LATE:
                    found.append((first_n, rows, instant))
    Path(output).write_text("".join(f"{first} {rows} {instant}\n" for first, rows, instant in found), encoding="ascii")


main(*sys.argv[1:])
