"""Hours on a machine that nobody touches, in real time."""

from __future__ import annotations

import re

from unit.machine import MachineError, wait_for
from unit.service import Service

# Of the headset without memory.
_FREQUENCY = 256
_PARTS = 10
# As for three simulated weeks.
_MEMORY_RATIO = 1.1
# How often is asked: each question is work for the machine that is watched.
_LOOK_SECONDS = 20.0
_UNITS = {"s": 1, "m": 60, "h": 3600}


def seconds_of(text: str) -> float:
    """How long `2h`, `30m` or `90s` is; raises ValueError for anything else."""
    match = re.fullmatch(r"([0-9]+)([smh])", text)
    if match is None or int(match[1]) == 0:
        raise ValueError(f"{text} is no duration; write 2h, 30m or 90s")
    return float(int(match[1]) * _UNITS[match[2]])


def soak(service: Service, seconds: float) -> None:
    """Records so long: nothing is missing, the process is the same one, and its memory does not grow."""
    service.record()
    first, pid = service.newest()[1], service.property("MainPID")
    memory: list[int] = []
    with service.one_gap((), 0, f"in {seconds / 60:.0f} minutes"):
        for part in range(1, _PARTS + 1):
            _await_sample(service, first + round(_FREQUENCY * seconds * part / _PARTS), 1.05 * seconds / _PARTS + 120)
            memory.append(_resident_kilobytes(service))
    if service.property("MainPID") != pid:
        raise MachineError("the process is another one than at the beginning")
    service.figures.append("resident memory after each tenth, MB: " + " ".join(f"{size / 1000:.1f}" for size in memory))
    check_memory(memory)


def _await_sample(service: Service, n: int, seconds: float) -> None:
    wait_for(lambda: service.newest()[1] >= n, seconds, f"sample {n} is recorded", _LOOK_SECONDS)


def check_memory(kilobytes: list[int]) -> None:
    """Raises MachineError where the memory at the end is more than that of the first part allows."""
    if kilobytes[-1] > _MEMORY_RATIO * kilobytes[0]:
        raise MachineError(f"memory has grown from {kilobytes[0]} kB to {kilobytes[-1]} kB")


def _resident_kilobytes(service: Service) -> int:
    line = service.machine.run(f"grep VmRSS /proc/{service.property('MainPID')}/status")
    return int(line.split()[1])
