#!/usr/bin/env python3
"""What samples take on a line.

    wire.py PROGRAM SERVER ROLE DATABASE [--ssh] [--megabits N] [--most BYTES]

Ships DATABASE as ROLE to the server whose socket lies in the directory SERVER, over a line that counts what it carries; with
--ssh through a tunnel of `ssh -C`, to an sshd of its own. With --megabits it carries so many a second at the most. Exit 1 where
the instants of the database took more than --most bytes each, everything included.
"""

import argparse
import contextlib
import getpass
import os
import pathlib
import shlex
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator

PIECE = 16384
# Of the server's socket.
PGPORT = os.environ.get("PGPORT", "5432")


class Meter:
    """A line to another address that counts bytes, and carries no more than it may."""

    def __init__(self, to: str | tuple[str, int], megabits: float | None) -> None:
        self.to, self.rate = to, megabits and megabits * 1e6 / 8
        self.bytes, self.free = 0, 0.0
        self.lock, self.wait = threading.Lock(), threading.Event()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            near, _ = self.listening.accept()
            far = socket.socket(socket.AF_UNIX if isinstance(self.to, str) else socket.AF_INET)
            far.connect(self.to)
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=self._carry, args=(source, target), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while piece := source.recv(PIECE):
                with self.lock:
                    self.bytes += len(piece)
                    now = time.monotonic()
                    self.free = max(self.free, now) + (len(piece) / self.rate if self.rate else 0)
                    pause = self.free - now
                self.wait.wait(pause)
                target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False


@contextlib.contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    """A program, once it listens."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        while not listens(port):
            assert process.poll() is None, f"{shlex.join(command)} has ended"
        yield
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def tunnel(server: str, directory: pathlib.Path, megabits: float | None) -> Iterator[tuple[Meter, int]]:
    """A way to the server's socket through ssh, and the line below it."""
    for key in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / key], check=True, stdin=subprocess.DEVNULL
        )
    port, near = free_port(), free_port()
    (directory / "sshd").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {directory}/host\nAuthorizedKeysFile {directory}/user.pub\n"
        "StrictModes no\nUsePAM no\nPidFile none\nPasswordAuthentication no\nPermitRootLogin yes\n"
    )
    if os.geteuid() == 0:
        # Where sshd has its children confine themselves.
        pathlib.Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    with running(["/usr/sbin/sshd", "-D", "-e", "-q", "-f", str(directory / "sshd")], port):
        meter = Meter(("127.0.0.1", port), megabits)
        options = ["StrictHostKeyChecking=no", f"UserKnownHostsFile={directory}/known", "ExitOnForwardFailure=yes"]
        command = ["ssh", "-C", "-N", "-q", "-F", "none", "-i", str(directory / "user"), "-p", str(meter.port)]
        command += [word for option in options for word in ("-o", option)]
        command += ["-L", f"127.0.0.1:{near}:{server}/.s.PGSQL.{PGPORT}", f"{getpass.getuser()}@127.0.0.1"]
        with running(command, near):
            yield meter, near


@contextlib.contextmanager
def line(server: str, megabits: float | None) -> Iterator[tuple[Meter, int]]:
    meter = Meter(f"{server}/.s.PGSQL.{PGPORT}", megabits)
    yield meter, meter.port


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("program", "server", "role", "database"):
        parser.add_argument(name)
    parser.add_argument("--ssh", action="store_true")
    parser.add_argument("--megabits", type=float)
    parser.add_argument("--most", type=float)
    wanted = parser.parse_args()
    with contextlib.closing(sqlite3.connect(f"file:{wanted.database}?mode=ro", uri=True)) as database:
        instants, seconds = database.execute(
            "SELECT count(*), count(*) / max(t.sampling_frequency) FROM sample AS s JOIN stream AS t ON t.id = s.stream_id"
        ).fetchone()
    with tempfile.TemporaryDirectory() as directory:
        way = (
            tunnel(wanted.server, pathlib.Path(directory), wanted.megabits)
            if wanted.ssh
            else line(wanted.server, wanted.megabits)
        )
        with way as (meter, port):
            address = f"postgresql://{wanted.role}@127.0.0.1:{port}/study?sslmode=disable"
            before, begin = meter.bytes, time.monotonic()
            command = [wanted.program, "ship", "--once", "--to", address, "--database", wanted.database]
            shipped = subprocess.run(command, capture_output=True, text=True, check=False)
            took, carried = time.monotonic() - begin, meter.bytes - before
    if shipped.returncode != 0:
        sys.stderr.write(shipped.stderr)
        return 1
    each = carried / instants
    print(
        f"{instants} instants: {each:.1f} bytes each, {seconds / took:.0f} times as fast as they were recorded ({took:.1f} s)"
    )
    if wanted.most is not None and each > wanted.most:
        print(f"more than {wanted.most:g}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
