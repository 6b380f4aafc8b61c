"""The contract of `Central`, held against the centrals of this machine; Tests/CentralContract has its cases."""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

from guest import management
from guest.lab import Lab
from guest.process import LabError
from lab.scenario import LEFT, STRANGER, LabHeadset, Scenario, lab_headset

_SERIAL = lab_headset("thinkgear")


def _contract(lab: Lab, tested: LabHeadset, address_type: str) -> None:
    lab.start_bluetooth()
    # The contract begins with an adapter; bluetoothd was waited for until it shows one.
    lab.wait_until(management.has_adapter, 20, "the kernel has no adapter")
    program = Path(lab.acquisition.program_path).with_name("central-contract")
    if not program.exists():
        raise LabError(f"{program} is missing; build it with: swift build --product central-contract")
    headset: list[str | Path] = [lab.headsets.socket, tested.name, f"{tested.address}/{address_type}", tested.serial]
    done = subprocess.run(
        [program, lab.scenario.central, *headset],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    (lab.share / "contract.log").write_text(done.stdout, encoding="utf-8")
    if done.returncode != 0:
        broken = [line for line in done.stdout.splitlines() if not line.startswith("✔")]
        raise LabError("\n    ".join(["the contract of Central is broken:", *broken]))


SCENARIOS = [
    Scenario(
        0,
        "contract",
        "every sentence of the contract of Central, against bluetoothd",
        [partial(_contract, tested=LEFT, address_type="random")],
        headsets=(LEFT, STRANGER),
        timeout_seconds=240,
        is_recorded=False,
    ),
    Scenario(
        0,
        "contract-serial",
        "the contract of Central, as far as it applies to a serial port",
        [partial(_contract, tested=_SERIAL, address_type="classic")],
        headsets=(_SERIAL,),
        timeout_seconds=240,
        is_recorded=False,
    ),
    Scenario(
        0,
        "contract-kernel",
        "every sentence of the contract of Central, over the kernel's sockets",
        [partial(_contract, tested=LEFT, address_type="random")],
        central="kernel",
        headsets=(LEFT, STRANGER),
        timeout_seconds=240,
        is_recorded=False,
    ),
]
