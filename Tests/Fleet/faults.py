#!/usr/bin/env python3
"""What goes wrong between fifty machines and their centre, for Tests/Fleet/run.

    faults.py PROGRAM DIRECTORY [CASE]...

Machines record in virtual time, a process each, and ship all at once: over a line that breaks amid a COPY, through packets
that are lost, or all of them (with network namespaces, which root alone makes), to a centre whose disk fills, with clocks that
are years away. After each of it compare.py says that every value, gap, annotation and time of each machine is at the centre,
and the centre's own audit that every row is there or in the ledger. The servers are of this file's own, in DIRECTORY, which is
made. Prints a line for each case; exit 1 where one does not hold.
"""

import concurrent.futures
import contextlib
import datetime
import json
import os
import pathlib
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from cases import CaseError, require
from line import Line
from postgresql import DATABASE, OWNER, Server

MACHINES = 50
# More than four blocks of 4,096 samples, which come by COPY.
SECONDS = 72
# How often a machine tries, as its service would.
TRIES = 40
PORT = 54335
LOSS_PERCENT = 5
# Of the addresses that are for measurements (RFC 2544), as no machine's own network has them.
NEAR, FAR = "198.19.77.1", "198.19.77.2"
CHECKOUT = pathlib.Path(__file__).resolve().parents[2]


class NotPermittedError(Exception):
    """Networks, or small disks, that this machine does not make."""


def prepare(*command: str) -> None:
    """Runs what wants rights, or a kernel, that not every machine has."""
    made = subprocess.run(command, check=False, capture_output=True, text=True) if os.getuid() == 0 else None
    if made is None or made.returncode:
        raise NotPermittedError(f"{' '.join(command)}: {made.stderr.strip() if made else 'only root may'}")


class Study:
    """A centre with machines, each with the database of a simulated recording."""

    def __init__(self, program: str, directory: pathlib.Path, server: Server, tablespace: str = "pg_default") -> None:
        self.program, self.directory, self.server = program, directory, server
        server.rows(f"CREATE DATABASE {DATABASE} TABLESPACE {tablespace}", database="postgres")
        self.run("centre", "init", "--database", server.address(OWNER))

    def run(self, *arguments: str, before: Sequence[str] = (), wanted: Sequence[int] = (0,)) -> str:
        command = [*before, self.program, *arguments]
        run = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
        said = (run.stdout + run.stderr).strip()
        require(run.returncode in wanted, f"{' '.join(arguments)}: exit code {run.returncode}: {said[:600]}")
        return said

    def holds(self, machines: "Sequence[Machine]") -> None:
        """Everything of each machine is there, and nothing else."""
        with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
            for machine, problem in zip(machines, pool.map(Machine.difference, machines), strict=True):
                require(not problem, f"{machine.role} and the centre differ: {problem}")
        require(self.server.value("SELECT count(*) FROM recording") == str(len(machines)), "there are other recordings")
        streams = "SELECT count(*), count(*) FILTER (WHERE is_whole(id)) FROM stream"
        total, whole = self.server.rows(streams)[0]
        require(int(total) >= len(machines) and total == whole, f"the audit of the centre holds for {whole} of {total} streams")


class Machine:
    """A machine of the study, which has recorded and not shipped."""

    def __init__(self, study: Study, number: int) -> None:
        self.study, self.role = study, f"pi-{number:02}"
        made = study.directory / self.role
        if not made.exists():
            study.run("demo", "--directory", str(made), "--seed", str(number), "--seconds", str(SECONDS))
        # A copy, so that each case begins with what nobody has confirmed.
        self.database = study.directory / f"{self.role}.sqlite"
        for beside in study.directory.glob(f"{self.database.name}-*"):
            beside.unlink()
        shutil.copy(made / "eegsync.sqlite", self.database)
        study.server.rows(f'CREATE ROLE "{self.role}" LOGIN', database="postgres")
        study.run("centre", "enrol", self.role, "--study", "sleep", "--database", study.server.address(OWNER))

    def ship(self, *options: str, to: str | None = None, before: Sequence[str] = (), wanted: Sequence[int] = (0,)) -> str:
        address = to or self.study.server.address(self.role)
        arguments = ["ship", "--once", "--to", address, "--database", str(self.database), *options]
        return self.study.run(*arguments, before=before, wanted=wanted)

    def ships_in_the_end(self, host: str, port: int, before: Sequence[str] = ()) -> int:
        """How often it had to try over a line that breaks."""
        address = f"postgresql://{self.role}@{host}:{port}/{DATABASE}?sslmode=disable"
        said = ""
        for number in range(1, TRIES + 1):
            said = self.ship(to=address, before=before, wanted=(0, 75))
            if "the centre has everything" in said.lower():
                return number
        raise CaseError(f"{self.role} has not sent everything in {TRIES} tries: {said[-300:]}")

    def difference(self) -> str:
        command = ["python3", "-B", str(CHECKOUT / "Tests/Fleet/compare.py"), str(self.database)]
        said = subprocess.run([*command, self.study.server.address(OWNER)], capture_output=True, text=True, check=False)
        return (said.stdout + said.stderr).strip()[:300] or ("" if said.returncode == 0 else "compare.py says nothing")


