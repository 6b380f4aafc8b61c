"""The checks of Tests/Fleet/citus.

cluster.py PROGRAM BINARIES [--streams N] [--former PROGRAM]

BINARIES is the directory with the programs of a PostgreSQL that has the extension citus.
"""

import argparse
import contextlib
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial

from checklist import check, conclude, notices
from cluster_quota import fills_its_quota
from postgresql import CLUSTER_SETTINGS, DATABASE, OWNER, PORT, Server, Session, newest_binaries

COMPARE = pathlib.Path(__file__).with_name("compare.py")
TWINS_PROGRAM = pathlib.Path(__file__).with_name("twins.py")
STUDIES = {"pi-1": "sleep", "pi-2": "sleep", "pi-3": "other"}
# Of each further recording, a machine of its own.
FURTHER = 10
READERS = {"ada": "sleep", "bob": "other"}
# Of all that somebody asks: the same on both, to the last digit, but for numbers that centres give.
QUESTIONS = [
    "SELECT count(*), sum(c1), sum(c8), min(n), max(n) FROM sample",
    'SELECT headset, round(avg("Fp1")::numeric, 6), count(*) FROM eeg GROUP BY headset ORDER BY 1',
    'SELECT n, "time", unix_ns, "Fp1", "C3" FROM eeg WHERE n % 500 = 0 ORDER BY n, unix_ns LIMIT 400',
    "SELECT stream, channel, count(*), max(time), round(avg(value)::numeric, 6) FROM sample_long GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT headset, subject, start_time, end_time, rows, missing, recovered, gaps, uuid FROM recording_overview ORDER BY 9",
    "SELECT stream, channels, first_n, last_n, rows, missing, unknown_gaps, start_time FROM stream_overview ORDER BY 8",
    "SELECT stream, first_n, count, cause, start_time, end_time FROM gap_time ORDER BY start_time, first_n",
    "SELECT count(*), sum(boottime_ns - n) FROM arrival",
    "SELECT sum(row_count) FROM sample_block",
    """SELECT o.uuid, count(*), min(s.n), max(s.time), round(avg(s.value[1])::numeric, 6) FROM recording_overview AS o
    CROSS JOIN LATERAL samples(o.recording_id, 'eeg', to_timestamp(o.start_unix_ns / 1e9 + 10),
        to_timestamp(o.start_unix_ns / 1e9 + 40)) AS s GROUP BY o.uuid ORDER BY o.uuid""",
    "SELECT study, machine, headset FROM fleet ORDER BY machine",
]
# Of a headset that two machines record, what they share, where they differ, and what one has from the other.
TWINS = [
    """SELECT machine, samples_shared, samples_differing, rows_only_there, values_only_there, obstacle FROM recording_twin
    ORDER BY 1""",
    "SELECT stream, n, channel, here, there, other_n FROM twin_conflict ORDER BY recording_id, n, channel",
    """SELECT r.role, g.first_n, g.channel, g.count, g.cause, g.recovered, g.filled, g.missing FROM filled_gap AS g
    JOIN recording AS r ON r.id = g.recording_id ORDER BY 1, 2, 3""",
    """SELECT r.role, a.rows, a.filled, a.missing, a.findings FROM recording AS r CROSS JOIN LATERAL audit_filled(r.id) AS a
    ORDER BY 1, 2""",
    """SELECT r.role, s.n, s.unix_ns, s.value FROM recording AS r CROSS JOIN LATERAL
    filled_samples(r.id, 'eeg', '2000-01-01', '2100-01-01') AS s WHERE r.role LIKE 'twin-%' AND s.n % 97 < 2 ORDER BY 1, 2""",
    "SELECT r.role, is_whole(st.id) FROM stream AS st JOIN recording AS r ON r.id = st.recording_id ORDER BY 1, st.position",
]
# What two machines receive of it (twins.py): each lacks something, and in the end they differ in one value.
RECEIVED = {
    "twin-1": ["77", "0", "40000", "--lost", "8000-12000", "--half", "20000-21000", "--lost", "30000-30400"],
    "twin-2": ["77", "4000", "50000", "--lost", "10000-10800", "--lost", "24000-25000", "--half", "8800-8960"],
    "twin-3": ["78", "0", "8000", "--lost", "1600-2000"],
    "twin-4": ["78", "0", "8000", "--change", "4321"],
}
# What a role may not do, and what it is said then.
REFUSED = [
    ("pi-1", "SELECT * FROM sample_block", "permission denied"),
    ("pi-1", "UPDATE sample_block SET row_count = 1", "permission denied"),
    ("pi-1", "DELETE FROM sample_block", "permission denied"),
    ("pi-1", "INSERT INTO sample_block (stream, first_n, row_count, c1) VALUES ({stream}, 9000000, 1, '{{1}}')", "permission"),
    ("pi-1", "COPY sample_patch FROM STDIN", "permission denied"),
    (
        "pi-2",
        "INSERT INTO incoming_block (stream, first_n, row_count, c1) VALUES ({stream}, 9000000, 1, '{{1}}')",
        "not one of",
    ),
    ("pi-2", "INSERT INTO incoming_patch VALUES ({stream}, 1, 9000000, '{{1}}')", "is not one of pi-2"),
    ("ada", "INSERT INTO sample_block (stream, first_n, row_count, c1) VALUES ({stream}, 9000000, 1, '{{1}}')", "permission"),
    ("ada", "SELECT * FROM stream_right", "permission denied"),
    ("ada", "SELECT count(*) FROM sample_block AS b JOIN stream AS st ON st.uuid = b.stream", "direct joins between"),
]
TIMED = {
    "mean of a channel over all": 'SELECT avg("Fp1") FROM eeg',
    "mean of all channels of each headset": "SELECT stream, channel, avg(value) FROM sample_long GROUP BY 1, 2",
    "half a minute of one, with times": """SELECT max("time"), avg(value[1]) FROM samples(
        (SELECT min(recording_id) FROM recording_overview), 'eeg', '2000-01-01', '2100-01-01')""",
}
REPETITIONS = 5


