"""A machine of its own for Tests/Package/rights: users, groups, files, the control service and the daemon."""

import ctypes
import fcntl
import os
import queue
import shutil
import signal
import socket
import sqlite3
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

DATABASE = Path("/var/lib/eegsync/eegsync.sqlite")
CONFIGURATION = """\
database: /var/lib/eegsync/eegsync.sqlite
central: {kind: simulation, seed: 1, headsets: [{name: left, model: buffered-eeg, serial: SIM-1}]}
headsets: [{name: left, model: buffered-eeg, serial: SIM-1}]
"""
# Numbers that no system of this kind has, so that no file of the machine is theirs.
SERVICE, READ, RECORD, ADMIN = 64101, 64102, 64103, 64104
GROUPS = {"eegsync": SERVICE, "eegsync-record": RECORD, "eegsync-admin": ADMIN}


@dataclass(frozen=True)
class User:
    """Somebody of this machine."""

    name: str
    number: int
    groups: tuple[int, ...]


USERS = (
    User("outside", 64110, ()),
    User("reader", 64111, (SERVICE,)),
    User("recorder", 64112, (SERVICE, RECORD)),
    User("administrator", 64113, (SERVICE, RECORD, ADMIN)),
    User("eegsync", SERVICE, (SERVICE,)),
    User("root", 0, (0,)),
)


def reading(sql: str) -> int:
    """A number, over a connection that only reads."""
    connection = sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True, timeout=5)
    try:
        return int(connection.execute(sql).fetchone()[0])
    finally:
        connection.close()


def primary(user: User) -> int:
    """The number of somebody's own group."""
    return user.groups[0] if user.number in (0, SERVICE) else READ


