"""What a machine may fill of a centre, for guards.py: its quota, by each way in which something of it stays there."""

import contextlib
import functools
import json
import random
import sqlite3
from collections.abc import Callable

from hostile import Centre, Check, RefusedError, document, gap, mark, ordinary, refusal, uuid

UP = "has used its quota of"


def used(centre: Centre, role: str = "pi-1") -> int:
    return int(centre.sql(f"SELECT used_kib('{role}')"))


def samples(centre: Centre) -> None:
    """Blocks and patches, through the table, the view and COPY, and in transactions that are rolled back."""
    ordinary(centre)
    centre.sql("SELECT set_quota('pi-1', 4096)")
    stream, values = uuid(1001), "array_fill(7, array[4096])"
    begun = used(centre)
    centre.sql(f"INSERT INTO sample_block VALUES ('{stream}', 5000, 4096, {values}, {values})", "pi-1")
    assert used(centre) - begun == 1 + 2 * 4096 * 4 // 1024, used(centre)
    rows = ",".join(map(str, range(4096)))
    ways = {
        "the table": f"INSERT INTO sample_block (stream, first_n, row_count, c1) SELECT '{stream}', 10000 + 4096 * n, 4096, "
        f"{values} FROM generate_series(0, 999) AS n",
        "the view": f"INSERT INTO incoming_block (stream, first_n, row_count, c1) SELECT '{stream}', 10000 + 4096 * n, 4096, "
        f"{values} FROM generate_series(0, 999) AS n",
        "patches": f"INSERT INTO sample_patch SELECT '{stream}', 1, 4096 * n, {values} FROM generate_series(0, 999) AS n",
        "patches by the view": f"INSERT INTO incoming_patch SELECT '{stream}', 1, 4096 * n, {values} "
        "FROM generate_series(0, 999) AS n",
        "COPY": "COPY incoming_block (stream, first_n, row_count, c1) FROM STDIN;\n"
        + "".join(f"{stream}\t{10000 + 4096 * n}\t4096\t{{{rows}}}\n" for n in range(300))
        + "\\.\n",
    }
    for words, statement in ways.items():
        # What a transaction brought that was rolled back fills the disk, too, and is counted.
        centre.sql("SELECT set_quota('pi-1', 4096 + used_kib('pi-1'))")
        said = refusal(functools.partial(centre.sql, statement, "pi-1"))
        assert UP in said, f"{words}: {said}"
    # What is beyond is refused again and again without more of it.
    before = used(centre)
    refusal(lambda: centre.sql(ways["the table"], "pi-1"))
    assert used(centre) - before < 32, used(centre) - before
    assert centre.sql("SELECT sum(row_count) FROM sample_block") == str(2 + 4096)


def words_of_machines(centre: Centre) -> None:
    """Rows of every other kind, and texts that grow."""
    ordinary(centre)
    # What does not become small when it is compressed.
    long, gaps = random.Random(1).randbytes(300_000).hex(), [gap(first_n=10 + 3 * n) for n in range(4000)]
    row = json.dumps([{"owner": "", "number": 1, "part": 0, "row": {"text": long}}])
    many = [mark(n, "x" * 100) for n in (5, *range(100, 4000))]
    rows = f"SELECT ship_rows('{uuid(1)}', 'headset_message', '', 0, 1, 1, true, '{row}')"
    ways: list[Callable[[], object]] = [
        functools.partial(centre.sql, rows, "pi-1"),
        *[
            functools.partial(centre.send, "pi-1", sent)
            for sent in (
                document(1, annotation=[mark(5, long)]),
                document(1, annotation=many),
                document(1, stream={"gap": gaps}, annotation=[mark(5, "")]),
            )
        ],
    ]
    centre.sql("SELECT set_quota('pi-1', used_kib('pi-1') + 100)")
    refused = [refusal(way) for way in ways]
    assert all(UP in said for said in refused), refused
    with contextlib.suppress(RefusedError):
        for number in range(20):
            centre.send("pi-1", document(100 + number, recording={"label": "x" * 50_000}))
    assert used(centre) <= int(centre.sql("SELECT quota_kib FROM shipper WHERE role = 'pi-1'"))


