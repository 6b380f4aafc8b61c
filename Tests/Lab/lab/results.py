"""What scenarios came to with one version of bluetoothd and one of the kernel, in a file of JSON lines."""

from __future__ import annotations

import datetime
import json
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from lab.marks import RECORD_START
from lab.performance import Performance


@dataclass(frozen=True)
class Versions:
    """What stands between eegsync and the radio."""

    # As Debian has it, such as "5.66-1+deb12u2".
    bluez: str
    # As the kernel has it, such as "6.1.170".
    kernel: str

    @classmethod
    def of(cls, kernel: Path, bluez: Path | None) -> Versions:
        """Those of a kernel's file, and of a directory of bluez/fetch or else of this machine."""
        if bluez is None:
            asked = _output("dpkg-query", "--show", "--showformat", "${Version}", "bluez")
        else:
            asked = (bluez / "version").read_text(encoding="utf-8")
        return cls(asked.strip(), _output(str(kernel), "--version").strip())


@dataclass(frozen=True)
class Result:
    """One scenario, performed once."""

    versions: Versions
    scenario: str
    title: str
    # Of each return but the start of the recording, None where the headset never did.
    seconds: tuple[float | None, ...]
    problems: tuple[str, ...]
    # UTC, such as "2026-11-25".
    day: str

    @classmethod
    def of(cls, performance: Performance, versions: Versions) -> Result:
        """What a performance came to."""
        findings, scenario = performance.findings, performance.scenario
        seconds = tuple(mark.latency for mark in findings.marks if mark.fault != RECORD_START)
        day = datetime.datetime.now(datetime.UTC).date().isoformat()
        return cls(versions, scenario.name, scenario.title, seconds, tuple(findings.problems), day)

    def append_to(self, path: Path) -> None:
        """Adds it to a file of JSON lines."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(self)) + "\n")


def read_results(path: Path) -> list[Result]:
    """All results of a file, the oldest first; none where it does not exist."""
    if not path.exists():
        return []
    results = []
    for line in path.read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        seconds, problems = tuple(entry.pop("seconds")), tuple(entry.pop("problems"))
        versions = Versions(**entry.pop("versions"))
        results.append(Result(versions=versions, seconds=seconds, problems=problems, **entry))
    return results


def _output(*command: str) -> str:
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True).stdout
