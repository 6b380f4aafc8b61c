"""A headset in the air of the machine: the lab's, over a virtual adapter that the real bluetoothd has."""

from __future__ import annotations

import json
import os
import shlex

from unit.machine import wait_for
from unit.service import Service

_HEADSET = {"name": "Ganglion-58f3", "kind": "ganglion", "address": "C0:00:00:00:02:01", "seed": 21, "serial": ""}
_CONFIGURATION = """database: /var/lib/eegsync/eegsync.sqlite
central: {kind: bluez}
headsets:
  - name: left
    model: ganglion
    identifiers: ["C0:00:00:00:02:01"]
"""


def put_in_the_air(service: Service) -> None:
    """Puts an adapter with a headset into the machine, starts bluetoothd, and configures eegsync for it.

    The headset runs in the host's files, read-only, where Python has what it needs.
    """
    machine = service.machine
    lab, python = os.environ["EEGSYNC_LAB"], os.environ["EEGSYNC_LAB_PYTHON"]
    machine.run("mkdir -p /mnt/host && mount -t hostfs -o ro,/ none /mnt/host")
    for directory in ("dev", "proc", "sys", "run"):
        machine.run(f"mount --bind /{directory} /mnt/host/{directory}")
    machine.run(f"echo {shlex.quote(json.dumps({'headsets': [_HEADSET]}))} >/run/headsets.json")
    machine.run(
        f"systemd-run --unit=headsets chroot /mnt/host env PYTHONPATH={lab} PYTHONDONTWRITEBYTECODE=1 "
        f"{python} -B -m headsets /run/headsets.json --control /run/headsets.socket"
    )
    wait_for(lambda: machine.attempt("test -S /run/headsets.socket")[0] == 0, 120, "the headset is there")
    machine.run("systemctl stop eegsync; systemctl start bluetooth")
    machine.run(f"printf %s {shlex.quote(_CONFIGURATION)} >/etc/eegsync/eegsync.yaml; systemctl start eegsync")
