"""eegsync itself is killed or stopped."""

from __future__ import annotations

from functools import partial

from guest.lab import Lab
from lab.marks import Goal
from lab.scenario import Scenario


def _killed_while_streaming(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        lab.kill_acquisition("left", "killed while streaming")
    lab.undisturbed()


def _killed_while_connecting(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        lab.tell("vanish", "left")
        lab.pass_time(5)
        since = lab.tell("return", "left")
        # Within the first half second after the return the connection is being made, services are looked up, and so on.
        lab.pass_time(lab.random.uniform(0.02, 0.4))
        lab.acquisition.kill()
        lab.start_acquisition()
        lab.expect_return("left", since, "killed while connecting", Goal.GATE)
    lab.undisturbed()


def _killed_while_scanning(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.undisturbed()
    lab.tell("vanish", "left")
    lab.pass_time(20)
    for _ in range(3):
        lab.acquisition.kill()
        lab.start_acquisition()
        lab.pass_time(lab.random.uniform(1, 15))
    since = lab.tell("return", "left")
    lab.expect_return("left", since, "killed while scanning", Goal.RADIO)
    lab.undisturbed()


def _killed_while_draining(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.undisturbed()
    lab.away("left", 120, "away 120 s")
    for _ in range(3):
        lab.pass_time(lab.random.uniform(0.1, 1.5))
        lab.kill_acquisition("left", "killed while draining")
    lab.undisturbed()


def _stopped(lab: Lab, seconds: float) -> None:
    lab.start()
    lab.record("left")
    for _ in range(2):
        lab.undisturbed()
        lab.acquisition.stop()
        lab.pass_time(seconds)
        since = lab.acquisition.go_on()
        lab.expect_rows("left", since, f"SIGSTOP for {seconds:.0f} s", Goal.GATE)
    lab.undisturbed()


SCENARIOS = [
    Scenario(2, "kill-streaming", "eegsync killed (-9) while streaming", [_killed_while_streaming]),
    Scenario(2, "kill-connecting", "eegsync killed (-9) while connecting", [_killed_while_connecting]),
    Scenario(2, "kill-scanning", "eegsync killed (-9) while scanning", [_killed_while_scanning]),
    Scenario(2, "kill-draining", "eegsync killed (-9) while draining", [_killed_while_draining]),
    Scenario(3, "stop-5s", "eegsync stopped (SIGSTOP) for 5 s", [partial(_stopped, seconds=5)]),
    Scenario(3, "stop-60s", "eegsync stopped (SIGSTOP) for 60 s", [partial(_stopped, seconds=60)]),
]
