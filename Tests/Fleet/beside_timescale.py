"""The checks of Tests/Fleet/timescale.

beside_timescale.py PROGRAM BINARIES

BINARIES is the directory with the programs of a PostgreSQL that has the extension timescaledb. What is checked is what the page
StudyWithManyPis says of it.
"""

import contextlib
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial

from checklist import check, conclude, notices
from postgresql import OWNER, PORT, Server, Session
from timescale_centre import CHECKOUT, CLINIC_STATE, READERS, STUDIES, SUBJECT, Bench, Centre, ran

PAGE = CHECKOUT / "Sources/eegsync/eegsync.docc/StudyWithManyPis.md"
SECTION = "## Beside TimescaleDB\n"
SETTINGS = {"shared_preload_libraries": "timescaledb", "timescaledb.telemetry_level": "off", "fsync": "off"}
# What somebody else has in the database: a role, a hypertable of whose chunks some are compressed, a summary of it, and a job.
CLINIC = "clinic"
HYPERTABLE = """
    SET client_min_messages = error;
    CREATE SCHEMA clinic AUTHORIZATION clinic;
    SET ROLE clinic;
    CREATE TABLE clinic.vitals (time timestamptz NOT NULL, bed integer NOT NULL, pulse double precision);
    SELECT create_hypertable('clinic.vitals', by_range('time', interval '1 day'));
    INSERT INTO clinic.vitals SELECT '2020-03-01'::timestamptz + i * interval '10 minutes', i % 7, 60 + i % 30
        FROM generate_series(1, 1000) AS i;
    ALTER TABLE clinic.vitals SET (timescaledb.compress, timescaledb.compress_segmentby = 'bed');
    SELECT compress_chunk(c) FROM show_chunks('clinic.vitals', older_than => '2020-03-05'::timestamptz) AS c;
    SELECT add_compression_policy('clinic.vitals', interval '100 years');
    CREATE MATERIALIZED VIEW clinic.hourly WITH (timescaledb.continuous) AS
        SELECT time_bucket('1 hour', time) AS hour, bed, avg(pulse) AS pulse FROM clinic.vitals GROUP BY 1, 2;
    GRANT USAGE ON SCHEMA clinic TO ada;
    GRANT SELECT ON clinic.vitals TO ada;
"""
# What everybody may call of the extension, in all its schemas.
EXTENSION_RIGHTS = """SELECT p.oid::regprocedure, has_function_privilege('anybody', p.oid, 'EXECUTE') FROM pg_proc AS p
    WHERE EXISTS (SELECT 1 FROM pg_depend AS d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
    ORDER BY 1"""
# What of the extension's tables a role may write, and where it may make some.
WRITABLE = """SELECT c.oid::regclass::text FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname LIKE '%timescaledb%' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
    UNION ALL SELECT nspname FROM pg_namespace
    WHERE nspname LIKE '%timescaledb%' AND has_schema_privilege(oid, 'CREATE')"""
# A job with 100 kB of its own, which is never run.
ADD_JOB = "SELECT add_job('now', '1 year', config => jsonb_build_object('of', repeat('0123456789', 10000)), scheduled => false)"
BLOCKS_OF = """SELECT b.stream, b.first_n FROM sample_block AS b JOIN stream AS st ON st.uuid = b.stream
    JOIN recording AS r ON r.id = st.recording_id WHERE r.role = '{role}' {further} ORDER BY b.stream, b.first_n"""


def page_statement() -> str:
    """The statement of the page, as it stands there."""
    section = PAGE.read_text(encoding="utf-8").partition(SECTION)[2].partition("\n## ")[0]
    statement = section.partition("```text\n")[2].partition("```")[0].strip()
    assert statement.startswith("REVOKE"), f"the page has {statement!r}"
    return statement


def make_roles(bench: Bench) -> None:
    for role in (*STUDIES, *READERS, CLINIC, "anybody"):
        bench.server.rows(f'CREATE ROLE "{role}" LOGIN', database="postgres")


def make_clinic(study: Centre) -> None:
    """The extension first, with a hypertable of somebody else."""
    study.make_database()
    study.rows("CREATE EXTENSION timescaledb")
    study.rows(HYPERTABLE)
    chunks = study.rows("SELECT is_compressed, count(*) > 1 FROM timescaledb_information.chunks GROUP BY 1 ORDER BY 1")
    assert ["t", "t"] in chunks and ["f", "t"] in chunks, chunks


