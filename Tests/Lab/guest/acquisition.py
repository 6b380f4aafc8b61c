"""The real `eegsync run`, its configuration, and the commands beside it."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guest.clock import NANOSECONDS, now, wait_for
from guest.process import Program, output_of

# The line of DaemonLog that says that samples flow again; its instant is when the notification was read.
_FIRST_SAMPLE = "the first sample of the link has arrived"


@dataclass(frozen=True)
class ConfiguredHeadset:
    """A headset that eegsync may record."""

    name: str
    model: str
    serial: str | None = None
    identifiers: tuple[str, ...] = ()
    passkey: int | None = None

    def lines(self) -> list[str]:
        """Its entry in the configuration."""
        lines = [f"  - name: {self.name}", f"    model: {self.model}"]
        if self.serial:
            lines.append(f'    serial: "{self.serial}"')
        if self.identifiers:
            lines.append("    identifiers: [" + ", ".join(f'"{identifier}"' for identifier in self.identifiers) + "]")
        if self.passkey is not None:
            lines.append(f"    passkey: {self.passkey}")
        return lines


@dataclass(frozen=True)
class FirstSample:
    """A line of the log: the first sample of a link."""

    headset: str
    boottime: int
    layer: str


@dataclass
class Acquisition:
    """The daemon of a scenario. Database, log and configuration lie in the directory that outlives the machine."""

    program_path: str
    share: Path
    headsets: list[ConfiguredHeadset]
    central: str = "bluez"
    # See `Scenario.has_spool`.
    has_spool: bool = False
    # Its name; where it is left out, the first adapter that is on.
    adapter: str | None = None
    program: Program = field(init=False)
    _seen: int = 0

    def __post_init__(self) -> None:
        self.program = Program([self.program_path, "run", "--config", str(self.configuration)], self.log)
        # What an earlier boot of the machine logged is not looked at again.
        self._seen = self.log.stat().st_size if self.log.exists() else 0

    @property
    def configuration(self) -> Path:
        return self.share / "eegsync.yaml"

    @property
    def log(self) -> Path:
        return self.share / "eegsync.log"

    def configure(self) -> None:
        """Writes the configuration."""
        lines = [f"database: {self.share}/eegsync.sqlite", "central:", f"  kind: {self.central}"]
        if self.adapter is not None:
            lines.append(f"  adapter: {self.adapter}")
        # Where no bluetoothd runs, nobody else switches the adapter on.
        if self.central in ("kernel", "auto"):
            lines.append("  power_on: true")
        lines.append("headsets:")
        for headset in self.headsets:
            lines += headset.lines()
        if not self.has_spool:
            lines.append("limits: {commit_interval_seconds: 1}")
        lines.append("log_level: debug")
        self.configuration.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def command(self, *words: str) -> str:
        """Runs `eegsync WORDS` beside the daemon."""
        return output_of([self.program_path, *words, "--config", str(self.configuration)])

    def status(self) -> dict[str, Any]:
        """What `eegsync status` says; 69 and 75 are the exit codes of what is not as wanted."""
        command = [self.program_path, "status", "--json", "--config", str(self.configuration)]
        found: dict[str, Any] = json.loads(output_of(command, 0, 69, 75))
        return found

    def status_text(self) -> str:
        """The same for people."""
        return output_of([self.program_path, "status", "--config", str(self.configuration)], 0, 69, 75)

    # Signals

    def kill(self) -> int:
        """kill -9; when."""
        instant = now()
        self.program.kill()
        return instant

    def stop(self) -> None:
        """SIGSTOP."""
        self.program.send(signal.SIGSTOP)

    def go_on(self) -> int:
        """SIGCONT; when."""
        instant = now()
        self.program.send(signal.SIGCONT)
        return instant

    # The log

    def lines(self) -> list[str]:
        """The complete lines of this boot's log."""
        if not self.log.exists():
            return []
        with self.log.open("rb") as log:
            log.seek(self._seen)
            text = log.read().decode(errors="replace")
        return text.splitlines() if text.endswith("\n") else text.splitlines()[:-1]

    def first_samples(self, headset: str) -> Iterator[FirstSample]:
        """Every return of samples that the log tells, oldest first."""
        return (found for found in map(first_sample, self.lines()) if found is not None and found.headset == headset)

    def first_sample_since(self, headset: str, instant: int, seconds: float) -> FirstSample | None:
        """The first return of samples after an instant; None where there is none within a time."""
        left = seconds - (now() - instant) / NANOSECONDS

        def find() -> FirstSample | None:
            return next((found for found in self.first_samples(headset) if found.boottime >= instant), None)

        return wait_for(find, max(left, 0))

    def phase(self, headset: str) -> str:
        """The phase of a headset that the log has last."""
        phases = [line for line in self.lines() if f"headset={headset} " in line and " state=" in line]
        return re.sub(r".* state=(\S+).*", r"\1", phases[-1]) if phases else ""

    def wait_for_phase(self, headset: str, phase: str, seconds: float) -> bool:
        """Until the log has a headset in a phase, and not for longer than a millisecond after that."""
        return bool(wait_for(lambda: self.phase(headset) == phase, seconds, step=0.001))

    def wait_for_line(self, text: str, seconds: float) -> bool:
        """Until the log has a line with a text."""
        return bool(wait_for(lambda: any(text in line for line in self.lines()), seconds))


def first_sample(line: str) -> FirstSample | None:
    """Reads a line of the log; None where it says something else."""
    if _FIRST_SAMPLE not in line:
        return None
    metadata = dict(re.findall(r"(\w+)=(\S+)", line))
    if "boottime_ns" not in metadata:
        return None
    return FirstSample(metadata["headset"], int(metadata["boottime_ns"]), metadata.get("layer", ""))
