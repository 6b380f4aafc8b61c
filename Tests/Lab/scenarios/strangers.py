"""Programs of others connect to `eegsync imitate` over the machine's bluetoothd: what they deliver is what it has played.

They are installed from PyPI, so they are performed only where they are named: `Tests/Lab/run strangers`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from checks.delivered import Numbers, Scale, compare_commands, compare_delivered, read_events
from checks.played import PlayedRow, PlayedRun, read_played
from guest.lab import Lab
from guest.process import LabError, Program
from lab.scenario import Scenario
from scenarios.imitation import start_imitation

_LISTEN_SECONDS = 10
# Scanning, connecting, what a program waits for by itself, listening, and the end.
_END_SECONDS = 90.0
_SHARE = 0.95
_PROGRAMS = Path(__file__).resolve().parent.parent / "programs"
# muselsl.muse, _unpack_eeg_channel; BrainFlow has the same (muse.cpp).
_MUSE = Scale(0.48828125, 2048)
# BrainFlow's ganglion_native.h: 1.2 V, 24 bits, gain 1.5 and an amplifier of 51.
_GANGLION = Scale(1.2e6 / (8388607.0 * 1.5 * 51.0))

_GANGLION_CYCLE = 201
_SERIAL = "2031-TZRW-1301"


@dataclass(frozen=True)
class _Stranger:
    name: str
    program: str
    arguments: tuple[str, ...]
    model: str
    frequency: float
    scale: Scale
    # By what the packets' numbers come; None where they are none that follow each other.
    numbers: Numbers | None
    # What the program writes; empty where it does not say so. Each command is answered.
    commands: tuple[str, ...] = ()
    # What the program makes of what was played.
    understood: Callable[[PlayedRun], PlayedRun] = lambda run: run
    # BrainFlow asks a Ganglion for its services at once; where computing takes no time, SimpleBLE has none yet.
    is_time_simulated: bool = True


def _by_brainflow(run: PlayedRun) -> PlayedRun:
    """What BrainFlow makes of the differences that a Ganglion with firmware 2 sends.

    The lowest bit of a difference is its sign, too. OpenBCI's library and eegsync leave it in the value, BrainFlow clears it.
    """
    rows: list[PlayedRow] = []
    before: list[int] = []
    lost: list[int] = []
    for row in run.rows:
        values = [value for value in row.values if value is not None]
        if row.index % _GANGLION_CYCLE == 0:
            lost = [0] * len(values)
        else:
            lost = [count + (last - value) % 2 for count, last, value in zip(lost, before, values, strict=True)]
        before = values
        understood = tuple(value + count for value, count in zip(values, lost, strict=True))
        rows.append(PlayedRow(row.index, row.boottime, understood))
    return PlayedRun(run.stream, rows)


def _listens(lab: Lab, stranger: _Stranger) -> None:
    lab.start_bluetooth()
    played = lab.share / "played.csv"
    headset = start_imitation(lab, stranger.model, "--seed", str(lab.random.randrange(1000)), "--played", str(played))
    lab.pass_time(2)
    python = os.environ["LAB_STRANGERS"]
    command = [python, "-B", str(_PROGRAMS / stranger.program), *stranger.arguments, str(_LISTEN_SECONDS)]
    log = lab.share / "stranger.log"
    program = Program(command, log)
    program.start()
    if program.status(_END_SECONDS) != 0:
        raise LabError(f"{stranger.program} failed: {log.read_text(encoding='utf-8', errors='replace')[-1500:]}")
    lab.pass_time(2)
    lab.require(headset.end() == 0, "the imitation did not end in order")
    for problem in _problems(read_events(log), stranger, lab):
        lab.require(False, problem)


def _problems(events: Sequence[dict[str, Any]], stranger: _Stranger, lab: Lab) -> list[str]:
    runs = [run for run in read_played(lab.share / "played.csv") if run.stream == "eeg"]
    if len(runs) != 1:
        return [f"the headset has begun {len(runs)} times"]
    rows: list[list[float]] = []
    numbers: list[float] = []
    for event in events:
        if event["event"] == "eeg":
            rows += event["rows"]
            numbers += event.get("numbers") or [event["number"]] * len(event["rows"])
    problems = compare_delivered(rows, stranger.scale, [stranger.understood(runs[0])]) + compare_commands(events, runs[0])
    if len(rows) < _SHARE * _LISTEN_SECONDS * stranger.frequency:
        problems.append(f"{len(rows)} rows were delivered in {_LISTEN_SECONDS} s")
    if stranger.numbers is not None:
        problems += stranger.numbers.compare(numbers)
    if stranger.commands:
        commands = tuple(event["text"] for event in events if event["event"] == "command")
        replies = "".join(event["text"] for event in events if event["event"] == "reply")
        if commands != stranger.commands or replies.count('"rc":0') != len(commands) or _SERIAL not in replies:
            problems.append(f"the commands {commands} were answered with {replies}")
    lab.note_figure(f"{len(rows)} rows of EEG were delivered, {len(runs[0].rows)} were played")
    return problems


_MUSE_NUMBERS = Numbers(rows=12, modulus=65_536)
_BOARD = "GANGLION_NATIVE_BOARD"
_STRANGERS = (
    _Stranger("muselsl-muse", "muselsl_reader.py", ("Muse-1301",), "muse", 256, _MUSE, _MUSE_NUMBERS, ("p21", "s", "d", "h")),
    _Stranger("brainflow-muse", "brainflow_reader.py", ("MUSE_2_BOARD", "Muse-1301", ""), "muse", 256, _MUSE, _MUSE_NUMBERS),
    _Stranger(
        "brainflow-ganglion",
        "brainflow_reader.py",
        (_BOARD, "Ganglion-a001", "fw:3"),
        "ganglion",
        199,
        _GANGLION,
        Numbers(rows=2, modulus=100, first=100),
        is_time_simulated=False,
    ),
    # The number of its first packet of a cycle stands for one row, those of the others for two.
    _Stranger(
        "brainflow-ganglion2",
        "brainflow_reader.py",
        (_BOARD, "Ganglion-a001", "fw:2"),
        "ganglion2",
        200,
        _GANGLION,
        None,
        understood=_by_brainflow,
        is_time_simulated=False,
    ),
)

SCENARIOS = [
    Scenario(
        45,
        f"strangers-{stranger.name}",
        f"a program of others ({stranger.program.partition('_')[0]}) records eegsync imitate {stranger.model}",
        [partial(_listens, stranger=stranger)],
        headsets=(),
        is_recorded=False,
        is_long=True,
        has_second_adapter=True,
        is_time_simulated=stranger.is_time_simulated,
    )
    for stranger in _STRANGERS
]