class Bench:
    """Two centres, a plain one and one with workers, and the machines that ship to both."""

    def __init__(self, program: str, directory: pathlib.Path, plain: Server, nodes: list[Server]) -> None:
        self.program, self.directory, self.plain, self.nodes = program, directory, plain, nodes

    @property
    def coordinator(self) -> Server:
        return self.nodes[0]

    def run(self, *arguments: str) -> str:
        command = [self.program, *arguments]
        answer = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert answer.returncode == 0, answer.stdout
        return answer.stdout

    def centre(self, server: Server, *arguments: str) -> str:
        return self.run("centre", *arguments, "--database", server.address(OWNER))

    def join(self, worker: Server) -> None:
        self.coordinator.rows(f"SELECT citus_add_node('{worker.directory}', {worker.port})")

    def populate(self, server: Server) -> None:
        for role in READERS:
            server.rows(f'CREATE ROLE "{role}" LOGIN')
        for machine, study in STUDIES.items():
            self.enrol(machine, study, server)
        for reader, study in READERS.items():
            self.centre(server, "admit", reader, "--study", study)

    def enrol(self, machine: str, study: str, server: Server) -> None:
        server.rows(f'CREATE ROLE "{machine}" LOGIN')
        self.centre(server, "enrol", machine, "--study", study)

    def database(self, machine: str) -> pathlib.Path:
        return self.directory / f"{machine}.sqlite"

    def record(self, machine: str, seed: int, seconds: int = 120) -> None:
        made = self.directory / f"{machine}.demo"
        self.run("demo", "--directory", str(made), "--seed", str(seed), "--seconds", str(seconds))
        (made / "eegsync.sqlite").rename(self.database(machine))
        shutil.rmtree(made)

    def ship(self, machine: str, server: Server, *options: str) -> str:
        return self.run("ship", "--once", "--to", server.address(machine), "--database", str(self.database(machine)), *options)

    def is_same(self, machine: str, server: Server) -> None:
        command = [sys.executable, "-B", str(COMPARE), str(self.database(machine)), server.address(OWNER)]
        compared = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert compared.returncode == 0, compared.stdout

    def answers_alike(self, question: str, role: str) -> None:
        there, here = self.coordinator.rows(question, role), self.plain.rows(question, role)
        assert there == here, f"{question}\n{there[:4]}\n{here[:4]}"
        assert role == OWNER or here, question

    def refuses(self, role: str, statement: str, words: str) -> None:
        stream = self.coordinator.value(
            """SELECT quote_literal(st.uuid) FROM stream AS st JOIN recording AS r ON r.id = st.recording_id
            WHERE r.role = 'pi-1' ORDER BY st.id LIMIT 1"""
        )
        command = self.coordinator.psql(role)
        answer = subprocess.run(command, input=statement.format(stream=stream), capture_output=True, text=True, check=False)
        assert answer.returncode != 0 and words in answer.stderr, f"{role}: {statement}: {answer.stdout}{answer.stderr}"

    def fetched(self, machine: str) -> None:
        output = self.directory / "fetched.sqlite"
        output.unlink(missing_ok=True)
        uuid = self.coordinator.value(f"SELECT uuid FROM recording WHERE role = '{machine}' ORDER BY id LIMIT 1")
        self.run("fetch", uuid, "--output", str(output), "--from", self.coordinator.address("ada"))
        self.run("audit", "--database", str(output))
        self.run("verify", str(output), "--database", str(self.database(machine)))

    def shards(self) -> dict[str, int]:
        return {
            row[0]: int(row[1])
            for row in self.coordinator.rows(
                """SELECT nodeport, count(*) FROM citus_shards WHERE table_name = 'sample_block'::regclass GROUP BY 1"""
            )
        }

    def seconds(self, server: Server) -> dict[str, float]:
        """What a question takes, the median of some."""
        session = Session(server, "ada")
        result = {}
        for name, question in TIMED.items():
            times = []
            for _ in range(REPETITIONS):
                began = time.monotonic()
                session.rows(question)
                times.append(time.monotonic() - began)
            result[name] = statistics.median(times)
        session.end()
        return result