def given_back(centre: Centre) -> None:
    """A live recording goes anew with each connection, and takes no more; what is erased is given back."""
    ordinary(centre)
    marks = [mark(n, "x" * 100) for n in (5, *range(100, 2100))]
    centre.send("pi-1", document(1, recording={"subject": "P01"}, annotation=marks))
    begun = used(centre)
    assert begun > 2000 * 100 // 1024
    for _ in range(10):
        centre.send("pi-1", document(1, recording={"subject": "P01"}, annotation=marks))
    assert used(centre) <= begun + 10 * 20, (begun, used(centre))
    values = "array_fill(7, array[4096])"
    insertion = f"SELECT '{uuid(1001)}', 10000 + 4096 * n, 4096, {values} FROM generate_series(0, 99) AS n"
    centre.sql(f"INSERT INTO sample_block (stream, first_n, row_count, c1) {insertion}", "pi-1")
    before = used(centre)
    centre.centre("erase", "P01")
    assert before - used(centre) == 100 * 17 + 1, before - used(centre)


def shipping(centre: Centre) -> None:
    """ship waits, and confirms nothing; with a larger quota everything comes. No temporary table is made of it."""
    database = centre.records("quota")
    centre.enrol("pi-1")
    centre.sql("REVOKE TEMPORARY ON DATABASE study FROM PUBLIC")
    centre.sql("SELECT set_quota('pi-1', 70)")
    said = refusal(lambda: centre.ship("pi-1", database))
    assert "exit code 75" in said and UP in said, said
    # How it is, it says all the same.
    assert centre.sql("SELECT count(*) FROM machine_status") == "1"
    with contextlib.closing(sqlite3.connect(database)) as machine:
        assert machine.execute("SELECT count(*) FROM whole_confirmation").fetchone()[0] == 0
        rows = machine.execute("SELECT count(*) FROM sample").fetchone()[0]
    said = centre.centre("enrol", "pi-1", "--study", "sleep", "--quota", "1G")
    assert "pi-1 may have 1.0 GB there" in said or "pi-1 may have 1 GB there" in said, said
    centre.ship("pi-1", database)
    assert centre.sql("SELECT sum(row_count) FROM sample_block") == str(rows)
    # Beside the samples there is little.
    values = int(centre.sql("SELECT sum(value_count(b)) FROM sample_block AS b"))
    assert values * 4 // 1024 < used(centre) < 2 * values * 4 // 1024 + 200, (values, used(centre))


def another_role(centre: Centre) -> None:
    """A role that goes on for another one has what that one had, and what it may."""
    ordinary(centre)
    centre.sql("SELECT set_quota('pi-1', 300000000)")
    had = used(centre)
    centre.centre("enrol", "pi-1b", "--study", "sleep", "--instead-of", "pi-1")
    assert (used(centre), used(centre, "pi-1b")) == (0, had), (used(centre), used(centre, "pi-1b"))
    assert centre.sql("SELECT quota_kib FROM set_quota('pi-1b', NULL)") == "300000000"


def beside_tables(centre: Centre) -> None:
    """Connections and large objects."""
    centre.enrol("pi-1")
    assert centre.sql("SELECT rolconnlimit FROM pg_roles WHERE rolname = 'pi-1'") == "8"
    assert "permission denied" in refusal(lambda: centre.sql("SELECT lo_from_bytea(0, 'x')", "pi-1"))
    centre.sql("SELECT admit('reader', 'sleep')")
    assert "permission denied" in refusal(lambda: centre.sql("SET temp_file_limit = -1", "reader"))


def had_before(centre: Centre, steps: Callable[[Centre], None]) -> None:
    """A centre that is brought up to date counts what is there, and leaves room to whoever has much."""
    centre.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC")
    steps(centre)
    centre.enrol("pi-1")
    database = centre.records("had")
    centre.ship("pi-1", database)
    centre.centre("init")
    values = int(centre.sql("SELECT sum(value_count(b)) FROM sample_block AS b"))
    assert abs(values / 256 - used(centre)) < 2, (values, used(centre))
    # Nor may a query of whoever reads fill the disk.
    centre.sql("SELECT admit('reader', 'sleep')")
    assert centre.sql("SHOW temp_file_limit", "reader") == "20GB"
    # Nothing is sent anew, and what comes later is counted.
    assert "has everything" in centre.ship("pi-1", database)
    before = used(centre)
    centre.run("mark", random.Random(2).randbytes(2000).hex(), "--recording", "1", database=database)
    centre.ship("pi-1", database)
    assert 3 < used(centre) - before < 300, used(centre) - before


