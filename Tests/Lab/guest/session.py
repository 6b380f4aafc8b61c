"""The second program that runs in the machine: performs one boot of a scenario and switches the machine off."""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

from guest.lab import Lab
from guest.power import cut_power, shut_down
from guest.process import LabError
from scenarios import find

SHARE = Path("/mnt/share")


def perform() -> bool:
    """Performs the step of this boot; True where the machine shall lose its power now."""
    order = json.loads((SHARE / "order.json").read_text(encoding="utf-8"))
    boot = order["boot"]
    scenario = find(order["scenario"])
    lab = Lab(scenario, SHARE, order["program"], order["seed"], boot)
    lab.switch_on()
    scenario.steps[boot](lab)
    if boot + 1 < len(scenario.steps):
        return True
    lab.finish()
    return False


def main() -> None:
    outcome = SHARE / "outcome"
    try:
        loses_power = perform()
    except LabError as error:
        outcome.write_text(f"failed: {error}\n", encoding="utf-8")
        loses_power = False
    except Exception:  # noqa: BLE001, whatever it is, the machine has to say it to the host
        outcome.write_text(f"failed: {traceback.format_exc()}", encoding="utf-8")
        loses_power = False
    else:
        outcome.write_text("power cut\n" if loses_power else "done\n", encoding="utf-8")
    sys.stdout.flush()
    if loses_power:
        # What the lab itself noted is no part of the experiment.
        for path in (outcome, SHARE / "marks.jsonl", *SHARE.glob("journals/*"), *SHARE.glob("state/*")):
            _write_back(path)
        cut_power()
    shut_down()


def _write_back(path: Path) -> None:
    if path.exists():
        with path.open("rb") as file:
            os.fsync(file.fileno())


main()