def is_refused_in_public(study: Centre) -> None:
    """A hypertable in the schema of the centre: the database is for something else already."""
    with study.untouched():
        study.rows("CREATE TABLE mine (time timestamptz NOT NULL); SELECT create_hypertable('mine', by_range('time'))")
        command = [study.bench.program, "centre", "init", "--database", study.address()]
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
        study.rows("DROP TABLE mine")
        assert answer.returncode != 0 and "has something else already, such as mine" in answer.stderr, answer.stderr


def make_centre(study: Centre) -> None:
    rights = study.rows(EXTENSION_RIGHTS)
    with study.untouched():
        assert "is a centre now" in study.centre("init")
        assert "up to date already" in study.centre("init")
    assert study.rows(EXTENSION_RIGHTS) == rights
    study.populate()


def ship_beside_rows(study: Centre) -> None:
    """A machine ships while somebody else writes: both get everything."""
    start, end = study.bench.recorded("pi-1", "SELECT start_unix_ns, end_unix_ns FROM recording_overview")[0]
    seconds = (int(end) - int(start)) // 10**9
    before = int(study.value("SELECT count(*) FROM clinic.vitals"))
    session = Session(study.server, CLINIC, study.name)
    written = 0
    with study.shipped_slowly("pi-1") as shipping:
        while shipping.poll() is None:
            time = f"to_timestamp({start} / 1e9 + {written % seconds})"
            session.rows(f"INSERT INTO clinic.vitals VALUES ({time}, {written % 7}, {60 + written % 30})")
            written += 1
    session.end()
    assert written > 100, f"{written} rows were written meanwhile"
    assert int(study.value("SELECT count(*) FROM clinic.vitals")) == before + written
    study.is_same("pi-1")


def ship_another(study: Centre) -> None:
    study.ship("pi-2")
    study.is_same("pi-2")


def comes_back(study: Centre) -> None:
    output = study.bench.directory / "fetched.sqlite"
    study.bench.run("fetch", study.bench.uuid("pi-1"), "--output", str(output), "--from", study.address("ada"))
    study.bench.run("audit", "--database", str(output))
    study.bench.run("verify", str(output), "--database", str(study.bench.database("pi-1")))


def exported_alike(study: Centre) -> None:
    here, there = (study.bench.directory / f"{side}.csv" for side in ("here", "there"))
    study.bench.run("export", "1", "--output", str(here), "--database", str(study.bench.database("pi-1")))
    study.bench.run("export", study.bench.uuid("pi-1"), "--output", str(there), "--from", study.address("ada"))
    assert here.stat().st_size > 100_000 and here.read_bytes() == there.read_bytes()


def joined_by_time(study: Centre) -> None:
    """A reader whom both admit."""
    start, end = study.bench.recorded("pi-1", "SELECT start_time, end_time FROM recording_overview")[0]
    wanted = study.rows(f"SELECT count(*), sum(pulse) FROM clinic.vitals WHERE time BETWEEN '{start}' AND '{end}'")
    found = study.rows(
        """SELECT count(*), sum(v.pulse) FROM recording_overview AS o
        JOIN clinic.vitals AS v ON v.time BETWEEN o.start_time::timestamptz AND o.end_time::timestamptz""",
        "ada",
    )
    assert found == wanted and int(found[0][0]) > 100, f"{found}, and not {wanted}"


def is_closed(study: Centre) -> None:
    """No machine, and no reader that is not admitted there, reads what somebody else has, nor writes into the extension."""
    chunk = study.value("SELECT show_chunks('clinic.vitals') LIMIT 1")
    for role in ("pi-1", "pi-2", "bob"):
        study.refuses("SELECT count(*) FROM clinic.vitals", role, "permission denied")
        study.refuses("INSERT INTO clinic.vitals VALUES (now(), 1, 60)", role, "permission denied")
        study.refuses(f"SELECT count(*) FROM {chunk}", role, "permission denied")
        assert study.rows(WRITABLE, role) == []
    assert study.rows(WRITABLE) != []


def extension_afterwards(later: Centre) -> None:
    """A machine that sends just now goes on, over the same connection."""
    later.make_database()
    later.centre("init")
    later.populate()
    later.ship("pi-2")
    session = Session(later.server, OWNER, later.name)

    def sent() -> int:
        return len(session.rows(BLOCKS_OF.format(role="pi-1", further="")))

    with later.shipped_slowly("pi-1") as shipping:
        while sent() < 2:
            assert shipping.poll() is None, shipping.communicate()[0]
        session.rows("CREATE EXTENSION timescaledb")
        before = sent()
        assert shipping.poll() is None, "it had everything before the extension was there"
    assert sent() > before, f"{before} blocks were there already"
    session.end()
    later.ship("pi-3")
    assert "up to date already" in later.centre("init")
    for machine in STUDIES:
        later.is_same(machine)