class Machine:
    """The users, the files, the control service and the daemon."""

    def __init__(self, program: str, mode: int) -> None:
        """Lays everything out in a mount namespace of its own."""
        self.program = program
        self.work = Path(tempfile.mkdtemp(prefix="eegsync-rights-"))
        self.work.chmod(0o755)
        self.run = self.work / "run"
        self.run.mkdir()
        libc = ctypes.CDLL(None, use_errno=True)
        clone_newns, private, recursive, bind = 0x20000, 1 << 18, 1 << 14, 1 << 12
        if libc.unshare(clone_newns) != 0 or libc.mount(b"none", b"/", None, private | recursive, None) != 0:
            raise OSError(ctypes.get_errno(), "no mount namespace")

        def put(source: Path, target: str) -> None:
            if libc.mount(bytes(source), target.encode(), None, bind, None) != 0:
                raise OSError(ctypes.get_errno(), f"cannot mount on {target}")

        lines = {"passwd": [], "group": []}  # type: dict[str, list[str]]
        for user in USERS:
            if user.number != 0:
                own = primary(user)
                lines["passwd"].append(f"{user.name}:x:{user.number}:{own}::/:/bin/sh")
        for name, number in GROUPS.items():
            members = [user.name for user in USERS if number in user.groups and user.number not in (0, SERVICE)]
            lines["group"].append(f"{name}:x:{number}:{','.join(members)}")
        for name, added in lines.items():
            text = Path(f"/etc/{name}").read_text(encoding="utf-8")
            kept = [line for line in text.splitlines() if line.split(":")[0] not in {a.split(":")[0] for a in added}]
            (self.work / name).write_text("\n".join(kept + added) + "\n", encoding="utf-8")
            put(self.work / name, f"/etc/{name}")
        for directory in ("/etc/eegsync", "/var/lib/eegsync"):
            Path(directory).mkdir(parents=True, exist_ok=True)
            inner = self.work / directory.replace("/", "-")
            inner.mkdir()
            put(inner, directory)
        os.chown(DATABASE.parent, SERVICE, SERVICE)
        DATABASE.parent.chmod(mode)
        (self.run / "eegsync").mkdir()
        os.chown(self.run / "eegsync", SERVICE, SERVICE)
        Path("/etc/eegsync/eegsync.yaml").write_text(CONFIGURATION, encoding="utf-8")
        self.control = self._listen("control", RECORD)
        threading.Thread(target=self._serve, daemon=True).start()
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notifications.bind(str(self.run / "notify"))
        (self.run / "notify").chmod(0o777)
        # Read at once, as by systemd: whoever notifies waits where nobody reads.
        self.said: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._hear, daemon=True).start()
        self.daemon: subprocess.Popen[bytes] | None = None

    def _listen(self, name: str, group: int) -> socket.socket:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(self.run / name))
        os.chown(self.run / name, 0, group)
        (self.run / name).chmod(0o660)
        listener.listen(64)
        return listener

    def _hear(self) -> None:
        while True:
            self.said.put(self.notifications.recv(4096).decode())

    def _serve(self) -> None:
        while True:
            connection, _ = self.control.accept()
            with connection:
                subprocess.Popen(self._as(USERS[4], "control"), stdin=connection.fileno(), stderr=subprocess.DEVNULL)

    def _as(self, user: User, *arguments: str) -> list[str]:
        """The program, run by somebody, with the mask of the unit."""
        shell = ["sh", "-c", 'umask 027; cd /; exec "$@"', "sh", self.program, *arguments]
        groups = ",".join(str(group) for group in user.groups)
        supplementary = f"--groups={groups}" if groups else "--clear-groups"
        return ["setpriv", f"--reuid={user.number}", f"--regid={primary(user)}", supplementary, *shell]

    def eegsync(self, user: User, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Runs a command as somebody."""
        environment = {"PATH": "/usr/bin:/bin", "EEGSYNC_CONTROL_SOCKET": str(self.run / "control")}
        return subprocess.run(
            self._as(user, *arguments), capture_output=True, text=True, env=environment, check=False, timeout=60
        )

    def inside(self, user: User, body: Callable[[], object]) -> str:
        """Does something in a process of somebody's: y, or n where an OSError or an error of SQLite refuses it."""
        child = os.fork()
        if child == 0:
            try:
                os.setgroups(list(user.groups))
                os.setgid(primary(user))
                os.setuid(user.number)
                body()
                os._exit(0)
            except (OSError, sqlite3.Error):
                os._exit(1)
            finally:
                os._exit(2)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return {0: "y", 1: "n"}.get(code, f"died: {code}")

    def start(self) -> None:
        """Starts the daemon, as the unit does, and returns once it is ready."""
        environment = {
            "NOTIFY_SOCKET": str(self.run / "notify"),
            "RUNTIME_DIRECTORY": str(self.run / "eegsync"),
            "WATCHDOG_USEC": "500000",
        }
        self.daemon = subprocess.Popen(self._as(USERS[4], "run"), env=environment, stderr=(self.work / "log").open("ab"))
        self.wait(lambda text: "READY=1" in text)
        # Commits come each second while somebody reads along.
        fcntl.lockf(os.open(f"{DATABASE}-follow", os.O_RDONLY), fcntl.LOCK_SH)

    def wait(self, condition: Callable[[str], bool], seconds: float = 60) -> None:
        """Waits for a notification of the daemon; one comes several times a second."""
        while not self.said.empty():
            self.said.get()
        for _ in range(1000):
            if condition(self.said.get(timeout=seconds)):
                return
        raise TimeoutError("the daemon does not get there")

    def stop(self) -> None:
        """Ends the daemon in order."""
        if self.daemon is not None:
            self.daemon.send_signal(signal.SIGTERM)
            self.daemon.wait(timeout=60)
            self.daemon = None

    def rows(self) -> int:
        """How many samples are committed."""
        return reading("SELECT count(*) FROM sample")

    def scratch(self, user: User) -> Path:
        """A directory of somebody's own."""
        path = self.work / f"of-{user.name}"
        path.mkdir(exist_ok=True)
        os.chown(path, user.number, primary(user))
        return path

    def close(self) -> None:
        """Ends the daemon, and removes the files."""
        self.stop()
        shutil.rmtree(self.work, ignore_errors=True)
