"""A machine with a disk: a user-mode Linux kernel that boots Debian with systemd, in real time."""

from __future__ import annotations

import base64
import contextlib
import os
import select
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self, TypeVar

# As a small Raspberry Pi has.
_MEMORY_MEGABYTES = 512
# A machine that shares two processors with everything else boots in four to fifteen seconds.
_BOOT_SECONDS = 180.0
_POLL_SECONDS = 0.1

Found = TypeVar("Found")


class MachineError(Exception):
    """What was expected of the machine did not happen."""


class Machine:
    """A machine. Its disk is a layer over an image that stays as it is; it outlives the machine's power."""

    def __init__(self, kernel: Path, image: Path, directory: Path) -> None:
        self._kernel = kernel
        self._disks = f"ubd0={directory}/disk,{image}"
        self._directory = directory
        self._memory = tempfile.mkdtemp(prefix="eegsync-systemd.", dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        self._process: subprocess.Popen[bytes] | None = None
        self._port: socket.socket | None = None
        self._answers = b""

    def __enter__(self) -> Self:
        try:
            self.boot()
        except BaseException:
            # One that does not come up would take a processor until somebody notices.
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.cut_power()
        shutil.rmtree(self._memory, ignore_errors=True)

    # Power

    def boot(self) -> None:
        """Switches it on and waits until commands can be run, which is long before systemd has started everything."""
        ours, theirs = socket.socketpair()
        number = theirs.fileno()
        environment = {"PATH": os.environ["PATH"], "TMPDIR": self._memory, "HOME": self._memory}
        if "EEGSYNC_LAB_PRELOAD" in os.environ:
            environment["LD_PRELOAD"] = os.environ["EEGSYNC_LAB_PRELOAD"]
        with (self._directory / "console.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    str(self._kernel),
                    f"mem={_MEMORY_MEGABYTES}M",
                    self._disks,
                    "root=/dev/ubda",
                    "rw",
                    "con=null",
                    "con0=null,fd:1",
                    "ssl=null",
                    f"ssl1=fd:{number},fd:{number}",
                    "panic=-1",
                    "random.trust_cpu=on",
                    "quiet",
                    "loglevel=4",
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment,
                pass_fds=[number],
                # Each process of the machine is one of the host, in the machine's own group.
                start_new_session=True,
            )
        theirs.close()
        self._port, self._answers = ours, b""
        while self._line(_BOOT_SECONDS).strip() != b"READY":
            pass

    def cut_power(self) -> None:
        """What the machine has not handed to its disk is gone."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, 9)
            self._process.wait()
            self._process = None
        if self._port is not None:
            self._port.close()
            self._port = None

    def shut_down(self, seconds: float = 90.0) -> None:
        """Switches it off in order."""
        if self._process is None:
            raise MachineError("the machine is off already")
        self.run("systemctl poweroff --no-block")
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise MachineError(f"the machine did not switch itself off within {seconds} s") from None
        self.cut_power()

    # Commands

    def attempt(self, command: str, seconds: float = 120.0) -> tuple[int, str]:
        """Runs a command as root; its exit status and what it wrote."""
        if self._port is None:
            raise MachineError("the machine is off")
        self._port.sendall(base64.b64encode(command.encode()) + b"\n")
        words = self._line(seconds).split()
        if len(words) < 2 or words[0] != b"DONE":
            raise MachineError(f"no answer to: {command}")
        output = base64.b64decode(words[2]).decode(errors="replace") if len(words) > 2 else ""
        return int(words[1]), output.rstrip("\n")

    def run(self, command: str, seconds: float = 120.0) -> str:
        """Runs a command that must succeed."""
        status, output = self.attempt(command, seconds)
        if status != 0:
            raise MachineError(f"exit status {status} of: {command}\n{output}")
        return output

    def _line(self, seconds: float) -> bytes:
        if self._port is None:
            raise MachineError("the machine is off")
        self._port.settimeout(seconds)
        while b"\n" not in self._answers:
            try:
                piece = self._port.recv(65536)
            except TimeoutError:
                raise MachineError(f"the machine said nothing for {seconds} s") from None
            if not piece:
                raise MachineError("the machine has ended by itself")
            self._answers += piece
        line, self._answers = self._answers.split(b"\n", 1)
        return line


def wait_for(find: Callable[[], Found | None], seconds: float, what: str, look_seconds: float = _POLL_SECONDS) -> Found:
    """Waits until something is there (true, not None), looking ten times a second or as often as it is said."""
    end = time.monotonic() + seconds
    while True:
        found = find()
        if found:
            return found
        if time.monotonic() > end:
            raise MachineError(f"not within {seconds} s: {what}")
        # Nothing of the machine reports by itself; this is how often it is asked, and bounds nothing.
        select.select([], [], [], look_seconds)