def jobs(study: Centre) -> None:
    """Everybody adds jobs, and none is counted; after the statement of the page nobody does but who owns the database."""
    used = "SELECT used_kib('pi-1')"
    before = study.value(used)
    assert int(before) > 0
    numbers = [study.value(ADD_JOB, role) for role in ("pi-1", "ada", "anybody")]
    assert study.value(used) == before
    study.rows(page_statement())
    for role in ("pi-1", "ada", "anybody"):
        study.refuses(ADD_JOB, role, "permission denied for function add_job")
    for number in (*numbers, study.value(ADD_JOB)):
        study.rows(f"SELECT delete_job({number})")


def restore(study: Centre, restored: Centre) -> None:
    dump = study.bench.directory / "study.dump"
    ran([str(study.server.binaries / "pg_dump"), "--format=custom", f"--file={dump}", study.address()])
    restored.make_database()
    restored.rows("CREATE EXTENSION timescaledb; SELECT timescaledb_pre_restore()")
    ran([str(study.server.binaries / "pg_restore"), f"--dbname={restored.address()}", str(dump)])
    restored.rows("SELECT timescaledb_post_restore()")
    for question in CLINIC_STATE[:2]:
        assert restored.rows(question) == study.rows(question), question
    for machine in ("pi-1", "pi-2"):
        restored.is_same(machine)
    for role in ("pi-1", "ada"):
        restored.refuses(ADD_JOB, role, "permission denied for function add_job")


def goes_on_restored(restored: Centre) -> None:
    """A further recording, and what was said of one that was there."""
    restored.bench.run("mark", "later", "--recording", "1", "--database", str(restored.bench.database("pi-2")))
    for machine in ("pi-2", "pi-3"):
        restored.ship(machine)
    for machine in STUDIES:
        restored.is_same(machine)
    assert restored.value("SELECT count(*) FROM annotation_time WHERE description = 'later'", "bob") == "1"
    assert "up to date already" in restored.centre("init")


@contextlib.contextmanager
def changed(centre: Centre, change: str, repair: str) -> Iterator[None]:
    centre.rows(change)
    try:
        yield
    finally:
        centre.rows(repair)


def changed_value(study: Centre) -> None:
    stream, first = study.rows(BLOCKS_OF.format(role="pi-1", further="AND b.c1[5] IS NOT NULL"))[-1]
    statement = f"UPDATE sample_block SET c1[5] = c1[5] {{}} 1 WHERE stream = '{stream}' AND first_n = {first}"
    with changed(study, statement.format("+"), statement.format("-")):
        notices(lambda: study.is_same("pi-1"))
    study.is_same("pi-1")


def lost_block(study: Centre) -> None:
    stream, first = study.rows(BLOCKS_OF.format(role="pi-1", further=""))[-1]
    condition = f"stream = '{stream}' AND first_n = {first}"
    keep = f"CREATE TABLE clinic.kept AS SELECT * FROM sample_block WHERE {condition}"
    with changed(
        study,
        f"{keep}; DELETE FROM sample_block WHERE {condition}",
        "INSERT INTO sample_block SELECT * FROM clinic.kept; DROP TABLE clinic.kept",
    ):
        notices(study.is_whole)
        notices(lambda: study.is_same("pi-1"))
        notices(lambda: study.has_views(["pi-1", "pi-2"]))
    study.is_whole()


def touched_clinic(study: Centre) -> None:
    def touch(change: str) -> None:
        with study.untouched():
            study.rows(change)

    one = "UPDATE clinic.vitals SET pulse"
    for change, repair in (
        (f"{one} = pulse + 1 WHERE bed = 3", f"{one} = pulse - 1 WHERE bed = 3"),
        ("GRANT SELECT ON clinic.vitals TO eegsync_ship", "REVOKE SELECT ON clinic.vitals FROM eegsync_ship"),
    ):
        before = study.clinic()
        notices(partial(touch, change))
        study.rows(repair)
        assert study.clinic()[0] == before[0]


