"""What people and machines do to a recording: stop it, end the daemon, cut the power, set the clock; and a whole night."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from guest.acquisition import Acquisition
from guest.clock import NANOSECONDS, now
from guest.lab import Lab
from lab.marks import Goal
from lab.scenario import SLOW, Scenario

_DAY_SECONDS = 86_400
# At 4 Hz each sample travels alone, and the headset holds it back for 0.1 s as it would wait for others.
_SLOW_ERROR = 0.15


def _stopped_by_operator(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.undisturbed()
    lab.acquisition.command("record", "stop", "left")
    lab.pass_time(3)
    lab.expect_no_rows("left", 20, "its recording was stopped")
    lab.record("left")
    lab.undisturbed()
    lab.tell("vanish", "left")
    lab.pass_time(5)
    lab.acquisition.command("record", "stop", "left")
    lab.pass_time(5)
    lab.tell("return", "left")
    lab.expect_no_rows("left", 20, "its recording was stopped while it was away")
    lab.acquisition.kill()
    lab.start_acquisition()
    lab.expect_no_rows("left", 20, "its recording was stopped before eegsync was restarted")


def _paused(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.undisturbed()
    lab.acquisition.command("pause")
    lab.pass_time(5)
    lab.expect_no_rows("left", 20, "everything was paused")
    lab.require(not lab.is_connected("left"), "a paused headset is still connected")
    lab.acquisition.kill()
    lab.start_acquisition()
    lab.expect_no_rows("left", 20, "everything was paused before eegsync was restarted")
    since = now()
    lab.acquisition.command("resume")
    lab.expect_return("left", since, "resumed after a pause", Goal.RADIO)
    lab.undisturbed()
    lab.require(lab.missing("left", "operator") > 0, "the pause is not in the ledger as the operator's")


def _second_daemon(lab: Lab) -> None:
    """A second daemon, with a database of its own, leaves the adapter to the first, and takes it when that has ended."""
    lab.start()
    lab.record("left")
    lab.undisturbed()
    directory = lab.share / "second"
    directory.mkdir()
    second = Acquisition(lab.acquisition.program_path, directory, lab.acquisition.headsets, lab.acquisition.central)
    second.configure()
    second.program.start()
    second.command("record", "start", "left")
    lab.require(second.wait_for_line("another eegsync has it", 10), "the second daemon does not say who has the adapter")
    lab.undisturbed(10)
    lab.require(lab.missing("left") == 0, "the second daemon cost samples")
    refused = subprocess.run(
        [second.program_path, "capture", "left", "-o", "-", "--seconds", "1", "--config", str(_other(lab, directory))],
        check=False,
        capture_output=True,
        text=True,
    )
    lab.require(
        refused.returncode != 0 and "another eegsync (pid" in refused.stderr, f"capture says {refused.stderr or 'nothing'}"
    )
    lab.acquisition.kill()
    lab.require(second.wait_for_line("the first sample of the link has arrived", 20), "the second daemon waits for ever")
    second.program.end()
    since = lab.start_acquisition()
    lab.expect_return("left", since, "restarted after another daemon", Goal.RADIO)
    lab.undisturbed()


def _other(lab: Lab, directory: Path) -> Path:
    """A configuration whose database has no daemon."""
    text = lab.acquisition.configuration.read_text(encoding="utf-8")
    path = directory / "other.yaml"
    path.write_text(text.replace("/eegsync.sqlite", "/other.sqlite"), encoding="utf-8")
    return path


def _terminated(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(2):
        lab.undisturbed()
        status = lab.acquisition.program.end()
        lab.require(status == 0, f"SIGTERM: exit {status}")
        lab.pass_time(0.5)
        lab.expect_no_rows("left", 10, "eegsync had ended")
        since = lab.start_acquisition()
        lab.expect_return("left", since, "restarted after SIGTERM", Goal.RADIO)
    lab.undisturbed()


def _until_power_cut(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    lab.pass_time(lab.random.uniform(5, 15))


def _after_power_cut(lab: Lab) -> None:
    since = now()
    lab.start()
    lab.expect_return("left", since, "power cut and boot of the machine", Goal.GATE)
    lab.undisturbed()


def _clock_stepped(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for step in (_DAY_SECONDS, -_DAY_SECONDS):
        lab.undisturbed()
        time.clock_settime(time.CLOCK_REALTIME, time.time() + step)
        lab.undisturbed()
        lab.away("left", 5, "away 5 s after the clock was set by a day")
    lab.undisturbed()


def _night(lab: Lab, hours: float, outages: int) -> None:
    lab.start()
    lab.record("left")
    end = now() + round(hours * 3600 * NANOSECONDS)
    faults = _NIGHTLY if lab.route == "bluez" else _NIGHTLY_ALONE
    while now() < end:
        lab.pass_time(lab.random.expovariate(outages / (hours * 3600)))
        lab.random.choice(faults)(lab)
    lab.undisturbed()


def _toss(lab: Lab) -> None:
    lab.away("left", lab.random.uniform(1, 20), "night: away for seconds")


def _bathroom(lab: Lab) -> None:
    lab.away("left", lab.random.uniform(60, 600), "night: away for minutes")


def _headset_hangs_up(lab: Lab) -> None:
    lost = lab.tell("disconnect", "left")
    lab.expect_return("left", lost, "night: headset disconnects", Goal.RADIO, lost, advertising=True)


def _crash(lab: Lab) -> None:
    lab.kill_acquisition("left", "night: eegsync killed")


def _bluetoothd_crash(lab: Lab) -> None:
    lab.kill_bluetooth("left", "night: bluetoothd killed")


# What goes wrong in a night, by how often.
_NIGHTLY_ALONE = [_toss, _toss, _toss, _bathroom, _bathroom, _headset_hangs_up, _crash]
_NIGHTLY = [*_NIGHTLY_ALONE, _bluetoothd_crash]


def _hour(lab: Lab) -> None:
    _night(lab, hours=1, outages=12)


def _eight_hours(lab: Lab) -> None:
    _night(lab, hours=8, outages=30)


SCENARIOS = [
    Scenario(8, "power-cut", "power cut of the machine", [_until_power_cut, _after_power_cut]),
    Scenario(16, "record-stop", "recording stopped by a person", [_stopped_by_operator]),
    Scenario(16, "pause", "everything paused by a person", [_paused]),
    Scenario(16, "second-daemon", "a second daemon on the same adapter", [_second_daemon]),
    Scenario(16, "sigterm", "eegsync ended and started again", [_terminated]),
    Scenario(17, "clock-step", "wall clock set by a day", [_clock_stepped]),
    Scenario(18, "hour", "an hour with outages", [_hour], headsets=(SLOW,), time_error_seconds=_SLOW_ERROR),
    Scenario(
        18,
        "night",
        "a night of 8 h with outages",
        [_eight_hours],
        headsets=(SLOW,),
        time_error_seconds=_SLOW_ERROR,
        timeout_seconds=1200.0,
        is_long=True,
    ),
]
