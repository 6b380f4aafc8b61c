"""A machine of the lab: a user-mode Linux kernel in simulated time."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
# Python, bluetoothd, the headsets and eegsync take 200 MB; the layer above the host's files takes the rest.
_MEMORY_MEGABYTES = 768


@dataclass(frozen=True)
class Machine:
    """What a machine needs. It can be booted again and again with the same directory, as with the same disk."""

    kernel: Path
    share: Path
    # Idle time costs nothing and computing takes no time. False: the clock is the host's, for throughput.
    is_time_simulated: bool = True
    # The module that is run in the machine.
    module: str = "guest.session"
    # A directory with bluetoothd of another Debian (bluez/fetch); without it this machine's runs.
    bluez: Path | None = None

    def run(self, timeout_seconds: float) -> bool:
        """Boots it and waits until it has ended; False where it had to be killed."""
        command = [
            str(self.kernel),
            f"mem={_MEMORY_MEGABYTES}M",
            "root=/dev/root",
            "rootfstype=hostfs",
            "rootflags=/",
            "ro",
            f"init={LAB}/guest/init",
            "con=null",
            "con0=null,fd:1",
            "quiet",
            "loglevel=4",
            "panic=-1",
            "random.trust_cpu=on",
            # A source of chance that reads the clock until it moves: for ever, where time is simulated (Linux 6.12).
            "initcall_blacklist=jent_mod_init",
            # The kernel hands to its first process what it does not know itself.
            f"LAB={LAB}",
            f"LAB_SHARE={self.share}",
            f"LAB_PYTHON={sys.executable}",
            f"LAB_MODULE={self.module}",
            # floor/reader.c; built by Tests/Lab/run.
            f"LAB_READER={os.environ.get('EEGSYNC_LAB_READER', '')}",
            # Python with programs of others, where scenarios that want them were named.
            f"LAB_STRANGERS={os.environ.get('EEGSYNC_LAB_STRANGERS', '')}",
            f"LAB_BLUEZ={self.bluez or ''}",
        ]
        if self.is_time_simulated:
            command.append("time-travel=inf-cpu")
        memory = _place_of_memory()
        with (
            tempfile.TemporaryDirectory(prefix="eegsync-lab.", dir=memory) as place,
            (self.share / "kernel.log").open("ab") as log,
        ):
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_environment(place),
                # Each process of the machine is one of the host, in the machine's own group.
                start_new_session=True,
            )
            try:
                process.wait(timeout_seconds)
            except subprocess.TimeoutExpired:
                return False
            finally:
                _end_group(process)
            return True


def _environment(place: str) -> dict[str, str]:
    environment = {"TMPDIR": place, "HOME": place, "PATH": os.environ["PATH"]}
    # See kernel/registers.c; built by Tests/Lab/run.
    if "EEGSYNC_LAB_PRELOAD" in os.environ:
        environment["LD_PRELOAD"] = os.environ["EEGSYNC_LAB_PRELOAD"]
    return environment


def _end_group(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, 9)
    process.wait()


def _place_of_memory() -> str | None:
    """Where the file that is the machine's memory lies: in memory, where that is large enough."""
    place = "/dev/shm"
    if os.access(place, os.W_OK) and shutil.disk_usage(place).free > 2 * _MEMORY_MEGABYTES * 1_000_000:
        return place
    return None


def _try(kernel: Path) -> bool:
    """Whether a kernel boots on this machine and ends when it is told to."""
    with tempfile.TemporaryDirectory(prefix="eegsync-lab.") as directory:
        share = Path(directory)
        return Machine(kernel, share, module="guest.trial").run(30) and (share / "booted").exists()


if __name__ == "__main__":
    sys.exit(0 if _try(Path(sys.argv[1])) else 1)
