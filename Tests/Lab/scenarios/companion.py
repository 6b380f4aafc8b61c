"""`eegsync companion` beside `eegsync run` on the same adapter, and a phone that looks, is refused, pairs, and commands."""

from __future__ import annotations

import re
import struct
from typing import Any

from guest.clock import NANOSECONDS, now, wait_for
from guest.lab import Lab
from guest.process import LabError, Program
from lab.marks import Goal
from lab.scenario import LEFT, Scenario
from radio.adapter import ADAPTER_ADDRESS

_STATUS, _HEADSETS, _CONTROL = (f"9984000{number}-8bc2-4951-8f5e-3f8d7b94806a" for number in (2, 3, 4))
_MANUFACTURER_DATA = "ff"
_NAME = "09"
_SEVERITY_GOOD, _SEVERITY_WORKING = 1, 2
_INSUFFICIENT_AUTHENTICATION, _INSUFFICIENT_ENCRYPTION = 0x05, 0x0F
_RECORD, _STOP, _MARK = b"\x01", b"\x02", b"\x03"
# What is published and advertised is there again so soon after the process was started anew; Linux advertises each 1.28 s.
_RESTORED_SECONDS = 1.0 + 1.28


def _phone(lab: Lab, *words: object) -> dict[str, Any]:
    return lab.headsets.ask("phone", *words)


def _companion(lab: Lab) -> Program:
    command = [lab.acquisition.program_path, "companion", "run", "--config", str(lab.acquisition.configuration)]
    return Program([*command, "--phones", str(lab.share / "phones")], lab.share / "companion.log")


def _status(lab: Lab) -> tuple[int, str]:
    value = bytes.fromhex(_phone(lab, "read", _STATUS)["value"])
    return value[1], value[4:].decode()


def _advertised(lab: Lab, seconds: float) -> dict[str, str]:
    found: dict[str, str] = _phone(lab, "scan", seconds)["found"].get(f"{ADAPTER_ADDRESS}/P", {})
    return found


def _looks(lab: Lab) -> None:
    """Anybody may look."""
    lab.wait_until(lambda: bytes.fromhex(_advertised(lab, 2).get(_NAME, "")).startswith(b"eegsync"), 20, "it is advertised")
    byte = bytes.fromhex(_advertised(lab, 3)[_MANUFACTURER_DATA])
    lab.require(byte[:4] == b"\xff\xff\x99\x84", f"the manufacturer specific data are {byte.hex()}")
    _phone(lab, "connect", ADAPTER_ADDRESS)
    lab.wait_until(lambda: _status(lab)[0] == _SEVERITY_GOOD, 20, "the phone reads that all is good")
    lab.require("left" in _status(lab)[1], f"the sentence is: {_status(lab)[1]}")
    for uuid in (_STATUS, _HEADSETS):
        lab.require(_phone(lab, "subscribe", uuid).get("error_code") is None, f"{uuid} cannot be subscribed")
    lab.pass_time(3)
    record = bytes.fromhex(_phone(lab, "take", _HEADSETS)["notified"][0][1])
    index, severity, flags, battery, newest, missing, gaps = struct.unpack("<BBBBIII", record[:16])
    lab.require((index, severity, flags) == (0, _SEVERITY_GOOD, 1), f"the record is {record.hex()}")
    lab.require(battery <= 100 and newest < 30 and missing == gaps == 0, f"the record is {record.hex()}")
    lab.require(record.endswith(b"\x04left"), f"the record is {record.hex()}")
    _phone(lab, "take", _STATUS)
    lab.away("left", 8, "away while a phone looks", Goal.RADIO)
    lab.pass_time(5)
    severities = [bytes.fromhex(value)[1] for _, value in _phone(lab, "take", _STATUS)["notified"]]
    lab.require(_SEVERITY_WORKING in severities and severities[-1] == _SEVERITY_GOOD, f"notified were {severities}")


