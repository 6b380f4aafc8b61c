"""eegsync itself is killed or stopped."""

from __future__ import annotations

from functools import partial

from guest.clock import now
from guest.lab import Lab
from lab.marks import Goal
from lab.scenario import Scenario, Step, through


def _killed_while_streaming(lab: Lab) -> None:
    lab.kill_acquisition("left", "killed while streaming")


def _killed_while_connecting(lab: Lab) -> None:
    lab.tell("vanish", "left")
    lab.pass_time(5)
    since = lab.tell("return", "left")
    # Within the first half second after the return the connection is being made, services are looked up, and so on.
    lab.pass_time(lab.random.uniform(0.02, 0.4))
    lab.acquisition.kill()
    lab.start_acquisition()
    lab.expect_return("left", since, "killed while connecting", Goal.GATE)


def _killed_while_scanning(lab: Lab) -> None:
    lab.tell("vanish", "left")
    lab.pass_time(20)
    for _ in range(3):
        lab.acquisition.kill()
        lab.start_acquisition()
        lab.pass_time(lab.random.uniform(1, 15))
    since = lab.tell("return", "left")
    lab.expect_return("left", since, "killed while scanning", Goal.RADIO)


def _killed_while_draining(lab: Lab) -> None:
    lab.away("left", 120, "away 120 s")
    for _ in range(3):
        lab.pass_time(lab.random.uniform(0.1, 1.5))
        lab.kill_acquisition("left", "killed while draining")


# A return takes less than this; how far apart the kills are. In seconds.
_RETURN_SECONDS = 0.5
_STEP_SECONDS = 0.02
# Within which time after its start eegsync has subscribed again on a link that is there.
_SUBSCRIBED_SECONDS = 0.015
# What eegsync's log calls the phases of a return.
_PHASES = ("searching", "establishing", "streaming")


def _killed_in_every_phase(
    lab: Lab, with_bluetoothd: bool = False, with_grace: bool = False, step_seconds: float = _STEP_SECONDS
) -> None:
    """At one instant after another of a return: of the search, the connection, the discovery, each request, and after it.

    Each second time that eegsync alone is killed, the headset vanishes while the next process subscribes, and that one is
    killed in the return that follows: bluetoothd (up to 5.85) keeps for ever an AcquireNotify whose link ended and whose
    process was killed, and no process gets the headset's notifications after that.
    """
    fault = "ended in every phase" if with_grace else "killed in every phase"
    instants = int(_RETURN_SECONDS / step_seconds)
    is_away = False
    for place in range(instants + len(_PHASES)):
        if not is_away:
            lab.tell("vanish", "left")
            lab.pass_time(5)
        lab.tell("return", "left")
        if place < instants:
            lab.pass_time((place + lab.random.random()) * step_seconds)
        else:
            # Each phase is met, also one that is shorter than a step.
            phase = _PHASES[place - instants]
            lab.require(lab.acquisition.wait_for_phase("left", phase, 10), f"the phase {phase} was not met")
        if with_grace:
            lab.require(lab.acquisition.program.end() == 0, "eegsync did not end with status 0")
            since = now()
        else:
            since = lab.acquisition.kill()
        if with_bluetoothd:
            lab.bluetooth.kill()
            lab.bluetooth.start()
        lab.start_acquisition()
        is_away = place % 2 == 0 and not (with_grace or with_bluetoothd)
        if is_away:
            # At once: in the middle of what the new process asks for.
            lab.pass_time(lab.random.uniform(0, _SUBSCRIBED_SECONDS))
            lab.tell("vanish", "left")
            lab.pass_time(5)
        else:
            lab.expect_return("left", since, fault, Goal.GATE, advertising=with_bluetoothd)
    if is_away:
        lab.tell("return", "left")


def _stopped(lab: Lab, seconds: float) -> None:
    lab.acquisition.stop()
    lab.pass_time(seconds)
    since = lab.acquisition.go_on()
    lab.expect_rows("left", since, f"SIGSTOP for {seconds:.0f} s", Goal.GATE)


def _scenario(number: int, name: str, title: str, fault: Step, times: int = 1) -> Scenario:
    # A killed process must lose nothing of what waits for its transaction.
    return Scenario(number, name, title, [through(fault, times)], has_spool=True)


SCENARIOS = [
    _scenario(2, "kill-streaming", "eegsync killed (-9) while streaming", _killed_while_streaming, times=3),
    _scenario(2, "kill-connecting", "eegsync killed (-9) while connecting", _killed_while_connecting, times=3),
    _scenario(2, "kill-scanning", "eegsync killed (-9) while scanning", _killed_while_scanning),
    _scenario(2, "kill-draining", "eegsync killed (-9) while draining", _killed_while_draining),
    _scenario(2, "kill-phases", "eegsync killed (-9) in every phase of a return", _killed_in_every_phase),
    _scenario(
        2,
        "kill-phases-both",
        "eegsync and bluetoothd killed (-9) in every phase of a return",
        partial(_killed_in_every_phase, with_bluetoothd=True),
    ),
    _scenario(
        2,
        "end-phases",
        "eegsync ended (SIGTERM) in every phase of a return",
        partial(_killed_in_every_phase, with_grace=True, step_seconds=0.05),
    ),
    _scenario(3, "stop-5s", "eegsync stopped (SIGSTOP) for 5 s", partial(_stopped, seconds=5), times=2),
    _scenario(3, "stop-60s", "eegsync stopped (SIGSTOP) for 60 s", partial(_stopped, seconds=60), times=2),
]
