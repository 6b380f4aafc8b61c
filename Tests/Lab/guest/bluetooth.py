"""The Bluetooth system of the machine: the headsets' process with its virtual adapter, the bus, and bluetoothd."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from pathlib import Path
from typing import Any

from guest.clock import wait_for
from guest.process import LabError, Program, output_of

_BLUETOOTHD_PLACES = ("/usr/libexec/bluetooth/bluetoothd", "/usr/lib/bluetooth/bluetoothd", "/usr/sbin/bluetoothd")
_START_SECONDS = 20.0
# After a power cut the machine is off for a while, as headsets see it.
_OFF_SECONDS = 20.0


class HeadsetControl:
    """What can be done to headsets, over the socket of their process; see `headsets.control`."""

    def __init__(self, share: Path) -> None:
        self.socket = Path("/run/headsets.socket")
        command = [sys.executable, "-B", "-m", "headsets", str(share / "headsets.json")]
        command += ["--control", str(self.socket), "--journals", str(share / "journals")]
        command += ["--state", str(share / "state"), "--off", str(_OFF_SECONDS)]
        self.program = Program(command, share / "headsets.log")

    def start(self) -> None:
        """Puts the adapter in and switches the headsets on."""
        self.socket.unlink(missing_ok=True)
        self.program.start()
        if not wait_for(self.socket.exists, _START_SECONDS):
            raise LabError("the headsets did not start")

    def ask(self, *words: object) -> dict[str, Any]:
        """Sends a command; its answer."""
        line = " ".join(shlex.quote(str(word)) for word in words)
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(line.encode() + b"\n")
            with connection.makefile() as answers:
                answer: dict[str, Any] = json.loads(answers.readline())
        if not answer.get("ok"):
            raise LabError(str(answer.get("error", line)))
        return answer

    def tell(self, *words: object) -> int:
        """Sends a command; when it was done (CLOCK_BOOTTIME, nanoseconds)."""
        return int(self.ask(*words)["time"])

    def statistics(self, headset: str) -> dict[str, Any]:
        """What a headset is doing."""
        found: dict[str, Any] = self.ask("stats", headset)["headset"]
        return found


class BluetoothSystem:
    """dbus-daemon and bluetoothd, as a Debian system runs them."""

    def __init__(self, share: Path) -> None:
        # Of another Debian, with all that it needs; its process has that directory as root (see init).
        root = os.environ.get("LAB_BLUEZ", "")
        place = next((place for place in _BLUETOOTHD_PLACES if Path(root + place).exists()), None)
        if place is None:
            raise LabError(f"there is no bluetoothd{' in ' + root if root else ': install the Debian package bluez'}")
        self.bluetoothd = Program([*(["chroot", root] if root else []), place, "-n"], share / "bluetoothd.log")
        self.bus = Program(["dbus-daemon", "--system", "--nofork", "--nopidfile"], share / "dbus.log")

    def start_bus(self) -> None:
        """Starts the system bus."""
        self.bus.start()
        if not wait_for(Path("/run/dbus/system_bus_socket").exists, _START_SECONDS):
            raise LabError("dbus-daemon did not start")

    def start(self) -> None:
        """Starts bluetoothd; returns at once."""
        self.bluetoothd.start()

    def kill(self) -> None:
        """SIGKILL, which bluetoothd does not survive in any state worth keeping."""
        self.bluetoothd.kill()

    def wait_until_ready(self) -> None:
        """Until bluetoothd shows the adapter switched on."""
        if not wait_for(self._is_powered, _START_SECONDS, step=0.1):
            raise LabError("bluetoothd shows no adapter that is switched on")

    def _is_powered(self) -> bool:
        try:
            return "Powered: yes" in output_of(["bluetoothctl", "show"])
        except LabError:
            return False


def bluetoothctl(*words: str) -> None:
    """What a person does with bluetoothctl."""
    output_of(["bluetoothctl", *words])
