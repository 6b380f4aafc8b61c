"""Programs that run in the machine."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from guest.clock import wait_for

# How long a program may take to end after SIGTERM before the scenario counts as failed, in simulated seconds.
_END_SECONDS = 30.0


class LabError(Exception):
    """The scenario could not be performed; says nothing good or bad about eegsync's data."""


class Program:
    """A program that can be started, killed and started again; its output is appended to a file."""

    def __init__(self, command: Sequence[str], output: Path, environment: Mapping[str, str] | None = None) -> None:
        self.command = list(command)
        self._output = output
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Starts it; nothing where it runs already."""
        if self.is_running:
            return
        with self._output.open("ab") as output:
            self._process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=self._environment
            )

    def processor_seconds(self) -> float:
        """The processor time that it has used; see proc(5)."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def send(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        if self._process is None or not self.is_running:
            raise LabError(f"{self.command[0]} was to get {number.name} but does not run")
        self._process.send_signal(number)

    def kill(self) -> None:
        """SIGKILL; returns when it is gone."""
        self.send(signal.SIGKILL)
        assert self._process is not None
        self._process.wait()

    def end(self) -> int:
        """SIGTERM; returns the exit status."""
        self.send(signal.SIGTERM)
        return self.status(_END_SECONDS)

    def status(self, seconds: float) -> int:
        """The exit status, as soon as it has ended."""
        process = self._process
        assert process is not None
        status = wait_for(lambda: None if process.poll() is None else [process.returncode], seconds)
        if status is None:
            raise LabError(f"{self.command[0]} did not end within {seconds:.0f} s")
        return status[0]


def output_of(command: Sequence[str], *expected: int) -> str:
    """Runs a command to its end and returns what it printed; exit codes other than the expected ones, or than 0, raise."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode not in (expected or (0,)):
        raise LabError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
