"""Who may what with a database of the service: does as each user everything that one may want, and compares what happened.

  Tests/Package/rights PROGRAM         prints the table; exit 0 where it is as the page on rights has it
  Tests/Package/rights --wide PROGRAM  the same in a directory that the group may write: a planted defect, which must be noticed

Root is needed. Users, groups, the configuration and the database are of a mount namespace of this process alone: nothing of the
machine is changed. The control service is what eegsync-control.socket makes it: a process for each connection.
"""

import fcntl
import json
import os
import signal
import sqlite3
import struct
import sys
from collections.abc import Callable
from pathlib import Path

from permissions.machine import DATABASE, READ, SERVICE, USERS, Machine, User, reading

# What happens, in the order of USERS: y where it is done; otherwise the exit code of eegsync, or n for a refusal of the kernel
# or of SQLite.
EXPECTED = {
    "read rows while the daemon runs": "n y y y y y",
    "read rows while it is stopped": "n y y y y y",
    "status": "77 y y y y y",
    "export": "77 y y y y y",
    "read the keys": "n n n n y y",
    "read the spool": "n n n n y y",
    "take the daemon's lock": "n n n n y y",
    "change a sample": "n n n n y y",
    "add a trigger": "n n n n y y",
    "remove the database": "n n n n y y",
    "write beside it": "n n n n y y",
    "mark": "77 77 y y y y",
    "import marks": "77 77 y y y y",
    "edit a recording": "77 77 y y y y",
    "pause, resume": "77 77 y y y y",
    "stop, start": "77 77 y y y y",
    "stop, start while it is stopped": "77 77 y y y y",
    "schedule": "77 77 y y y y",
    "rename a headset": "77 77 77 y y y",
    "prune": "77 77 77 y y y",
    "name another database": "77 77 77 77 y y",
}


