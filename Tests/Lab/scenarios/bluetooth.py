"""What happens to bluetoothd and to the link behind eegsync's back."""

from __future__ import annotations

import re
import sys

from guest.bluetooth import bluetoothctl
from guest.clock import now
from guest.lab import Lab
from guest.process import Program, output_of
from lab.marks import Goal
from lab.scenario import Scenario


def _bluetoothd_killed(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    # The kernel drops links that nobody holds after 2 s: one restart before that, two after.
    for seconds in (0.5, 5.0, 30.0):
        lab.undisturbed()
        lost = now()
        lab.bluetooth.kill()
        lab.pass_time(seconds)
        since = now()
        lab.bluetooth.start()
        lab.expect_return("left", since, f"bluetoothd killed, back after {seconds:g} s", Goal.SYSTEM, lost, advertising=True)
    lab.undisturbed()


def _bluetoothd_late(lab: Lab) -> None:
    lab.start_acquisition()
    lab.pass_time(1)
    lab.acquisition.command("record", "start", "left")
    lab.pass_time(20)
    since = now()
    lab.bluetooth.start()
    lab.expect_return("left", since, "bluetoothd started after eegsync", Goal.SYSTEM)
    lab.undisturbed()


def _disconnected(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for _ in range(3):
        lab.undisturbed()
        lost = now()
        bluetoothctl("disconnect", lab.address("left"))
        lab.expect_return("left", lost, "disconnected by another program", Goal.RADIO, lost, advertising=True)
    for _ in range(2):
        lab.undisturbed()
        lost = lab.tell("disconnect", "left")
        lab.expect_return("left", lost, "disconnected by the headset", Goal.RADIO, lost, advertising=True)
    lab.undisturbed()


def _blocked_device(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    for seconds in (5.0, 60.0):
        lab.undisturbed()
        address = lab.address("left")
        lost = now()
        bluetoothctl("block", address)
        lab.pass_time(seconds)
        since = now()
        bluetoothctl("unblock", address)
        lab.expect_return("left", since, "blocked and unblocked by a person", Goal.GATE, lost, advertising=True)
    lab.undisturbed()


def _left_by_another(lab: Lab) -> None:
    lab.start_bluetooth()
    output_of(["bluetoothctl", "--timeout", "3", "scan", "le"])
    bluetoothctl("connect", lab.address("left"))
    lab.pass_time(2)
    lab.start_acquisition()
    lab.record("left")
    lab.undisturbed()


def _held_by_another(lab: Lab) -> None:
    lab.start_bluetooth()
    output = lab.share / "other-client.log"
    other = Program([sys.executable, "-B", "-m", "guest.other_client", lab.address("left")], output)
    other.start()
    lab.wait_until(lambda: "holds it" in output.read_text(encoding="utf-8"), 20, "the other program connects")
    lab.start_acquisition()
    lab.record("left")
    lab.undisturbed()
    # The link must not go with it.
    other.kill()
    lab.undisturbed()


def _scanned_by_another(lab: Lab) -> None:
    """A desktop's Bluetooth panel that was left open: bluetoothd discovers as long as it is."""
    lab.start()
    scan = ["bluetoothctl", "--timeout", "100000", "scan", "on"]
    other = Program(scan, lab.share / "other-client.log")
    other.start()
    lab.record("left")
    for _ in range(4):
        lab.undisturbed()
        lab.away("left", lab.random.uniform(5, 25), "away while another program scans", Goal.RADIO)
    lab.undisturbed()
    other.kill()


# An unprivileged user, "nobody".
_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
_BUS = "org.freedesktop.DBus"


def _ask_bus(method: str, *arguments: str) -> list[str]:
    """Calls a method of the bus; the unique names in its answer."""
    command = ["dbus-send", "--system", "--print-reply", f"--dest={_BUS}", "/org/freedesktop/DBus", f"{_BUS}.{method}"]
    return re.findall(r'string "(:[0-9.]+)"', output_of([*command, *arguments]))


def _forged_signals(lab: Lab) -> None:
    """Somebody tells every program on the bus that the headset, the adapter and bluetoothd are gone."""
    lab.start()
    lab.record("left")
    lab.undisturbed()
    since = now()
    owner = _ask_bus("GetNameOwner", "string:org.bluez")[0]
    device = f"/org/bluez/hci0/dev_{lab.address('left').split('/')[0].replace(':', '_')}"
    for name in _ask_bus("ListNames"):
        removed = ["/", f"{_BUS}.ObjectManager.InterfacesRemoved"]
        for forged in (
            [*removed, f"objpath:{device}", "array:string:org.bluez.Device1"],
            [*removed, "objpath:/org/bluez/hci0", "array:string:org.bluez.Adapter1"],
            ["/org/freedesktop/DBus", f"{_BUS}.NameOwnerChanged", "string:org.bluez", f"string:{owner}", "string:"],
        ):
            output_of([*_NOBODY, "dbus-send", "--system", "--type=signal", f"--dest={name}", *forged])
    lab.pass_time(10)
    lab.require(lab.acquisition.first_sample_since("left", since, 0) is None, "a forged signal has ended the link")
    lab.expect_rows("left", now(), "forged signals", Goal.GATE)
    lab.undisturbed()


SCENARIOS = [
    Scenario(4, "forged-signals", "an unprivileged user says that all is gone", [_forged_signals]),
    Scenario(4, "bluetoothd-killed", "bluetoothd killed and restarted", [_bluetoothd_killed]),
    Scenario(4, "bluetoothd-late", "bluetoothd started after eegsync", [_bluetoothd_late]),
    Scenario(7, "disconnect", "link ended by a program or by the headset", [_disconnected]),
    Scenario(7, "block", "headset blocked and unblocked by a person", [_blocked_device]),
    Scenario(9, "link-left-over", "another program has left its link to the headset", [_left_by_another]),
    Scenario(9, "other-client", "another program holds the headset at start", [_held_by_another]),
    Scenario(9, "other-scan", "another program scans all the time", [_scanned_by_another]),
]
