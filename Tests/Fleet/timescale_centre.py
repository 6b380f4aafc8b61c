"""Machines, and centres in databases with the extension TimescaleDB, for beside_timescale.py."""

import contextlib
import pathlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence

from postgresql import OWNER, Server

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
STUDIES = {"pi-1": "sleep", "pi-2": "other", "pi-3": "sleep"}
READERS = {"ada": "sleep", "bob": "other"}
# The participant of the first machine.
SUBJECT = "S01"
# So many that something else is done amid a shipment: some fifteen transactions, in some seconds.
SLOWLY = ("--rows", "1000", "--max-rate", "200k")
# All there is of it: rows, rights, chunks, jobs.
CLINIC_STATE = [
    "SELECT count(*), sum(pulse), md5(string_agg(v::text, ' ' ORDER BY v.time, v.bed, v.pulse)) FROM clinic.vitals AS v",
    "SELECT count(*), md5(string_agg(h::text, ' ' ORDER BY h.hour, h.bed)) FROM clinic.hourly AS h",
    """SELECT c.oid::regclass, c.relkind, c.relowner::regrole, c.relacl, c.relrowsecurity, (
            SELECT string_agg(format('%s %s', a.attname, a.atttypid::regtype), ', ' ORDER BY a.attnum)
            FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0)
        FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'clinic' OR n.nspname LIKE '\\_timescaledb%' ORDER BY 1""",
    "SELECT nspname, nspowner::regrole, nspacl FROM pg_namespace WHERE nspname ~ '^(clinic|_timescaledb.*)$' ORDER BY 1",
    "SELECT * FROM timescaledb_information.chunks ORDER BY hypertable_schema, hypertable_name, chunk_name",
    "SELECT job_id, application_name, owner, scheduled, config, hypertable_name FROM timescaledb_information.jobs ORDER BY 1",
]
AUDIT = "SELECT count(*) > 0 AND bool_and(is_whole(id)) FROM stream"


class Bench:
    """A server whose databases have the extension, the program, and what machines have recorded."""

    def __init__(self, program: str, directory: pathlib.Path, server: Server) -> None:
        self.program, self.directory, self.server = program, directory, server

    def run(self, *arguments: str) -> str:
        return ran([self.program, *arguments])

    def database(self, machine: str) -> pathlib.Path:
        return self.directory / f"{machine}.sqlite"

    def record(self, machine: str, seed: int) -> None:
        made = self.directory / f"{machine}.demo"
        self.run("demo", "--directory", str(made), "--seed", str(seed), "--seconds", "60")
        (made / "eegsync.sqlite").rename(self.database(machine))
        shutil.rmtree(made)
        if machine == "pi-1":
            self.run("recordings", "edit", "1", "--subject", SUBJECT, "--database", str(self.database(machine)))

    def recorded(self, machine: str, question: str) -> list[tuple[str | int, ...]]:
        """What the machine's own database says."""
        with contextlib.closing(sqlite3.connect(f"file:{self.database(machine)}?mode=ro", uri=True)) as own:
            return own.execute(question).fetchall()

    def uuid(self, machine: str) -> str:
        return str(self.recorded(machine, "SELECT uuid FROM recording")[0][0])


class Centre:
    """A centre in one database of the server."""

    def __init__(self, bench: Bench, name: str) -> None:
        self.bench, self.server, self.name = bench, bench.server, name

    def make_database(self) -> None:
        self.server.rows(f"CREATE DATABASE {self.name}", database="postgres")

    def address(self, role: str = OWNER) -> str:
        return self.server.address(role, self.name)

    def rows(self, statement: str, role: str = OWNER) -> list[list[str]]:
        return self.server.rows(statement, role, self.name)

    def value(self, statement: str, role: str = OWNER) -> str:
        return self.server.value(statement, role, self.name)

    def refuses(self, statement: str, role: str, words: str) -> None:
        command = self.server.psql(role, self.name)
        answer = subprocess.run(command, input=statement, capture_output=True, text=True, check=False)
        assert answer.returncode != 0 and words in answer.stderr, f"{role}: {statement}: {answer.stdout}{answer.stderr}"

    def centre(self, *arguments: str) -> str:
        return self.bench.run("centre", *arguments, "--database", self.address())

    def populate(self) -> None:
        for machine, study in STUDIES.items():
            self.centre("enrol", machine, "--study", study)
        for reader, study in READERS.items():
            self.centre("admit", reader, "--study", study)

    def shipping(self, machine: str) -> list[str]:
        """The command that ships what is there of a machine."""
        database = str(self.bench.database(machine))
        return [self.bench.program, "ship", "--once", "--to", self.address(machine), "--database", database]

    def ship(self, machine: str) -> None:
        assert "has everything that is recorded" in ran(self.shipping(machine))

    @contextlib.contextmanager
    def shipped_slowly(self, machine: str) -> Iterator[subprocess.Popen[str]]:
        """Ships a machine while something else is done; in the end everything is there."""
        command = [*self.shipping(machine), *SLOWLY]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            try:
                yield process
                said = process.communicate()[0]
            finally:
                process.kill()
        assert process.returncode == 0 and "has everything that is recorded" in said, said

    def is_same(self, machine: str) -> None:
        compare = str(CHECKOUT / "Tests/Fleet/compare.py")
        ran([sys.executable, "-B", compare, str(self.bench.database(machine)), self.address()])

    def is_whole(self) -> None:
        """The audit in SQL, of each stream."""
        assert self.value(AUDIT) == "t"

    def has_views(self, machines: Sequence[str]) -> None:
        """One for each name of a stream, with all rows; none of eegsync's tables is a hypertable."""
        for (name,) in {row for machine in machines for row in self.bench.recorded(machine, "SELECT name FROM stream")}:
            wanted = sum(
                int(self.bench.recorded(machine, f"SELECT count(*) FROM sample WHERE stream_id = {stream}")[0][0])
                for machine in machines
                for (stream,) in self.bench.recorded(machine, f"SELECT id FROM stream WHERE name = '{name}'")
            )
            assert self.rows(f"""SELECT count(*), count("time") FROM "{name}" """) == [[str(wanted), str(wanted)]]
        hypertables = "SELECT hypertable_name FROM timescaledb_information.hypertables WHERE hypertable_schema = 'public'"
        assert self.rows(hypertables) == []

    def clinic(self) -> list[list[list[str]]]:
        """All there is of what somebody else has."""
        return [self.rows(question) for question in CLINIC_STATE]

    @contextlib.contextmanager
    def untouched(self) -> Iterator[None]:
        """What somebody else has is as before."""
        before = self.clinic()
        yield
        for question, then, now in zip(CLINIC_STATE, before, self.clinic(), strict=True):
            assert then == now, f"{question}\n{then}\n{now}"


def ran(command: Sequence[str]) -> str:
    answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert answer.returncode == 0, f"{' '.join(command)}: exit code {answer.returncode}: {answer.stdout}"
    return answer.stdout
