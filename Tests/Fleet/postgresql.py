"""A PostgreSQL server of a test's own: in a directory, reached by a socket there and over no network; and what it costs."""

import os
import pathlib
import subprocess
from collections.abc import Iterator, Sequence
from typing import Self

# Of the kernel's clock in /proc, in a second.
TICKS = os.sysconf("SC_CLK_TCK")
OWNER = "owner"
DATABASE = "study"
# One that a server of the machine has not.
PORT = 54331
# Of the servers of a cluster of Citus.
CLUSTER_SETTINGS = {
    "shared_preload_libraries": "citus",
    # Shards are moved by logical replication.
    "wal_level": "logical",
    "citus.node_conninfo": "sslmode=disable",
    "max_connections": "200",
    "fsync": "off",
}


def newest_binaries() -> pathlib.Path:
    """Of the newest PostgreSQL that Debian has installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    if not found:
        raise SystemExit("PostgreSQL is not installed: apt-get install postgresql")
    return found[-1]


def as_server() -> list[str]:
    """What stands before a command of the server, which does not run as root."""
    return ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []


class Server:
    """A server that lasts as long as the block of a `with` statement."""

    def __init__(
        self, directory: pathlib.Path, settings: dict[str, str], binaries: pathlib.Path | None = None, port: int = PORT
    ) -> None:
        self.directory = directory
        self.port = port
        self.binaries = binaries or newest_binaries()
        self.data = directory / "data"
        self.settings = {"listen_addresses": "", "unix_socket_directories": str(directory), "port": str(port), **settings}

    def __enter__(self) -> Self:
        self.directory.mkdir(parents=True)
        if os.getuid() == 0:
            self._run("chown", "postgres:", str(self.directory))
        self._server(
            "initdb", "--auth=trust", f"--username={OWNER}", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--pgdata"
        )
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        options = " ".join(f"-c {name}='{value}'" for name, value in self.settings.items())
        self._server("pg_ctl", "--wait", f"--log={self.directory}/log", f"--options={options}", "start", "--pgdata")

    def stop(self) -> None:
        self._server("pg_ctl", "--mode=immediate", "--wait", "stop", "--pgdata")

    def _server(self, program: str, *options: str) -> None:
        # The output of a server goes into its log: who waits for the end of a pipe would wait for that of the server.
        self._run(*as_server(), str(self.binaries / program), *options, str(self.data))

    @staticmethod
    def _run(*command: str) -> None:
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL)

    def address(self, role: str, database: str = DATABASE) -> str:
        return f"postgresql:///{database}?host={self.directory}&port={self.port}&user={role}"

    def psql(self, role: str = OWNER, database: str = DATABASE) -> list[str]:
        """The command whose input are statements, and whose output are rows with a vertical line between the columns."""
        options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
        return [str(self.binaries / "psql"), *options, self.address(role, database)]

    def rows(self, statement: str, role: str = OWNER, database: str = DATABASE) -> list[list[str]]:
        answer = subprocess.run(
            self.psql(role, database), input=statement, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )
        return [line.split("|") for line in answer.stdout.splitlines()]

    def value(self, statement: str, role: str = OWNER, database: str = DATABASE) -> str:
        return self.rows(statement, role, database)[0][0]

    @property
    def postmaster(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split("\n", 1)[0])

    def processes(self) -> Iterator[tuple[int, str]]:
        """Each process but the postmaster, with what it is: a role's name, or that of a process of the server."""
        children = pathlib.Path(f"/proc/{self.postmaster}/task/{self.postmaster}/children").read_text()
        for process in map(int, children.split()):
            title = read(process, "cmdline").rstrip("\0").removeprefix("postgres: ")
            if title:
                yield process, title.split(f" {DATABASE} ")[0].strip()

    def cpu_seconds(self) -> dict[str, float]:
        """Processor time by what has taken it, user and system. Of processes that have ended the postmaster knows the sum."""
        seconds: dict[str, float] = {}
        for process, title in self.processes():
            seconds[title] = seconds.get(title, 0) + cpu_seconds(process)
        own, ended = cpu_times(self.postmaster)
        seconds.update({"postmaster": own, "ended": ended})
        return seconds

    def resident_bytes(self, processes: Sequence[int]) -> tuple[int, int]:
        """What processes have in memory: their own alone, and with equal parts of what several share (PSS of proc(5))."""
        own = shared = 0
        for process in processes:
            for line in read(process, "smaps_rollup").splitlines():
                name, _, size = line.partition(":")
                if name in ("Private_Clean", "Private_Dirty"):
                    own += int(size.split()[0]) * 1024
                elif name == "Pss":
                    shared += int(size.split()[0]) * 1024
        return own, shared


def read(process: int, name: str) -> str:
    """A file of a process in /proc; nothing of one that has ended."""
    try:
        return pathlib.Path(f"/proc/{process}/{name}").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def cpu_times(process: int) -> tuple[float, float]:
    """Processor time of a process in seconds, and that of its children which have ended; nothing of one that has ended."""
    fields = read(process, "stat").rpartition(")")[2].split()
    # Fields 14 to 17 of proc(5); here the third is the first.
    return ((int(fields[11]) + int(fields[12])) / TICKS, (int(fields[13]) + int(fields[14])) / TICKS) if fields else (0, 0)


def cpu_seconds(process: int) -> float:
    return sum(cpu_times(process))


class Session:
    """A connection that stays, so that what it costs is known apart."""

    END = "end of the rows"

    def __init__(self, server: Server, role: str, database: str = DATABASE) -> None:
        self.process = subprocess.Popen(
            server.psql(role, database), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
        )

    def rows(self, statement: str) -> list[list[str]]:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(f"{statement};\n\\echo {self.END}", file=self.process.stdin, flush=True)
        rows: list[list[str]] = []
        for line in self.process.stdout:
            if line == f"{self.END}\n":
                return rows
            rows.append(line.rstrip("\n").split("|"))
        raise SystemExit(f"psql could not: {statement}")

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()