def all_bytes(centre: Centre) -> int:
    return int(
        centre.sql("""SELECT sum(pg_total_relation_size(oid)) FROM pg_class
        WHERE relkind = 'r' AND (relnamespace = 'public'::regnamespace OR relname = 'pg_rewrite')""")
    )


def replaced(centre: Centre) -> None:
    """Rows that are replaced again and again, within a transaction, or in some that are rolled back."""
    ordinary(centre)
    # What does not become small when it is compressed.
    marks = [mark(n, random.Random(n).randbytes(50).hex()) for n in (5, *range(100, 2100))]
    whole = json.dumps(document(1, annotation=marks))
    change = json.dumps({"recording": {"uuid": uuid(1)}, "stream": []})
    row = json.dumps([{"owner": "", "number": 1, "part": 0, "row": {"kind": "x" * 1000}}])
    machine = uuid(2001)
    centre.sql(f"SELECT ship_machine('{machine}', 'x')", "pi-1")
    centre.sql(f"SELECT ship_begin_heads('{uuid(1001)}', NULL, '{{}}', NULL, NULL)", "pi-1")
    heads = "{" + ",".join(f"[{4 * n},{4 * n + 1}]" for n in range(60)) + "}"
    status = json.dumps({"is_acquiring": True, "problem": "x" * 500, "headsets": [headset(n) for n in range(64)]})
    offset = {"boottime_ns": 5, "offset_ns": 5, "step_ns": 0, "is_synchronised": 1}
    boots = json.dumps([{"uuid": "another", "clock_offset": [{"id": n, **offset} for n in range(5000)]}])
    ways = {
        "wholes": (f"ship_recording('{whole}')", 3),
        "changes without any": (f"ship_changes('{change}')", 2000),
        "series": (f"ship_rows('{uuid(1)}', 'headset_message', '', 0, 1, 1, true, '{row}')", 1000),
        "heads": (f"ship_end_heads('{uuid(1001)}', 1, '{heads}', NULL, NULL)", 1000),
        "clocks": (f"ship_host_boots('{boots}')", 20),
        "what is said of the machine": (f"ship_status('{machine}', '{status}')", 100),
        "which machine it is": (f"ship_machine('{machine}', 'x')", 2000),
    }
    today = "(extract(epoch FROM clock_timestamp())::bigint / 86400) << 32"
    counter, limit = "eegsync_quota.replaced_kib_1", 1024 * 1024
    centre.sql("SELECT set_quota('pi-1', 10 * 1024 * 1024)")
    body = centre.sql("SELECT pg_get_functiondef('note_replaced(bigint, bigint)'::regprocedure)")
    for words, (call, count) in ways.items():
        rolled_back = f"BEGIN PERFORM {call}; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END"
        attempts = [f"DO $$BEGIN FOR i IN 1..{count} LOOP {each}; END LOOP; END$$" for each in (f"PERFORM {call}", rolled_back)]
        # Without what counts them nothing is refused.
        centre.sql(
            "CREATE OR REPLACE FUNCTION note_replaced(bytes bigint, kib_beyond bigint DEFAULT 0) RETURNS void "
            "LANGUAGE plpgsql AS $$BEGIN END$$"
        )
        for attempt in attempts:
            centre.sql(attempt, "pi-1")
        centre.sql(body)
        # What a machine says of itself it may for longer.
        most = 2 * limit if "machine" in words else limit
        for attempt in attempts:
            centre.sql(f"SELECT setval('{counter}', ({today}) + {most - 200})")
            said = refusal(functools.partial(centre.sql, attempt, "pi-1"))
            assert "most for a day" in said, f"{words}: {said}"
        # And then it leaves nothing.
        centre.sql(f"SELECT setval('{counter}', ({today}) + {most + 1})")
        before = all_bytes(centre)
        refused = f"BEGIN PERFORM {call}; EXCEPTION WHEN insufficient_resources THEN NULL; END"
        centre.sql(f"DO $$BEGIN FOR i IN 1..{count} LOOP {refused}; END LOOP; END$$", "pi-1")
        assert all_bytes(centre) - before < 65_536, (words, all_bytes(centre) - before)
    # Whoever may replace nothing more says how it is, and adds blocks, which are never replaced.
    centre.sql(f"SELECT setval('{counter}', ({today}) + {limit + 1})")
    centre.sql(f"SELECT ship_status('{machine}', '{status}')", "pi-1")
    assert "most for a day" in refusal(lambda: centre.sql(f"SELECT ship_recording('{whole}')", "pi-1"))
    centre.sql(f"INSERT INTO sample_block VALUES ('{uuid(1001)}', 5000, 1, '{{1}}', '{{1}}')", "pi-1")
    # On another day all of it goes on, also where the clock was ahead.
    for days in (-1, 400):
        centre.sql(f"SELECT setval('{counter}', ({today}) + ({days}::bigint << 32) + {limit})")
        centre.sql(f"SELECT ship_recording('{whole}')", "pi-1")
    # A document counts as it is, and not as a table has it.
    centre.sql(f"SELECT setval('{counter}', ({today}) + {limit - 5000})")
    packed = (
        "CREATE TEMPORARY TABLE kept AS SELECT jsonb_build_array(jsonb_build_object('owner', '', 'number', 1, 'part', 0, "
        "'row', jsonb_build_object('kind', repeat('x', 10000000)))) AS rows; "
        f"SELECT ship_rows('{uuid(1)}', 'headset_message', '', 0, 1, 1, true, rows) FROM kept"
    )
    assert "most for a day" in refusal(lambda: centre.sql(packed, "pi-1"))
    # A role may be many machines, and not any number of them.
    centre.sql(f"SELECT setval('{counter}', ({today}))")
    said = refusal(lambda: [centre.sql(f"SELECT ship_machine('{uuid(3000 + n)}', 'x')", "pi-1") for n in range(101)])
    assert "a role of its own" in said, said
    # Those that are here go on, however many they are.
    centre.sql(f"INSERT INTO machine (uuid, role, version) VALUES ('{uuid(4000)}', 'pi-1', 'x')")
    centre.sql(f"SELECT ship_machine('{machine}', 'x')", "pi-1")