def make_centres(bench: Bench) -> None:
    for server in (bench.plain, *bench.nodes):
        server.rows(f"CREATE DATABASE {DATABASE}", database="postgres")
    bench.centre(bench.plain, "init")
    bench.populate(bench.plain)


def is_refused_without_extension(bench: Bench) -> None:
    command = [bench.program, "centre", "init", "--citus", "--database", bench.plain.address(OWNER)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode != 0 and "has not the extension citus" in answer.stderr, answer.stderr


def make_cluster(bench: Bench) -> None:
    for node in bench.nodes:
        node.rows("CREATE EXTENSION citus")
    bench.coordinator.rows(f"SELECT citus_set_coordinator_host('{bench.coordinator.directory}', {bench.coordinator.port})")
    bench.join(bench.nodes[1])
    bench.centre(bench.coordinator, "init")
    bench.populate(bench.coordinator)


def spread(bench: Bench) -> None:
    """After a machine has shipped: what is there goes along."""
    bench.ship("pi-1", bench.coordinator)
    assert "spread over the workers of its cluster now" in bench.centre(bench.coordinator, "init", "--citus")
    assert "spread over the workers of its cluster already" in bench.centre(bench.coordinator, "init", "--citus")
    assert set(bench.shards()) == {str(bench.nodes[1].port)}, bench.shards()


def ship_all(bench: Bench) -> None:
    for machine in STUDIES:
        bench.ship(machine, bench.plain)
        bench.ship(machine, bench.coordinator, "--rows", "3000")


def late_value(bench: Bench) -> None:
    """A value that came late, at both centres."""
    block = ["", ""]
    for server in (bench.plain, bench.coordinator):
        block = server.rows(
            """SELECT b.stream, b.first_n FROM sample_block AS b WHERE b.stream = (SELECT st.uuid FROM stream AS st
            JOIN recording AS r ON r.id = st.recording_id WHERE r.role = 'pi-1' ORDER BY st.uuid LIMIT 1)
            ORDER BY b.first_n LIMIT 1"""
        )[0]
        server.rows(
            f"""UPDATE sample_block SET c2 = ARRAY[NULL, c2[2], NULL]::integer[] || c2[4:] WHERE stream = '{block[0]}'
                AND first_n = {block[1]};
            INSERT INTO sample_patch VALUES ('{block[0]}', 2, {block[1]}, '{{4711}}')"""
        )
    question = f"SELECT c2 FROM sample WHERE n = {block[1]} AND c2 = 4711"
    assert bench.coordinator.rows(question, "ada") == bench.plain.rows(question, "ada") == [["4711"]]


def further(bench: Bench, count: int) -> None:
    for number in range(FURTHER, FURTHER + count):
        bench.record(f"pi-{number}", number, 300)
        for server in (bench.plain, bench.coordinator):
            bench.enrol(f"pi-{number}", "sleep", server)
            bench.ship(f"pi-{number}", server)


def twins(bench: Bench) -> None:
    """One headset that two machines record, and another one whose values differ once."""
    for number, (machine, arguments) in enumerate(RECEIVED.items()):
        command = [sys.executable, "-B", str(TWINS_PROGRAM), "notifications", *arguments]
        sent = bench.directory / f"{machine}.txt"
        sent.write_text(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
        database = str(bench.database(machine))
        bench.run("replay", str(sent), "--model", "buffered-eeg", "--headset", "left", "--database", database)
        with contextlib.closing(sqlite3.connect(database)) as own:
            own.execute("UPDATE headset SET uuid = ?", (f"5eedc0de-0000-4000-8000-00000000000{number // 2}",))
            own.commit()
        for server in (bench.plain, bench.coordinator):
            bench.enrol(machine, "sleep", server)
            bench.ship(machine, server)


def add_worker(bench: Bench) -> None:
    bench.join(bench.nodes[2])
    bench.coordinator.rows("SELECT rebalance_table_shards('sample_block')")
    assert len(bench.shards()) == 2, bench.shards()


def stopped_worker(bench: Bench) -> None:
    """While workers are away nothing of their streams is taken; afterwards everything is there."""
    bench.record("pi-4", 4)
    bench.enrol("pi-4", "sleep", bench.coordinator)
    with contextlib.ExitStack() as stack:
        bench.nodes[2].stop()
        stack.callback(bench.nodes[2].start)
        bench.nodes[1].stop()
        stack.callback(bench.nodes[1].start)
        notices(lambda: bench.ship("pi-4", bench.coordinator))
    bench.ship("pi-4", bench.coordinator)
    bench.is_same("pi-4", bench.coordinator)


def erased(bench: Bench) -> None:
    for server in (bench.plain, bench.coordinator):
        server.rows("UPDATE recording SET subject = 'S01' WHERE role = 'pi-3'")
        before = int(server.value("SELECT used_kib('pi-3')"))
        assert "has erased 1 recording of S01" in bench.centre(server, "erase", "S01")
        assert server.rows("SELECT count(*) FROM sample", "bob") == [["0"]]
        # What is left are words of the machine.
        assert int(server.value("SELECT used_kib('pi-3')")) < before // 2, (server.directory, before)
    left = bench.coordinator.value("SELECT count(*) FROM stream_right WHERE role = 'pi-3'")
    assert left == "0", left


def report(bench: Bench, times: dict[str, dict[str, float]]) -> None:
    print(f"| question | {' | '.join(times)} |\n|---|{'---|' * len(times)}")
    for name in TIMED:
        print(f"| {name} | {' | '.join(f'{seconds[name]:.3f} s' for seconds in times.values())} |")
    rows = bench.plain.value("SELECT count(*) FROM sample", "ada")
    print(f"{int(rows):,} samples of 8 channels, {bench.plain.value('SELECT count(*) FROM recording', 'ada')} recordings")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("--streams", type=int, default=8)
    parser.add_argument("--former")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        plain = stack.enter_context(Server(directory / "plain", {"fsync": "off"}, newest_binaries(), PORT + 10))
        nodes = [
            stack.enter_context(
                Server(node, CLUSTER_SETTINGS | {"citus.local_hostname": str(node)}, arguments.binaries, PORT + 11 + number)
            )
            for number, node in enumerate(directory / f"node-{number}" for number in range(3))
        ]
        bench = Bench(arguments.program, directory, plain, nodes)
        check("a plain centre", lambda: make_centres(bench))
        check("without the extension it is refused, with what to do", lambda: is_refused_without_extension(bench))
        # What an earlier version has made and spread is brought up to date.
        bench.program = arguments.former or arguments.program
        check("a coordinator with a worker, and a centre on it", lambda: make_cluster(bench))
        for number, machine in enumerate(STUDIES, 1):
            check(f"record on {machine}", partial(bench.record, machine, number))
        check("blocks are spread, with what is there already", lambda: spread(bench))
        bench.program = arguments.program
        check("it is brought up to date", lambda: bench.centre(bench.coordinator, "init"))
        check("ship to both", lambda: ship_all(bench))
        for machine in STUDIES:
            check(
                f"{machine}: values, gaps, times, annotations and digests are equal", partial(bench.is_same, machine, nodes[0])
            )
        check("a value that came late", lambda: late_value(bench))
        for role in (OWNER, *READERS):
            for question in QUESTIONS:
                check(f"{role}: {' '.join(question.split())[:70]}", partial(bench.answers_alike, question, role))
        for role, statement, words in REFUSED:
            check(f"{role} is refused: {statement[:60]}", partial(bench.refuses, role, statement, words))
        check("a machine fills no more than its quota", lambda: fills_its_quota(bench.coordinator, bench.nodes))
        check("a recording comes back", lambda: bench.fetched("pi-2"))
        check("one headset on two machines", lambda: twins(bench))
        for question in TWINS:
            check(f"twins: {' '.join(question.split())[:70]}", partial(bench.answers_alike, question, "ada"))
        check("further machines", lambda: further(bench, arguments.streams))
        times = {"plain": bench.seconds(plain), "1 worker": bench.seconds(nodes[0])}
        check("another worker gets a part of them", lambda: add_worker(bench))
        times["2 workers"] = bench.seconds(nodes[0])
        for question in QUESTIONS:
            check(f"ada, on two: {' '.join(question.split())[:60]}", partial(bench.answers_alike, question, "ada"))
        for question in TWINS:
            check(f"twins, on two: {' '.join(question.split())[:60]}", partial(bench.answers_alike, question, "ada"))
        check("workers that were away", lambda: stopped_worker(bench))
        check("erase a participant", lambda: erased(bench))
        report(bench, times)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
