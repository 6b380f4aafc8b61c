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


def replaced(centre: Centre) -> None:
    """Rows that are replaced again and again within a transaction, which no VACUUM removes meanwhile."""
    ordinary(centre)
    marks = json.dumps(document(1, annotation=[mark(n, "x" * 100) for n in (5, *range(100, 2100))])).replace("'", "''")
    change = json.dumps({"recording": {"uuid": uuid(1)}, "stream": []})
    row = json.dumps([{"owner": "", "number": 1, "part": 0, "row": {"kind": "x" * 1000}}])
    machine = uuid(2001)
    centre.sql(f"SELECT ship_machine('{machine}', 'x')", "pi-1")
    heads = "{" + ",".join(f"[{4 * n},{4 * n + 1}]" for n in range(300)) + "}"
    status = json.dumps({"is_acquiring": True, "problem": "x" * 500})
    ways = {
        "wholes": f"PERFORM ship_recording('{marks}')",
        "wholes that are refused": f"""BEGIN
            PERFORM ship_recording('{marks}'); RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN NULL; END""",
        "changes without any": f"PERFORM ship_changes('{change}')",
        "series": f"PERFORM ship_rows('{uuid(1)}', 'headset_message', '', 0, 1, 1, true, '{row}')",
        "heads": f"PERFORM ship_end_heads('{uuid(1001)}', 1, '{heads}', NULL, NULL)",
        "what is said of the machine": f"PERFORM ship_status('{machine}', '{status}')",
        "which machine it is": f"PERFORM ship_machine('{machine}', 'x')",
    }
    today = "(extract(epoch FROM clock_timestamp())::bigint / 86400) << 32"
    counter, limit = "eegsync_quota.replaced_kib_1", 1024 * 1024
    centre.sql("SELECT set_quota('pi-1', 10 * 1024 * 1024)")
    centre.sql(f"SELECT ship_begin_heads('{uuid(1001)}', NULL, '{{}}', NULL, NULL)", "pi-1")
    body = centre.sql("SELECT pg_get_functiondef('note_replaced(bigint)'::regprocedure)")
    for words, statement in ways.items():
        count = 3 if words.startswith("wholes") else 4000
        attempt = f"DO $$BEGIN FOR i IN 1..{count} LOOP {statement}; END LOOP; END$$"
        # Without what counts them nothing is refused.
        centre.sql("CREATE OR REPLACE FUNCTION note_replaced(bytes bigint) RETURNS void LANGUAGE plpgsql AS $$BEGIN END$$")
        centre.sql(attempt, "pi-1")
        centre.sql(body)
        centre.sql(f"SELECT setval('{counter}', ({today}) + {limit - 200})")
        said = refusal(functools.partial(centre.sql, attempt, "pi-1"))
        assert "most for a day" in said, f"{words}: {said}"
        # What was rolled back is counted, too; a whole does not fit in even once.
        counted = int(centre.sql(f"SELECT last_value - ({today}) FROM {counter}"))
        assert counted > limit - (200 if words.startswith("wholes") else 20), (words, counted)
    # How it is it says all the same, once a second.
    centre.sql("UPDATE machine_status SET received = received - interval '1 minute'")
    centre.sql(f"SELECT ship_status('{machine}', '{status}')", "pi-1")
    assert "most for a day" in refusal(lambda: centre.sql(f"SELECT ship_recording('{marks}')", "pi-1"))
    # Blocks are something else: they are never replaced. And on the next day all of it goes on.
    centre.sql(f"INSERT INTO sample_block VALUES ('{uuid(1001)}', 5000, 1, '{{1}}', '{{1}}')", "pi-1")
    centre.sql(f"SELECT setval('{counter}', ({today}) - 4294967296 + {limit})")
    centre.sql(f"SELECT ship_recording('{marks}')", "pi-1")
    # An ordinary day of a machine that connects each minute has room: its whole is some 100 kB.
    assert int(centre.sql(f"SELECT last_value - ({today}) FROM {counter}")) < 800


QUOTAS = {
    "quota-samples": Check(samples, "samples beyond a machine's quota are refused, whichever way they come"),
    "quota-rows": Check(words_of_machines, "and so is everything else that stays"),
    "quota-replaced": Check(replaced, "what a machine replaces within a day is bounded"),
    "quota-back": Check(given_back, "what is replaced or erased is given back"),
    "quota-ship": Check(shipping, "ship waits for more of a quota, and brings everything then"),
    "quota-role": Check(another_role, "another role of a machine goes on with its quota"),
    "quota-beside": Check(beside_tables, "connections are bounded, and large objects refused"),
}