def writing(sql: str) -> None:
    """Tries statements, and undoes them."""
    connection = sqlite3.connect(DATABASE, timeout=5, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(sql)
    connection.execute("ROLLBACK")
    connection.close()


def lock() -> None:
    """Takes the daemon's lock, or learns that the daemon has it."""
    with Path(f"{DATABASE}-lock").open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return


def remove() -> None:
    """Renames the database, and undoes it."""
    DATABASE.rename(f"{DATABASE}.gone")
    Path(f"{DATABASE}.gone").rename(DATABASE)


def write_beside() -> None:
    """Makes a file beside the database."""
    path = DATABASE.parent / "mine"
    path.write_text("mine", encoding="utf-8")
    path.unlink()


def read_spool(machine: Machine) -> None:
    """Reads what waits for its transaction."""
    for path in (machine.run / "eegsync").iterdir():
        path.read_bytes()
        return
    raise FileNotFoundError("there is no spool")


def commands(machine: Machine, user: User, *given: tuple[str, ...]) -> str:
    """Gives commands one after the other: y where all are done, else the first exit code that is not 0."""
    for arguments in given:
        result = machine.eegsync(user, *arguments)
        # What it judges of the recording is another matter.
        if result.returncode == 0 or (arguments == ("status",) and result.returncode in (69, 75)):
            continue
        if result.returncode == 77 and not any(
            word in result.stderr for word in ("join the group eegsync:", "eegsync-record", "eegsync-admin", "owner")
        ):
            return f"77 without a group: {result.stderr}"
        return str(result.returncode) if result.returncode == 77 else f"{result.returncode}: {result.stderr}"
    return "y"


def cells(machine: Machine, user: User) -> dict[str, str]:
    """Everything that one may want while the daemon runs, as one user."""
    events = machine.work / "events.csv"
    events.write_text(f"onset,description\n0.{user.number},imported\n", encoding="utf-8")
    events.chmod(0o644)
    trigger = "CREATE TRIGGER spy AFTER INSERT ON sample BEGIN DELETE FROM gap; END"
    elsewhere = f"{machine.work}/other/{user.name}.sqlite"
    inside: dict[str, Callable[[], object]] = {
        "read rows while the daemon runs": lambda: reading("SELECT max(n) FROM sample"),
        "read the keys": Path(f"{DATABASE}-keys").read_bytes,
        "read the spool": lambda: read_spool(machine),
        "take the daemon's lock": lock,
        "change a sample": lambda: writing("UPDATE sample SET c1 = 0 WHERE n = 1"),
        "add a trigger": lambda: writing(trigger),
        "remove the database": remove,
        "write beside it": write_beside,
    }
    given: dict[str, list[tuple[str, ...]]] = {
        "status": [("status",)],
        "export": [("export", "1", "--format", "csv", "-o", f"{machine.scratch(user)}/x.csv")],
        "mark": [("mark", f"by {user.name}")],
        "import marks": [("marks", "import", "1", str(events))],
        "edit a recording": [("recordings", "edit", "1", "--label", f"by {user.name}")],
        "pause, resume": [("pause",), ("resume",)],
        "stop, start": [("record", "stop", "left"), ("record", "start", "left")],
        "schedule": [("schedule", "add", "left", "--at", "22:00", "--for", "1h")],
        "prune": [("prune", "--before", "1990-01-01", "--yes")],
        "rename a headset": [("headsets", "rename", "left", "r"), ("headsets", "rename", "r", "left")],
        "name another database": [("record", "start", "left", "--model", "buffered-eeg", "--database", elsewhere)],
    }
    found = {name: machine.inside(user, body) for name, body in inside.items()}
    return found | {name: commands(machine, user, *orders) for name, orders in given.items()}


def table(machine: Machine) -> dict[str, list[str]]:
    """Everything, as everybody."""
    found: dict[str, list[str]] = {name: [] for name in EXPECTED}
    other = machine.work / "other"
    other.mkdir()
    os.chown(other, SERVICE, SERVICE)
    for user in USERS:
        for name, cell in cells(machine, user).items():
            found[name].append(cell)
    machine.stop()
    for user in USERS:
        found["read rows while it is stopped"].append(machine.inside(user, lambda: reading("SELECT max(n) FROM sample")))
        found["stop, start while it is stopped"].append(
            commands(machine, user, ("record", "stop", "left"), ("record", "start", "left"))
        )
    return found


def show(found: dict[str, list[str]]) -> int:
    """Prints the table, and how often it is not as it should be."""
    wrong = 0
    print(f"{'':34}" + "".join(f"{user.name:>14}" for user in USERS))
    for name, expected in EXPECTED.items():
        print(f"{name:34}" + "".join(f"{cell.splitlines()[0][:12]:>14}" for cell in found[name]))
        for user, cell, should in zip(USERS, found[name], expected.split(), strict=True):
            if cell != should:
                wrong += 1
                print(f"  {user.name}: {should} was expected, and this happened: {cell}")
    return wrong


def readers_cannot_hurt(machine: Machine) -> int:
    """What a reader of the group can do to a recording: stay for long, die, and hold a lock on purpose."""
    wrong = 0

    def check(what: str, holds: bool) -> None:
        nonlocal wrong
        wrong += not holds
        print(f"{'passed' if holds else 'FAILED'}: {what}")

    def more(than: int) -> bool:
        machine.wait(lambda _: machine.rows() > than)
        return True

    def hold(body: Callable[[], object]) -> int:
        """A reader who has done something, and stays."""
        ready, done = os.pipe()
        child = os.fork()
        if child == 0:
            os.setgroups([SERVICE])
            os.setgid(READ)
            os.setuid(USERS[1].number)
            kept = body()
            os.write(done, b"1" if kept is not None else b"0")
            signal.pause()
        os.close(done)
        if os.read(ready, 1) != b"1":
            raise OSError("the reader did not get there")
        os.close(ready)
        return child

    def end(child: int) -> None:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)

    def transaction() -> object:
        connection = sqlite3.connect(f"file:{DATABASE}?mode=ro", uri=True, isolation_level=None)
        connection.execute("BEGIN")
        connection.execute("SELECT max(n) FROM sample").fetchone()
        return connection

    before = machine.rows()
    child = hold(transaction)
    check("rows are committed while a reader stays in a transaction", more(before + 200))
    before = machine.rows()
    end(child)
    check("and after it has died in it", more(before + 200))

    def write_lock() -> object:
        # WAL_WRITE_LOCK, byte 120 of the shared memory: a lock for reading needs no right to write, and keeps writers out.
        file = os.open(f"{DATABASE}-shm", os.O_RDONLY)
        fcntl.fcntl(file, fcntl.F_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 120, 1, 0))
        return file

    child = hold(write_lock)
    held = machine.rows()
    for _ in range(8):
        machine.wait(lambda _: True)
    check(
        "a reader who locks on purpose holds commits up (a limit of SQLite's locks, which the page names)",
        machine.rows() == held,
    )
    status = machine.eegsync(USERS[1], "status")
    print(f"  status says meanwhile (exit code {status.returncode}): {status.stdout.strip().splitlines()[:4]}")
    end(child)
    check("what was held up is committed afterwards", more(held + 200))
    machine.stop()
    audit = machine.eegsync(USERS[1], "audit", "--json")
    check("the audit holds, asked by a reader while the daemon is stopped", audit.returncode == 0)
    others = reading("SELECT count(*) FROM gap WHERE cause NOT IN ('paused', 'notRequested', 'notSent')")
    print(f"  gaps of other causes than a person's: {others}")
    log = Path(f"{DATABASE}-wal").stat()
    check("the log that readers need stays, and is empty", log.st_size == 0)
    return wrong


def main() -> int:
    """Runs everything."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--wide"]
    if len(arguments) != 1 or os.geteuid() != 0:
        print(__doc__, file=sys.stderr)
        return 64
    is_wide = "--wide" in sys.argv
    machine = Machine(str(Path(arguments[0]).resolve()), 0o2770 if is_wide else 0o2750)
    try:
        keys = {"format": "eegsync pairing keys", "version": 1, "bonds": [], "link_keys": []}
        Path(f"{DATABASE}-keys").write_text(json.dumps(keys), encoding="utf-8")
        os.chown(f"{DATABASE}-keys", SERVICE, SERVICE)
        Path(f"{DATABASE}-keys").chmod(0o600)
        machine.start()
        started = machine.eegsync(USERS[4], "record", "start", "left")
        if started.returncode != 0:
            print(started.stderr)
            return 1
        machine.wait(lambda _: machine.rows() > 100)
        wrong = show(table(machine))
        machine.start()
        wrong += readers_cannot_hurt(machine)
    finally:
        machine.close()
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
