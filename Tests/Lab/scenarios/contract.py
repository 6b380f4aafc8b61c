"""The contract of `Central`, held against the centrals of bluetoothd and of the kernel's sockets; its cases are in
Tests/CentralContract."""

from __future__ import annotations

import subprocess
from pathlib import Path

from guest.lab import Lab
from guest.process import LabError
from lab.scenario import LEFT, STRANGER, Scenario


def _contract(lab: Lab) -> None:
    lab.start_bluetooth()
    program = Path(lab.acquisition.program_path).with_name("central-contract")
    if not program.exists():
        raise LabError(f"{program} is missing; build it with: swift build --product central-contract")
    headset = [lab.headsets.socket, LEFT.name, f"{LEFT.address}/random", LEFT.serial]
    done = subprocess.run(
        [program, lab.scenario.central, *headset], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
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
        [_contract],
        headsets=(LEFT, STRANGER),
        timeout_seconds=240,
        is_recorded=False,
    ),
    Scenario(
        0,
        "contract-kernel",
        "every sentence of the contract of Central, over the kernel's sockets",
        [_contract],
        central="kernel",
        headsets=(LEFT, STRANGER),
        timeout_seconds=240,
        is_recorded=False,
    ),
]
