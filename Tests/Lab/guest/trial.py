"""Shows that a kernel boots on this machine: leaves a file and switches the machine off."""

from __future__ import annotations

from pathlib import Path

from guest.power import shut_down

Path("/mnt/share/booted").touch()
shut_down()