def machines(study: Study, count: int) -> list[Machine]:
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(lambda number: Machine(study, number), range(1, count + 1)))


def ship_all(fleet: Sequence[Machine], host: str, port: int, before: Sequence[str] = ()) -> list[int]:
    """All at once; how often each had to try."""
    with concurrent.futures.ThreadPoolExecutor(max_workers=len(fleet)) as pool:
        return list(pool.map(lambda machine: machine.ships_in_the_end(host, port, before), fleet))


def breaking_line(program: str, directory: pathlib.Path) -> str:
    """Fifty machines at once, over a line that breaks amid a COPY, and is slow."""
    with Server(directory / "server", {"fsync": "off", "max_connections": "200"}, port=PORT) as server:
        study = Study(program, directory, server)
        fleet = machines(study, MACHINES)
        line = Line(f"{server.directory}/.s.PGSQL.{PORT}")
        tries = ship_all(fleet, "127.0.0.1", line.port)
        line.end()
        require(line.broken_in_copy >= MACHINES // 3, f"{line.broken_in_copy} connections broke amid a COPY")
        study.holds(fleet)
        rows = server.value("SELECT sum(row_count) FROM sample_block")
        # A value that differs, and a block that is gone, would be noticed.
        streams = "SELECT st.uuid FROM stream AS st JOIN recording AS r ON r.id = recording_id"
        own = f"stream IN ({streams} WHERE r.role = '{fleet[0].role}')"
        server.rows(f"UPDATE sample_block SET c1[1] = c1[1] + 1 WHERE {own}")
        require(fleet[0].difference(), "values that differ are not noticed")
        server.rows(f"DELETE FROM sample_block WHERE {own}")
        require(server.value("SELECT bool_and(is_whole(id)) FROM stream") == "f", "blocks that are gone are not noticed")
    broken = f"{line.broken} of {line.connections} connections broke, {line.broken_in_copy} amid a COPY"
    return f"{rows} rows; {broken}; up to {max(tries)} tries"


@contextlib.contextmanager
def lossy_namespace(directory: pathlib.Path) -> Iterator[list[str]]:
    """A network of its own that reaches NEAR, and loses packets in both directions: what stands before a command in it."""
    name, near, far = f"eegsync-{os.getpid()}", f"n{os.getpid()}", f"f{os.getpid()}"
    within = ["ip", "netns", "exec", name]
    drop = f"meta l4proto tcp numgen random mod 100 < {LOSS_PERCENT} drop"
    rules = directory / "loss.nft"
    rules.write_text(
        "table inet loss {\n"
        + "".join(f"chain {hook} {{ type filter hook {hook} priority 0; {drop}; }}\n" for hook in ("input", "output"))
        + "}\n"
    )
    commands = [
        ["ip", "netns", "add", name],
        ["ip", "link", "add", near, "type", "veth", "peer", "name", far, "netns", name],
        ["ip", "address", "add", f"{NEAR}/30", "dev", near],
        ["ip", "link", "set", near, "up"],
        [*within, "ip", "address", "add", f"{FAR}/30", "dev", far],
        [*within, "ip", "link", "set", far, "up"],
        [*within, "ip", "link", "set", "lo", "up"],
        [*within, "nft", "--file", str(rules)],
    ]
    try:
        for command in commands:
            prepare(*command)
        yield within
    finally:
        subprocess.run(["ip", "link", "del", near], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def lost_packets(program: str, directory: pathlib.Path) -> str:
    """Packets are lost in both directions, and come late."""
    with Server(directory / "server", {"fsync": "off"}, port=PORT) as server, lossy_namespace(directory) as within:
        study = Study(program, directory, server)
        fleet = machines(study, 10)
        line = Line(f"{server.directory}/.s.PGSQL.{PORT}", NEAR, breaks=False, delay=0.1)
        tries = ship_all(fleet, NEAR, line.port, within)
        line.end()
        study.holds(fleet)
        counters = subprocess.run([*within, "cat", "/proc/net/snmp"], check=True, capture_output=True, text=True).stdout
        names, values = (line.split() for line in counters.splitlines() if line.startswith("Tcp:"))
        again = int(values[names.index("RetransSegs")])
    require(again > 0, "no packet was lost")
    return f"{LOSS_PERCENT} % each way, {again} segments sent again by machines; {max(tries)} tries"


def silence(program: str, directory: pathlib.Path) -> str:
    """A machine from which nothing comes any more amid a COPY: the server gives back what it holds."""
    with lossy_namespace(directory) as within:
        # Told nothing: no process of the server's machine sees an end.
        rule = [*within, "nft", "add", "rule", "inet", "loss"]
        with Server(directory / "server", {"fsync": "off", "listen_addresses": NEAR}, port=PORT) as server:
            with (server.data / "pg_hba.conf").open("a") as file:
                file.write("host all all samenet trust\n")
            server.rows("SELECT pg_reload_conf()", database="postgres")
            study = Study(program, directory, server)
            machine = Machine(study, 1)
            address = f"postgresql://{machine.role}@{NEAR}:{PORT}/{DATABASE}?sslmode=disable"
            options = ["ship", "--once", "--max-rate", "20k", "--to", address, "--database", str(machine.database)]
            shipping = subprocess.Popen([*within, program, *options], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            copying = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{machine.role}' AND query LIKE 'COPY%'"
            wait_for(lambda: server.value(copying) == "1", "a COPY")
            for chain in ("input", "output"):
                subprocess.run([*rule, chain, "drop"], check=True)
            begun = time.monotonic()
            there = f"SELECT count(*) FROM pg_stat_activity WHERE usename = '{machine.role}'"
            wait_for(lambda: server.value(there) == "0", "the end of a session of nobody")
            seconds = time.monotonic() - begun
            require(shipping.wait() == 75, f"ship ended with {shipping.returncode}")
            machine.ship()
            study.holds([machine])
    return f"after {seconds:.0f} s"


def wait_for(condition: Callable[[], bool], words: str) -> None:
    """Looks again and again, for three minutes at the most."""
    end = time.monotonic() + 180
    while not condition():
        require(time.monotonic() < end, f"waited in vain for {words}")
        threading.Event().wait(0.2)


@contextlib.contextmanager
def small_disk(directory: pathlib.Path, size: str) -> Iterator[pathlib.Path]:
    """A file system of that size."""
    disk = directory / "disk"
    disk.mkdir()
    try:
        prepare("mount", "-t", "tmpfs", "-o", f"size={size},mode=777", "tmpfs", str(disk))
    except NotPermittedError:
        disk.rmdir()
        raise
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=False)
        disk.rmdir()


def fill(disk: pathlib.Path, left: int) -> pathlib.Path:
    """A file that leaves so many bytes free."""
    filler = disk / "filler"
    state = os.statvfs(disk)
    with filler.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, state.f_bavail * state.f_frsize - left)
    return filler


def full_disk(program: str, directory: pathlib.Path) -> str:
    """The disk of the centre's tables fills, and has room again: nothing is confirmed that is not there."""
    with small_disk(directory, "200M") as disk, Server(directory / "server", {"fsync": "off"}, port=PORT) as server:
        space = disk / "tables"
        space.mkdir()
        shutil.chown(space, "postgres")
        server.rows(f"CREATE TABLESPACE small LOCATION '{space}'", database="postgres")
        study = Study(program, directory, server, "small")
        fleet = machines(study, 3)
        filler = fill(disk, 1_500_000)
        said = [machine.ship("--rows", "3000", wanted=(0, 75)) for machine in fleet]
        require("SQLSTATE 53100" in said[-1], f"another reason: {said}")
        there = int(server.value("SELECT coalesce(sum(row_count), 0) FROM sample_block"))
        require(not whole(fleet[-1]), f"a recording is confirmed that is not there; ship said {said}")
        for machine in fleet:
            problem = machine.difference() if whole(machine) else ""
            require(not problem, f"a recording of {machine.role} is confirmed that is not there: {problem}; ship said {said}")
        filler.unlink()
        for machine in fleet:
            machine.ship()
        study.holds(fleet)
        require(all(whole(machine) for machine in fleet), "what is there is not confirmed")
    return f"{there} rows were there when it was full"


def whole(machine: Machine) -> int:
    """How many recordings the machine may remove."""
    with contextlib.closing(sqlite3.connect(machine.database)) as database:
        count: int = database.execute("SELECT count(*) FROM whole_confirmation").fetchone()[0]
        return count


def full_log(program: str, directory: pathlib.Path) -> str:
    """The disk of the whole server fills, its log included: it stops, and goes on when it has room."""
    with small_disk(directory, "400M") as disk:
        disk.chmod(0o755)
        with Server(disk / "server", {"min_wal_size": "32MB", "max_wal_size": "32MB"}, port=PORT) as server:
            study = Study(program, directory, server)
            fleet = machines(study, 3)
            filler = fill(disk, 200_000)
            log = server.directory / "log"
            # Each takes what is left of a segment of the log, until there is none.
            with contextlib.suppress(subprocess.CalledProcessError):
                for _ in range(20):
                    server.rows("SELECT pg_logical_emit_message(false, 'eegsync', 'x'); SELECT pg_switch_wal()")
            said = [machine.ship(wanted=(75,)) for machine in fleet]
            require(not any(whole(machine) for machine in fleet), "a recording is confirmed that is not there")
            require("PANIC" in log.read_text(), f"the server did not end: {log.read_text()[-600:]}")
            filler.unlink()
            # It has ended, or tries to begin anew.
            with contextlib.suppress(subprocess.CalledProcessError):
                server.stop()
            server.start()
            for machine in fleet:
                machine.ship()
            study.holds(fleet)
    return f"ship said: {said[0].splitlines()[0][:90]}"


def wrong_clocks(program: str, directory: pathlib.Path) -> str:
    """A machine whose clock is years away while it ships, and one that has recorded so."""
    with Server(directory / "server", {"fsync": "off"}, port=PORT) as server:
        study = Study(program, directory, server)
        late, early, recorded, right = fleet = machines(study, 4)
        with contextlib.closing(sqlite3.connect(recorded.database)) as database:
            years = datetime.timedelta(days=20 * 365) // datetime.timedelta(microseconds=1) * 1000
            database.execute("UPDATE clock_offset SET offset_ns = offset_ns - ?, is_synchronised = 0", (years,))
            database.commit()
        for machine, shift in ((late, "-6y"), (early, "+10y")):
            # The clock that runs on by itself is right.
            machine.ship(before=["env", "FAKETIME_DONT_FAKE_MONOTONIC=1", "faketime", "-f", shift])
        recorded.ship()
        right.ship()
        study.holds(fleet)
        said = study.run("fleet", "--json", "--from", server.address(OWNER), wanted=(0, 69, 75))
        silent = {machine["machine"]: machine["is_silent"] for machine in json.loads(said)["machines"]}
        require(silent == {machine.role: False for machine in fleet}, f"the fleet says {silent}")
    return "6 years behind, 10 years ahead, and 20 years behind while it recorded"


CASES: dict[str, Callable[[str, pathlib.Path], str]] = {
    "breaks": breaking_line,
    "loss": lost_packets,
    "silence": silence,
    "disk": full_disk,
    "log": full_log,
    "clocks": wrong_clocks,
}


def main(program: str, directory: str, *names: str) -> int:
    failed = 0
    # Ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    work = pathlib.Path(directory)
    work.mkdir()
    work.chmod(0o755)
    for name in names or CASES:
        case = CASES[name]
        try:
            words = f"passed: {(case.__doc__ or '').rstrip('.')} ({case(program, work)})"
        except NotPermittedError as problem:
            words = f"left out: {name}: {problem}"
        except (CaseError, subprocess.SubprocessError) as problem:
            failed += 1
            output = getattr(problem, "stderr", None) or b""
            words = f"failed: {name}: {problem} {output.decode() if isinstance(output, bytes) else output}"
        print(words, flush=True)
        shutil.rmtree(work / "server", ignore_errors=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