def hypertable_of_blocks(restored: Centre) -> None:
    """Why the page says not to make one: it is larger, compressed larger still, and its chunks have no row security."""
    sizes = [int(restored.value("VACUUM FULL sample_block; SELECT pg_total_relation_size('sample_block')"))]
    other = BLOCKS_OF.format(role="pi-2", further="")
    stream = restored.rows(other)[0][0]
    assert restored.value(f"SELECT count(*) FROM sample_block WHERE stream = '{stream}'", "ada") == "0"
    quiet = "SET client_min_messages = error"
    restored.rows(f"{quiet}; SELECT create_hypertable('sample_block', by_range('first_n', 1000000), migrate_data => true)")
    sizes.append(int(restored.value("SELECT hypertable_size('sample_block')")))
    for machine in STUDIES:
        restored.is_same(machine)
    chunks = [row[0] for row in restored.rows("SELECT show_chunks('sample_block')")]
    # The table itself shows a reader what it did.
    assert restored.value(f"SELECT count(*) FROM sample_block WHERE stream = '{stream}'", "ada") == "0"
    read = sum(int(restored.value(f"SELECT count(*) FROM {chunk} WHERE stream = '{stream}'", "ada")) for chunk in chunks)
    assert read == len(restored.rows(other)) > 0, f"{read} blocks of another study"
    columns = "timescaledb.compress, timescaledb.compress_segmentby = 'stream', timescaledb.compress_orderby = 'first_n'"
    restored.rows(f"ALTER TABLE sample_block DISABLE ROW LEVEL SECURITY; ALTER TABLE sample_block SET ({columns})")
    restored.rows(f"{quiet}; SELECT compress_chunk(c) FROM show_chunks('sample_block') AS c")
    sizes.append(int(restored.value("SELECT hypertable_size('sample_block')")))
    assert sizes[0] < sizes[1] < sizes[2], sizes


def erase(study: Centre) -> None:
    uuids = ", ".join(f"'{uuid}'" for (uuid,) in study.bench.recorded("pi-1", "SELECT uuid FROM stream"))
    rows = f"SELECT count(*) FROM sample_block WHERE stream IN ({uuids})"
    assert int(study.value(rows)) > 0
    with study.untouched():
        assert f"has erased 1 recording of {SUBJECT}" in study.centre("erase", SUBJECT)
    assert study.value(rows) == "0"
    assert study.rows("SELECT (SELECT count(*) FROM recording), (SELECT count(*) FROM sample)", "ada") == [["0", "0"]]
    dump = ran([str(study.server.binaries / "pg_dump"), "--data-only", "--schema=public", study.address()])
    traces = (SUBJECT, study.bench.uuid("pi-1"), *uuids.replace("'", "").split(", "))
    assert not [trace for trace in traces if trace in dump] and study.bench.uuid("pi-2") in dump
    # What somebody has said of it meanwhile is sent first.
    study.ship("pi-2")
    study.is_same("pi-2")
    study.is_whole()


def main() -> int:
    program, binaries = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        with Server(directory / "server", SETTINGS, binaries, PORT + 20) as server:
            bench = Bench(program, directory, server)
            study, later, restored = (Centre(bench, database) for database in ("study", "later", "restored"))
            checks: list[tuple[str, Callable[[], object]]] = [
                *((f"record on {machine}", partial(bench.record, machine, seed)) for seed, machine in enumerate(STUDIES, 1)),
                ("roles", lambda: make_roles(bench)),
                ("a database with the extension, and a hypertable of somebody else", lambda: make_clinic(study)),
                ("a hypertable in the schema public is no neighbour, and is named", lambda: is_refused_in_public(study)),
                ("the centre is made there, and touches nothing of it", lambda: make_centre(study)),
                ("a machine ships while somebody writes into the hypertable", lambda: ship_beside_rows(study)),
                ("another machine ships, and is the same", lambda: ship_another(study)),
                ("the views of the streams are there, and no hypertable is", lambda: study.has_views(["pi-1", "pi-2"])),
                ("the audit in SQL holds for each stream", study.is_whole),
                ("a recording comes back, and is verified", lambda: comes_back(study)),
                ("a file from the centre is the machine's, byte for byte", lambda: exported_alike(study)),
                ("a reader joins the hypertable with recordings by time", lambda: joined_by_time(study)),
                ("nobody else reads the hypertable, or writes into the extension", lambda: is_closed(study)),
                ("the extension comes while a machine ships, and it goes on", lambda: extension_afterwards(later)),
                ("the audit in SQL holds there, too", later.is_whole),
                ("everybody adds jobs that no quota counts, until that is taken", lambda: jobs(study)),
                ("a dump is restored, and is the same", lambda: restore(study, restored)),
                ("what was restored takes what comes then", lambda: goes_on_restored(restored)),
                ("a changed value is found by the comparison", lambda: changed_value(study)),
                ("a lost block is found by the audit", lambda: lost_block(study)),
                ("a touched hypertable is found", lambda: touched_clinic(study)),
                ("blocks in a hypertable are larger, and readable by others", lambda: hypertable_of_blocks(restored)),
                ("a participant is erased, and the hypertable is not touched", lambda: erase(study)),
            ]
            for title, test in checks:
                check(title, test)
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