def headset(number: int) -> dict[str, object]:
    """What is said of one, as long as it may be."""
    long = {"sentence": "x" * 500, "alerts": ["x" * 500] * 16}
    return {"name": f"headset {number}", "model": "x" * 200, "is_wanted": True, "severity": "good", **long}


def of_another_owner(centre: Centre, steps: Callable[[Centre, str], None]) -> None:
    """A superuser brings the centre of another role up to date: what belongs to two owners may not call each other."""
    centre.sql(
        "DROP SCHEMA public, eegsync_quota CASCADE; DROP ROLE IF EXISTS keeper; CREATE ROLE keeper LOGIN CREATEROLE; "
        "ALTER DATABASE study OWNER TO keeper; CREATE SCHEMA public AUTHORIZATION keeper; "
        "GRANT USAGE ON SCHEMA public TO PUBLIC; "
        # As a database has them that was no centre.
        "GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA pg_catalog TO PUBLIC"
    )
    steps(centre, "keeper")
    centre.enrol("pi-1")
    database = centre.records("kept")
    centre.ship("pi-1", database)
    centre.centre("init")
    owners = "SELECT string_agg(DISTINCT proowner::regrole::text, ' ') FROM pg_proc WHERE pronamespace = 'public'::regnamespace"
    assert centre.sql(owners) == "keeper", centre.sql(owners)
    centre.run("mark", "later", "--recording", "1", database=database)
    centre.ship("pi-1", database)
    assert centre.sql("SELECT count(*) FROM annotation WHERE description = 'later'") == "1"


QUOTAS = {
    "quota-samples": Check(samples, "samples beyond a machine's quota are refused, whichever way they come"),
    "quota-rows": Check(words_of_machines, "and so is everything else that stays"),
    "quota-replaced": Check(replaced, "what a machine replaces within a day is bounded"),
    "quota-back": Check(given_back, "what is replaced or erased is given back"),
    "quota-ship": Check(shipping, "ship waits for more of a quota, and brings everything then"),
    "quota-role": Check(another_role, "another role of a machine goes on with its quota"),
    "quota-beside": Check(beside_tables, "connections are bounded, and large objects refused"),
}
