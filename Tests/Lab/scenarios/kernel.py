"""The same things happen to people who record without bluetoothd, over the kernel's sockets."""

from __future__ import annotations

import dataclasses

from guest.clock import now
from guest.lab import Lab
from guest.process import Program, output_of
from lab.marks import Goal
from lab.scenario import Scenario

from . import acquisition, adapter, capture, headset, impedance, range, recording, unbuffered  # noqa: A004, the scenarios

# What bluetoothd does or holds: there is nothing like it here.
_OF_BLUETOOTHD = ("kill-phases-both", "link-left-over", "other-client", "other-scan")


def _over_the_kernel(scenario: Scenario) -> Scenario:
    return dataclasses.replace(
        scenario, number=30, name=f"kernel-{scenario.name}", title=f"without bluetoothd: {scenario.title}", central="kernel"
    )


# What eegsync ends with where it finds a problem (sysexits.h, EX_UNAVAILABLE).
_UNAVAILABLE = 69


def _expect_doctor(lab: Lab, text: str) -> None:
    """The doctor calls it a problem."""
    output = output_of([lab.acquisition.program_path, "doctor", *_configuration(lab)], _UNAVAILABLE)
    lab.require(text in " ".join(output.split()), f"eegsync doctor does not say: {text}")


def _expect_line(lab: Lab, text: str, seconds: float = 20) -> None:
    lab.require(lab.acquisition.wait_for_line(text, seconds), f"the log does not say: {text}")


def _bluetoothd_stopped(lab: Lab, fault: str) -> None:
    """As its unit is stopped: it switches the adapter off."""
    since = now()
    lab.bluetooth.bluetoothd.end()
    lab.expect_return("left", since, fault, Goal.GATE, advertising=True)
    lab.undisturbed()


def _beside_bluetoothd(lab: Lab) -> None:
    lab.bluetooth.start()
    lab.bluetooth.wait_until_ready()
    lab.start_acquisition()
    lab.acquisition.command("record", "start", "left")
    _expect_line(lab, "bluetoothd runs beside eegsync")
    lab.pass_time(30)
    _expect_line(lab, "waiting for a person: bluetoothd runs beside eegsync")
    lab.require("EBUSY" in lab.acquisition.status_text(), "eegsync status does not say who is in the way")
    _expect_doctor(lab, "takes the channels of links (EBUSY)")
    _bluetoothd_stopped(lab, "bluetoothd stopped")
    # It comes while a headset streams.
    lab.bluetooth.start()
    lab.bluetooth.wait_until_ready()
    lab.pass_time(20)
    _bluetoothd_stopped(lab, "bluetoothd stopped once more")
    # It has left the bus by the time that the adapter is seen off.
    lab.bluetooth.start()
    lab.bluetooth.wait_until_ready()
    lab.pass_time(20)
    lab.acquisition.stop()
    lab.bluetooth.bluetoothd.end()
    lab.pass_time(1)
    since = lab.acquisition.go_on()
    lab.expect_return("left", since, "bluetoothd stopped while eegsync was held up", Goal.GATE, advertising=True)
    lab.undisturbed()


def _without_permission(lab: Lab) -> None:
    program = lab.acquisition.program
    command = program.command
    program.command = ["setpriv", "--inh-caps=-net_admin", "--bounding-set=-net_admin", *command]
    lab.start_acquisition()
    lab.acquisition.command("record", "start", "left")
    _expect_line(lab, "this process lacks CAP_NET_ADMIN")
    _expect_line(lab, "this user may not use it")
    _expect_doctor(lab, "eegsync lacks CAP_NET_ADMIN")
    program.end()
    program.command = command
    since = lab.start_acquisition()
    lab.expect_return("left", since, "permission granted", Goal.GATE)
    lab.undisturbed()


def _auto_with_bluetoothd(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    _expect_line(lab, "headsets are reached through bluetoothd: it runs")
    lab.undisturbed()


def _auto_alone(lab: Lab) -> None:
    lab.start_acquisition()
    lab.record("left")
    _expect_line(lab, "headsets are reached through the kernel's own sockets: bluetoothd does not run")
    lab.undisturbed()
    # The way stays the same when bluetoothd comes and goes.
    lab.bluetooth.start()
    lab.bluetooth.wait_until_ready()
    lab.pass_time(10)
    _bluetoothd_stopped(lab, "bluetoothd stopped")


def _scan_beside(lab: Lab) -> None:
    """A scan shows who is there and takes nothing from the daemon, whatever that is doing."""
    lab.start()
    lab.record("left")
    lab.undisturbed()
    missing = lab.missing("left")
    found = lab.acquisition.command("scan", "--all", "--seconds", "5")
    lab.require("BEEG-0666" in found, "the scan does not find the stranger")
    lab.require(lab.missing("left") == missing, "samples are missing although nothing but a scan took place")
    lost = lab.tell("vanish", "left")
    lab.pass_time(20)
    scan = Program([lab.acquisition.program_path, "scan", "--seconds", "8", *_configuration(lab)], lab.share / "scan.log")
    scan.start()
    lab.pass_time(3)
    lab.expect_return("left", lab.tell("return", "left"), "away while a scan runs", Goal.RADIO, lost)
    lab.require(scan.status(20) == 0, "the scan failed")
    lab.undisturbed()


def _ended_while_away(lab: Lab) -> None:
    """Nobody connects to a headset after the end of eegsync: while it waits for the headset, and while it scans."""
    lab.start()
    lab.record("left")
    for seconds in (3, 5, 8):
        lab.undisturbed()
        lost = lab.tell("vanish", "left")
        lab.pass_time(seconds)
        status = lab.acquisition.program.end()
        lab.require(status == 0, f"SIGTERM: exit {status}")
        end = lab.tell("return", "left") + 10_000_000_000
        while now() < end:
            lab.pass_time(0.2)
            lab.require(not lab.is_connected("left"), f"the headset is connected to after the end, {seconds} s after it left")
        since = lab.start_acquisition()
        lab.expect_return("left", since, "ended while away, started again", Goal.RADIO, lost)
    lab.undisturbed()


def _configuration(lab: Lab) -> list[str]:
    return ["--config", str(lab.acquisition.configuration)]


SCENARIOS = [
    *(
        _over_the_kernel(scenario)
        for module in (range, acquisition, headset, recording, unbuffered, capture, impedance)
        for scenario in module.SCENARIOS
        if scenario.name not in _OF_BLUETOOTHD and "bluetoothd" not in scenario.name
    ),
    *map(_over_the_kernel, adapter.WITHOUT_BLUETOOTHD),
    _over_the_kernel(Scenario(30, "beside-bluetoothd", "bluetoothd runs all the same", [_beside_bluetoothd])),
    _over_the_kernel(Scenario(30, "permission", "CAP_NET_ADMIN is lacking", [_without_permission])),
    _over_the_kernel(Scenario(30, "scan", "eegsync scan beside the daemon", [_scan_beside])),
    Scenario(16, "ended-away", "eegsync ended while the headset is away", [_ended_while_away]),
    _over_the_kernel(Scenario(30, "ended-away", "eegsync ended while the headset is away", [_ended_while_away])),
    Scenario(30, "auto-bluetoothd", "kind auto where bluetoothd runs", [_auto_with_bluetoothd], central="auto"),
    Scenario(30, "auto-alone", "kind auto where none runs", [_auto_alone], central="auto"),
]
