"""eegsync itself is killed or stopped."""

from __future__ import annotations

from functools import partial

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


def _stopped(lab: Lab, seconds: float) -> None:
    lab.acquisition.stop()
    lab.pass_time(seconds)
    since = lab.acquisition.go_on()
    lab.expect_rows("left", since, f"SIGSTOP for {seconds:.0f} s", Goal.GATE)


def _scenario(number: int, name: str, title: str, fault: Step, times: int = 1) -> Scenario:
    return Scenario(number, name, title, [through(fault, times)])


SCENARIOS = [
    _scenario(2, "kill-streaming", "eegsync killed (-9) while streaming", _killed_while_streaming, times=3),
    _scenario(2, "kill-connecting", "eegsync killed (-9) while connecting", _killed_while_connecting, times=3),
    _scenario(2, "kill-scanning", "eegsync killed (-9) while scanning", _killed_while_scanning),
    _scenario(2, "kill-draining", "eegsync killed (-9) while draining", _killed_while_draining),
    _scenario(3, "stop-5s", "eegsync stopped (SIGSTOP) for 5 s", partial(_stopped, seconds=5), times=2),
    _scenario(3, "stop-60s", "eegsync stopped (SIGSTOP) for 60 s", partial(_stopped, seconds=60), times=2),
]
