#!/usr/bin/env python3
"""A centre that loses what it had, or in which somebody has written what no machine says, for Tests/Fleet/run.

    forgetful.py PROGRAM DIRECTORY [CASE]...

The server is one of its own in DIRECTORY, which is made. Prints what of each case was not as it should be; exit 1 then.

Rows are checked by the centre itself before they are there. So what a reader or a machine does where one that was not is there
is tried in a database whose checks are dropped, as one of an earlier version has rows from before.
"""

import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from cases import CaseError, require
from postgresql import DATABASE, OWNER, Server

# How long it may take until what is gone is noticed, in seconds: ended recordings are looked at each five rounds here.
LOOK_SECONDS = 200
# The last one that ends in order; above it, a signal has ended the process.
EXIT_CODES = 127


class Study:
    """A centre with machines, each with the database of a simulated recording."""

    def __init__(self, program: str, directory: pathlib.Path, server: Server) -> None:
        self.program, self.directory, self.server = program, directory, server
        server.rows(f"CREATE DATABASE {DATABASE}", database="postgres")
        self.run("centre", "init", "--database", self.owner)
        server.rows("CREATE ROLE reader LOGIN")
        self.machines = 0

    @property
    def owner(self) -> str:
        return self.server.address(OWNER)

    def run(self, *arguments: str, wanted: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
        run = subprocess.run([self.program, *arguments], capture_output=True, text=True, encoding="utf-8", check=False)
        said = (run.stdout + run.stderr).strip()
        require(run.returncode in wanted, f"eegsync {' '.join(arguments)}: exit code {run.returncode}: {said[:600]}")
        return run

    def machine(self, seconds: int = 60) -> "Machine":
        self.machines += 1
        return Machine(self, f"pi-{self.machines}", seconds)

    def drop_checks(self) -> None:
        self.server.rows("""
            DO $$ DECLARE item record; BEGIN
                FOR item IN SELECT conrelid::regclass AS relation, conname FROM pg_constraint
                    WHERE contype = 'c'
                        AND conrelid IN ('sample_block'::regclass, 'sample_patch'::regclass, 'shipment'::regclass)
                LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', item.relation, item.conname); END LOOP;
            END $$""")


class Machine:
    """A machine that has recorded, and has not sent anything yet."""

    def __init__(self, study: Study, role: str, seconds: int) -> None:
        self.study, self.role = study, role
        directory = study.directory / role
        study.run("demo", "--directory", str(directory), "--seed", role.removeprefix("pi-"), "--seconds", str(seconds))
        self.path = directory / "eegsync.sqlite"
        self.destination = f"{study.server.directory}/{DATABASE}"
        study.server.rows(f'CREATE ROLE "{role}" LOGIN')
        study.run("centre", "enrol", role, "--study", "sleep", "--database", study.owner)
        study.run("centre", "admit", "reader", "--study", "sleep", "--database", study.owner)

    def rows(self, statement: str) -> list[tuple[object, ...]]:
        with contextlib.closing(sqlite3.connect(self.path, timeout=30)) as connection, connection:
            return connection.execute(statement).fetchall()

    def script(self, statements: str) -> None:
        with contextlib.closing(sqlite3.connect(self.path, timeout=30)) as connection:
            connection.executescript(statements)

    def ship(self, wanted: Sequence[int] = (0,)) -> subprocess.CompletedProcess[str]:
        return self.study.run("ship", "--once", *self.options(), wanted=wanted)

    def options(self) -> list[str]:
        return ["--to", self.study.server.address(self.role), "--database", str(self.path)]

    @contextlib.contextmanager
    def shipping(self) -> Iterator[pathlib.Path]:
        """Ships for as long as the block lasts; gives where it says what is wrong."""
        log = self.path.parent / "log"
        arguments = [self.study.program, "ship", "--ended-rounds", "5", *self.options()]
        with log.open("w") as errors:
            self.process = process = subprocess.Popen(arguments, stderr=errors)
            try:
                yield log
            finally:
                require(process.poll() is None, f"ship has ended with {process.returncode}: {log.read_text()}")
                process.terminate()
                process.wait()

    def until(self, condition: Callable[[], bool], seconds: float, words: str) -> None:
        """Looks once a second, while ship goes on."""
        end = time.monotonic() + seconds
        while not condition():
            require(time.monotonic() < end, words)
            with contextlib.suppress(subprocess.TimeoutExpired):
                raise CaseError(f"ship has ended with {self.process.wait(timeout=1)}")

    @property
    def uuid(self) -> str:
        return str(self.rows("SELECT uuid FROM recording WHERE id = 1")[0][0])

    @property
    def stream(self) -> str:
        return str(self.rows("SELECT uuid FROM stream WHERE recording_id = 1 ORDER BY id LIMIT 1")[0][0])

    def is_confirmed(self) -> bool:
        return bool(self.rows("SELECT 1 FROM whole_confirmation WHERE recording_id = 1"))

    def difference(self) -> str:
        """What the centre holds otherwise than the machine; nothing where both are the same."""
        compare = pathlib.Path(__file__).with_name("compare.py")
        run = subprocess.run(
            [sys.executable, "-B", str(compare), str(self.path), self.study.owner], capture_output=True, text=True, check=False
        )
        return (run.stdout + run.stderr).strip() or "compare.py failed" if run.returncode else ""

    def is_whole(self) -> bool:
        return self.is_confirmed() and not self.difference()


FORGET = "TRUNCATE recording CASCADE; TRUNCATE sample_block, sample_patch, shipment"


def marked_after_erasure(study: Study) -> None:
    """A mark behind an erasure makes no stub that counts as whole."""
    machine = study.machine()
    with machine.shipping():
        machine.until(machine.is_whole, LOOK_SECONDS, "the recording is not confirmed")
        study.server.rows(FORGET)
        study.run("mark", "after the erasure", "--recording", "1", "--database", str(machine.path))
        machine.until(
            machine.is_whole, LOOK_SECONDS, "the centre has not everything of a recording that it has erased and that is marked"
        )


def forgotten(study: Study) -> None:
    """What the centre has lost is sent anew, and what it does not take is confirmed no more."""
    machines = [study.machine() for _ in range(4)]
    whole, kept, partly, older = machines
    for machine in machines:
        study.run("recordings", "edit", "1", "--subject", machine.role, "--database", str(machine.path))
    with contextlib.ExitStack() as stack:
        logs = [stack.enter_context(machine.shipping()) for machine in machines]
        for machine in machines:
            machine.until(machine.is_whole, 60, f"the recording of {machine.role} is not confirmed")
        study.server.rows(f"""
            CREATE TABLE lying AS SELECT * FROM sample_block WHERE stream = '{kept.stream}';
            SELECT erase_subject('{whole.role}'); SELECT erase_subject('{kept.role}');
            INSERT INTO sample_block SELECT * FROM lying; DROP TABLE lying;
            DELETE FROM recording_series WHERE table_name = 'arrival' AND recording_id = (
                SELECT id FROM recording WHERE role = '{partly.role}');
            UPDATE recording_series SET row_count = row_count - 1 WHERE table_name = 'process' AND recording_id = (
                SELECT id FROM recording WHERE role = '{older.role}')""")
        # Blocks that lie there without their stream keep the key.
        kept.until(
            lambda: not kept.is_confirmed(), LOOK_SECONDS, "a recording that the centre does not take is confirmed still"
        )
        words = "is not sent: the centre refused it: duplicate key"
        kept.until(lambda: words in logs[1].read_text(), LOOK_SECONDS, "it is not said why")
        for machine in (whole, partly, older):
            machine.until(
                machine.is_whole, LOOK_SECONDS, f"the centre has not everything of {machine.role}: {machine.difference()}"
            )


def taken_with_watermark(study: Study) -> None:
    """Samples that are taken away with their watermark, while a machine is connected, are sent again."""
    machine = study.machine()
    own = f"stream = '{machine.stream}'"
    with machine.shipping():
        machine.until(machine.is_whole, LOOK_SECONDS, "the recording is not confirmed")
        study.server.rows(f"DELETE FROM sample_block WHERE {own}; DELETE FROM shipment WHERE {own}")
        machine.until(lambda: not machine.difference(), LOOK_SECONDS, "what is missing is not noticed")
        machine.until(machine.is_whole, LOOK_SECONDS, "it is not confirmed")


def lying_fleet(study: Study) -> None:
    """Whatever a machine says of itself, `fleet` ends in order."""
    study.server.rows("CREATE DATABASE liar", database="postgres")
    columns = """study text, machine text, machine_uuid uuid, version text, contact_seconds float8, has_said boolean,
        is_acquiring boolean, problem text, alerts text[], free_bytes bigint, disk_days float8, headset text, model text,
        is_wanted boolean, severity text, sentence text, headset_alerts text[], battery_percent float8, newest_seconds float8,
        delay_seconds float8, backlog_seconds float8, gaps_today bigint, missing_today_seconds float8, newest_unix_ns bigint,
        recording_id bigint"""
    study.server.rows(f"CREATE TABLE fleet ({columns})", database="liar")
    centre = study.server.address(OWNER, "liar")
    for value in ("1e300", "-1e300", "NaN", "Infinity", "-Infinity", "9.3e18", "-9.3e18", "0"):
        for number in ("9223372036854775807", "-9223372036854775808"):
            real = f"'{value}'::float8"
            study.server.rows(
                f"""TRUNCATE fleet; INSERT INTO fleet
                    SELECT 'sleep', 'pi-1', NULL, '1', contact, true, true, NULL, '{{}}', {number}, {real}, 'demo', 'm',
                        true, 'good', 's', '{{}}', {real}, {real}, {real}, {real}, {number}, {real}, {number}, {number}
                    FROM (VALUES (3::float8), ({real})) AS t (contact)""",
                database="liar",
            )
            study.run("fleet", "--from", centre, wanted=(0, 69, 75))
            json.loads(study.run("fleet", "--json", "--from", centre, wanted=(0, 69, 75)).stdout)


def hostile_blocks(study: Study) -> None:
    """What cannot be read back is refused, and leaves nothing."""
    machine = study.machine()
    machine.ship()
    study.drop_checks()
    arrays = ", ".join(["'{{1,2,3}}'"] * 8)
    names = ", ".join(f"c{channel}" for channel in range(1, 9))
    output = study.directory / "fetched"
    output.mkdir()
    reader = ["--from", study.server.address("reader")]
    blocks = [(2**63 - 2, 3), (-(2**63), 3), (2**52 + 1, 3), (2**51, 0), (2**51, -3), (2**51, 5000)]
    patches = [(1, 2**63 - 2), (2**31 - 1, 5), (-1, 5)]
    planted = [
        (
            first,
            f"INSERT INTO sample_block (stream, first_n, row_count, {names}) VALUES ('{{stream}}', {first}, {count}, {arrays})",
            f"DELETE FROM sample_block WHERE stream = '{{stream}}' AND first_n = {first}",
        )
        for first, count in blocks
    ] + [
        (
            first,
            f"INSERT INTO sample_patch VALUES ('{{stream}}', {channel}, {first}, '{{{{1,2,3}}}}')",
            f"DELETE FROM sample_patch WHERE stream = '{{stream}}' AND (channel, first_n) = ({channel}, {first})",
        )
        for channel, first in patches
    ]
    for first, insertion, deletion in planted:
        study.server.rows(insertion.format(stream=machine.stream))
        run = study.run("fetch", machine.uuid, "-o", str(output / "f.sqlite"), *reader, wanted=(0, 65, 75))
        if run.returncode == 0:
            # What lies before all that a recording has is not even read.
            study.run("verify", str(output / "f.sqlite"), "--database", str(machine.path))
            require(first < 0, f"{insertion}: {run.stdout}")
            (output / "f.sqlite").unlink()
        else:
            words = "not what was recorded" if run.returncode == 65 else "does not have all of it yet"
            require(words in run.stderr, f"{insertion}: {run.stderr}")
            study.run("export", machine.uuid, "-o", f"{output}/", "--format", "csv", *reader, wanted=(run.returncode,))
            require(not list(output.iterdir()), f"{insertion}: there is {list(output.iterdir())}")
        study.server.rows(deletion.format(stream=machine.stream))
    study.run("fetch", machine.uuid, "-o", str(output / "f.sqlite"), *reader)


def impossible_watermarks(study: Study) -> None:
    """A recording of which the centre says what no machine says is named, and the others are sent."""
    machine = study.machine()
    machine.ship()
    study.drop_checks()
    machine.script("""
        INSERT INTO recording (id, headset_id, desired_state, label, requested_host_boot_id, requested_boottime_ns,
            stopped_host_boot_id, stopped_boottime_ns)
        SELECT id + 1, headset_id, 'stopped', 'sound', requested_host_boot_id, requested_boottime_ns, stopped_host_boot_id,
            stopped_boottime_ns FROM recording""")
    stream = machine.stream
    study.server.rows("CREATE TABLE kept AS SELECT * FROM shipment")
    for number, planted in enumerate(
        (
            "done_n = 9223372036854775807",
            "done_n = -9223372036854775808",
            "head_first_n = -9223372036854775808, head_last_n = 5",
            "head_first_n = 5, head_last_n = 9223372036854775806",
            "older_heads = '{(,)}', head_first_n = NULL, head_last_n = NULL",
            "late_number = 0, late_row_count = -9223372036854775808",
            "late_number = -9223372036854775808, late_row_count = 1",
            "late_number = 9223372036854775807, late_row_count = 9223372036854775807",
            "late_number = NULL, late_row_count = 5",
        )
    ):
        study.server.rows(f"UPDATE shipment SET {planted} WHERE stream = '{stream}'")
        machine.script(f"UPDATE recording SET label = 'sound {number}' WHERE id = 2")
        said = machine.ship(wanted=(65,)).stderr
        words = f"nothing is sent of the recording of stream {stream}: what the centre says it has"
        require(words in said, f"{planted}: {said}")
        there = study.server.value(f"SELECT label FROM recording WHERE role = '{machine.role}' AND machine_recording_id = 2")
        require(there == f"sound {number}", f"{planted}: the other recording is not sent, but {there}")
        study.server.rows("TRUNCATE shipment; INSERT INTO shipment SELECT * FROM kept")
    machine.ship()


CASES = [lying_fleet, marked_after_erasure, forgotten, taken_with_watermark, hostile_blocks, impossible_watermarks]


def main() -> int:
    program, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    directory.mkdir(parents=True)
    directory.chmod(0o755)
    failed = False
    with Server(directory / "server", {"fsync": "off"}) as server:
        study = Study(program, directory, server)
        for case in CASES:
            if sys.argv[3:] and case.__name__ not in sys.argv[3:]:
                continue
            try:
                case(study)
            except (CaseError, subprocess.CalledProcessError) as error:
                failed = True
                print(f"{case.__name__}: {error}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