def _is_refused(lab: Lab) -> None:
    """Nobody may command who was not paired for it."""
    answer = _phone(lab, "write", _CONTROL, (_STOP + b"left").hex())
    refusals = (_INSUFFICIENT_AUTHENTICATION, _INSUFFICIENT_ENCRYPTION)
    lab.require(answer.get("error_code") in refusals, f"a stranger's command was answered with {answer}")


def _pairs(lab: Lab) -> None:
    """The phone enters what `eegsync companion pair` shows."""
    log = lab.share / "pair.log"
    command = [lab.acquisition.program_path, "companion", "pair", "--phones", str(lab.share / "phones")]
    program = Program(command, log)
    program.start()
    lab.wait_until(lambda: "Open for" in log.read_text(encoding="utf-8"), 20, "the pairing opens")
    # A link keeps what the machine could show when it came about (net/bluetooth/hci_conn.c, io_capability).
    _phone(lab, "disconnect")
    lab.pass_time(2)
    _phone(lab, "connect", ADAPTER_ADDRESS)
    _phone(lab, "pair")
    if not wait_for(lambda: "Enter there" in log.read_text(encoding="utf-8"), 20):
        outcome = _phone(lab, "outcome")["outcome"]
        raise LabError(f"no passkey is shown; to the phone the pairing is: {outcome}")
    shown = re.search(r"Enter there: (\d{6})", log.read_text(encoding="utf-8"))
    if shown is None:
        raise LabError("no passkey is shown")
    _phone(lab, "enter", int(shown[1]))
    lab.wait_until(lambda: _phone(lab, "outcome")["outcome"] == "paired", 20, "the phone is paired")
    lab.require(program.status(20) == 0, "the pairing did not end in order")


def _commands(lab: Lab) -> None:
    """A paired phone marks, stops and records, and is notified what became of it."""
    lab.require(_phone(lab, "subscribe", _CONTROL).get("error_code") is None, "the results cannot be subscribed")
    for value in (_MARK + b"lights out", _STOP + b"left", _RECORD + b"left", _STOP + b"nobody"):
        answer = _phone(lab, "write", _CONTROL, value.hex())
        lab.require(answer.get("error_code") is None, f"a paired phone's command was answered with {answer}")
        lab.pass_time(6)
        results = [bytes.fromhex(result) for _, result in _phone(lab, "take", _CONTROL)["notified"]]
        lab.require(len(results) == 1 and results[0][0] == value[0], f"notified were {results}")
        lab.require((results[0][1] == 0) == (value[1:] != b"nobody"), f"{value!r} came to {results[0]!r}")
    lab.require(lab.annotation_count("left", "lights out") == 1, "the mark is not stored")


def _is_killed(lab: Lab, companion: Program) -> None:
    """What was published and advertised is there again at once, and the bond holds."""
    _phone(lab, "disconnect")
    lab.pass_time(2)
    companion.kill()
    lab.pass_time(1)
    since = now()
    companion.start()
    heard = int(_advertised(lab, 4).get("time", 2**62))
    lab.require((heard - since) / NANOSECONDS < _RESTORED_SECONDS, f"advertised {(heard - since) / NANOSECONDS:.2f} s later")
    log = (lab.share / "companion.log").read_text(encoding="utf-8")
    lab.require("refuses" not in log, "bluetoothd refused something")
    _phone(lab, "connect", ADAPTER_ADDRESS)
    lab.require(_status(lab)[0] == _SEVERITY_GOOD, "the status is not good again")
    answer = _phone(lab, "write", _CONTROL, (_MARK + b"still paired").hex())
    lab.require(answer.get("error_code") is None, f"the phone is not paired any more: {answer}")


def _look_and_command(lab: Lab) -> None:
    lab.start()
    lab.record("left")
    companion = _companion(lab)
    companion.start()
    _looks(lab)
    _is_refused(lab)
    _pairs(lab)
    _commands(lab)
    _is_killed(lab, companion)
    lab.undisturbed()
    lab.require(companion.end() == 0, "the companion did not end in order")


SCENARIOS = [
    Scenario(
        43,
        "companion",
        "a phone looks at the recording, pairs, commands; the companion is killed",
        [_look_and_command],
        headsets=(LEFT,),
        has_phone=True,
    )
]
