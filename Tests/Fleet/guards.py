#!/usr/bin/env python3
"""What one machine, or one person, can do to others at a centre, for Tests/Fleet/run.

    guards.py PROGRAM [NAME]...

Each check (of these names, or all) has a centre of its own in a server of this file's own. It must hold where the centre has
all steps, and fail where those from `p0017_guarded` on are missing, unless it is one of the program alone. Prints a line for
each check; exit 1 where one does not.
"""

import contextlib
import json
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from hostile import LARGEST, Centre, Check, RefusedError, absurd, document, gap, mark, ordinary, refusal, segment, uuid
from postgresql import OWNER, Server, Session
from quotas import QUOTAS, had_before, of_another_owner

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
GUARDED = "p0017_guarded"


def numbers(centre: Centre) -> None:
    ordinary(centre)
    centre.enrol("evil")
    absurd(centre)
    centre.views()
    assert centre.sql("SELECT rows, missing FROM recording_overview WHERE uuid = '" + uuid(1) + "'", "reader") == "10|2"


def numbers_before(centre: Centre) -> None:
    """Of a centre that has such numbers when it is brought up to date."""
    centre.sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC")
    steps_before(centre)
    ordinary(centre)
    centre.enrol("evil")
    absurd(centre)
    centre.centre("init")
    centre.views()
    # Both rows and the gap, which was before them.
    assert centre.sql("SELECT rows, missing FROM recording_overview WHERE uuid = '" + uuid(1) + "'", "reader") == "10|2"


def others_are_sent(centre: Centre) -> None:
    """A number that is legal on the machine, and absurd: its recording is named, and the others are sent."""
    database = centre.records("legal")
    with contextlib.closing(sqlite3.connect(database)) as machine:
        columns = "headset_id, desired_state, requested_host_boot_id, requested_boottime_ns"
        columns += ", stopped_host_boot_id, stopped_boottime_ns"
        machine.execute(f"INSERT INTO recording (id, label, {columns}) SELECT id + 1, 'sound', {columns} FROM recording")
        machine.execute("UPDATE segment SET reference_n = 1 << 60")
        boot = "SELECT max(host_boot_id), max(boottime_ns) + 1, ?, 0, 1 FROM clock_offset"
        machine.execute(
            f"INSERT INTO clock_offset (host_boot_id, boottime_ns, offset_ns, step_ns, is_synchronised) {boot}", [LARGEST]
        )
        machine.commit()
    centre.enrol("pi-1")
    said = refusal(lambda: centre.ship("pi-1", database))
    assert "exit code 65" in said and "reference_n_within_2_to_52" in said and "recording 1 is not sent" in said, said
    assert centre.sql("SELECT string_agg(label, ' ') FROM recording") == "sound"


def new_role(centre: Centre) -> None:
    database = centre.records("role")
    centre.enrol("pi-1")
    for role, study in (("reader", "sleep"), ("stranger", "other")):
        centre.enrol("nobody", study)
        centre.sql(f"SELECT admit('{role}', '{study}')")
    centre.ship("pi-1", database)
    assert "pi-1b goes on with them" in centre.centre("enrol", "pi-1b", "--study", "other", "--instead-of", "pi-1")
    centre.run("mark", "later", "--recording", "1", database=database)
    centre.ship("pi-1b", database)
    assert centre.sql("SELECT count(*) FROM annotation_time WHERE description = 'later'", "reader") == "1"
    assert centre.sql("SELECT count(*) > 1000 FROM eeg", "reader") == "t"
    # Names of the time before are for who could read them then.
    assert centre.sql("SELECT (SELECT count(*) FROM recording), (SELECT count(*) FROM headset)", "stranger") == "0|0"
    assert centre.sql("SELECT string_agg(DISTINCT machine, ' ') FROM fleet WHERE machine <> 'nobody'") == "pi-1b"
    number = centre.sql("SELECT uuid FROM recording")
    centre.run("fetch", number, "--output", str(centre.directory / "role.sqlite"), "--from", centre.server.address("reader"))
    refusal(lambda: centre.ship("pi-1", database))


def guesses(centre: Centre) -> None:
    """Whether a name is in another study: what EXPLAIN estimates."""
    ordinary(centre, "other")
    centre.sql("SELECT enrol('evil', 'sleep'); SELECT admit('stranger', 'sleep')")
    for number in range(30, 60):
        centre.send("pi-1", document(number, recording={"subject": "Jane Doe", "label": "ward 3"}))
    centre.sql("ANALYZE")
    for column, value in (("subject", "Jane Doe"), ("label", "ward 3")):
        said = [centre.sql(f"EXPLAIN SELECT 1 FROM recording WHERE {column} = '{v}'", "stranger") for v in (value, "nobody")]
        assert said[0].replace(value, "") == said[1].replace("nobody", ""), said
    assert centre.sql("SELECT count(*) FROM pg_stats WHERE most_common_vals::text LIKE '%Jane%'") == "0"


def meanings(centre: Centre) -> None:
    ordinary(centre)
    centre.sql("SELECT enrol('evil', 'other'); SELECT admit('stranger', 'other')")
    said = [gap(cause="bufferOverflow", meaning="P07 took LSD " * 1000)]
    centre.send("evil", document(20, stream={"gap": said}))
    centre.send("pi-1", document(2, stream={"gap": [gap(cause="bufferOverflow", meaning="its buffer was full")]}))
    known = "SELECT meaning FROM gap_time WHERE cause = 'bufferOverflow'"
    assert centre.sql(known, "reader") == "its buffer was full"
    assert len(centre.sql(known, "stranger")) == 500
    assert "LSD" not in centre.sql("SELECT * FROM gap_cause", "reader")


def erasure(centre: Centre) -> None:
    """Whatever has the name is gone, or is said."""
    ordinary(centre)
    centre.enrol("evil")
    centre.send("pi-1", document(3, recording={"subject": "ZORRO"}, headset={"name": "ZORRO cap"}))
    row = {"owner": "", "number": 1, "part": 0, "row": {"reason": "as in ZORRO"}}
    centre.send("evil", document(20, channel_correction=[row], annotation=[mark(7, "with Zorro")]))
    centre.send(
        "evil",
        document(21, headset={"name": "zorro 2"}, stream={"view_name": "zorro_2_eeg", "gap": [gap(meaning="ZORRO left")]}),
    )
    status = {
        "is_acquiring": True,
        "alerts": ["ZORRO cap: battery low"],
        "problem": "ZORRO",
        "headsets": [{"name": "ZORRO cap"}],
    }
    status["headsets"] = [{"name": "ZORRO cap", "model": "m", "is_wanted": True, "severity": "good", "sentence": "s"}]
    centre.sql(f"SELECT ship_machine('{uuid(1)}', '1'); SELECT ship_status('{uuid(1)}', '{json.dumps(status)}')", "pi-1")
    said = centre.centre("erase", "ZORRO")
    for words in (
        *("annotation.description", "channel_correction.reason", "headset.name of evil", "stream.view_name", "gap.meaning"),
        "headset_status.name of pi-1",
    ):
        assert words in said, said
    left = [line for line in centre.dump().splitlines() if "zorro" in line.lower()]
    # What is said of recordings of others: a mark, a reason, a headset with its view, a gap.
    assert len(left) == 5, left


def erasure_while_sent(centre: Centre) -> None:
    """A machine sends samples of who is erased just now."""
    ordinary(centre)
    centre.send("pi-1", document(3, recording={"subject": "ER"}))
    session = Session(centre.server, "pi-1")
    session.rows("BEGIN")
    session.rows(f"SELECT ship_begin('{uuid(1003)}', NULL, NULL, NULL, NULL)")
    session.rows(f"INSERT INTO sample_block VALUES ('{uuid(1003)}', 20000, 2, '{{1,2}}')")
    command = [centre.program, "centre", "erase", "ER", "--database", centre.server.address(OWNER)]
    erasing = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while centre.sql("SELECT count(*) FROM pg_locks WHERE NOT granted") == "0" and erasing.poll() is None:
        pass
    session.rows("COMMIT")
    session.end()
    assert erasing.wait() == 0
    assert centre.sql(f"SELECT count(*) FROM sample_block WHERE stream = '{uuid(1003)}'") == "0"


def beside(centre: Centre) -> None:
    epoch = {"number": 0, "boot_identifier": 77, "first_n": 0, "first_index": 100, "host_boot": "boot", "boottime_ns": 1}
    ordinary(centre)
    centre.enrol("evil")
    same = {"headset": {"uuid": uuid(3000), "serial_number": "S1"}}
    # By the headset's own count, whatever the clock says, and by the clock.
    centre.send("pi-1", document(3, recording={"subject": "P31"}, stream={"epoch": [epoch]}, **same))
    centre.send("evil", document(20, stream={"epoch": [epoch], "segment": [segment(reference_boottime_ns=10**15)]}, **same))
    centre.send("evil", document(21, **same))
    centre.send(
        "evil",
        document(
            22, stream={"epoch": [epoch | {"first_index": 900}], "segment": [segment(reference_boottime_ns=10**15)]}, **same
        ),
    )
    keys = {n: centre.sql(f"SELECT id FROM recording WHERE uuid = '{uuid(n)}'") for n in (20, 21, 22)}
    said = centre.centre("erase", "P31")
    assert f"recording {keys[20]} of evil" in said and f"recording {keys[21]} of evil" in said, said
    assert f"recording {keys[22]} of evil" not in said, said


def locks(centre: Centre) -> None:
    """Locks that every role may take."""
    ordinary(centre)
    centre.enrol("evil")
    session = Session(centre.server, "evil")
    session.rows("SELECT pg_advisory_lock(1162168147), pg_advisory_lock(1162168148)")
    try:
        centre.send("pi-1", document(3, stream={"name": "other"}))
        assert centre.sql(f"SELECT ship_views('{uuid(3)}')", "pi-1") == "t"
        command = [centre.program, "centre", "init", "--database", centre.server.address(OWNER)]
        subprocess.run(command, check=True, timeout=15, stdout=subprocess.DEVNULL)
        refusal(lambda: centre.sql("LOCK TABLE schema_step IN SHARE UPDATE EXCLUSIVE MODE", "evil"))
    finally:
        session.end()


def taken(centre: Centre) -> None:
    """The UUID of a mark that another recording has."""
    ordinary(centre)
    centre.enrol("evil")
    centre.send("evil", document(20, annotation=[mark(7, "mine")]))
    assert "of another recording" in refusal(lambda: centre.send("pi-1", document(2, annotation=[mark(7, "seizure onset")])))


def reserved(centre: Centre) -> None:
    ordinary(centre)
    centre.enrol("evil")
    centre.send("evil", document(20, stream={"name": "stream_right"}))
    centre.sql(f"SELECT ship_views('{uuid(20)}')", "evil")
    assert centre.sql("SELECT to_regclass('stream_right') IS NULL") == "t"


def late(centre: Centre) -> None:
    """Of two processes on one database one has read it before the other one has sent what is newer."""
    database = centre.records("late")
    centre.enrol("pi-1")
    centre.ship("pi-1", database)
    session = Session(centre.server, OWNER)
    session.rows("BEGIN")
    session.rows("LOCK TABLE clock_offset IN ACCESS EXCLUSIVE MODE")
    command = [centre.program, "ship", "--once", "--to", centre.server.address("pi-1"), "--database", str(database)]
    ship = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    waiting = "SELECT count(*) FROM pg_locks WHERE relation = 'clock_offset'::regclass AND NOT granted"
    while session.rows(waiting) != [["1"]]:
        assert ship.poll() is None, ship.communicate()
    # As where the other one has sent.
    columns = "SELECT count(*) FROM pg_attribute WHERE attrelid = 'recording'::regclass AND attname = 'document_version'"
    if session.rows(columns) == [["1"]]:
        session.rows("UPDATE recording SET document_version = document_version + 1")
    session.rows("COMMIT")
    session.end()
    said = ship.communicate()[0]
    assert ship.returncode == 75 and "has changed meanwhile" in said, (ship.returncode, said)
    centre.ship("pi-1", database)


def gone(centre: Centre) -> None:
    """What has changed of a recording that is not there any more."""
    ordinary(centre)
    assert "is not here any more" in refusal(lambda: centre.sql(f"SELECT ship_changes('{json.dumps(document(2))}')", "pi-1"))
    assert centre.sql("SELECT count(*) FROM recording") == "1"


def older_card(centre: Centre) -> None:
    database = centre.records("card")
    centre.enrol("pi-1")
    older = centre.directory / "older.sqlite"
    shutil.copyfile(database, older)
    centre.run("mark", "seizure onset", "--recording", "1", database=database)
    centre.ship("pi-1", database)
    said = refusal(lambda: centre.ship("pi-1", older))
    assert "is older than what is here of the recording" in said and "exit code 65" in said, said
    assert centre.sql("SELECT count(*) FROM annotation WHERE description = 'seizure onset'") == "1"
    centre.run("mark", "later", "--recording", "1", database=database)
    centre.ship("pi-1", database)


def older_card_withdrawn(centre: Centre) -> None:
    """No row is lacking there: the mark is valid again."""
    database = centre.records("withdrawn")
    centre.enrol("pi-1")
    centre.run("mark", "seizure onset", "--recording", "1", database=database)
    older = centre.directory / "valid.sqlite"
    shutil.copyfile(database, older)
    with contextlib.closing(sqlite3.connect(database)) as machine:
        [(number,)] = machine.execute("SELECT id FROM annotation WHERE description = 'seizure onset'").fetchall()
    centre.run("marks", "delete", str(number), database=database)
    centre.ship("pi-1", database)
    withdrawn = "SELECT count(*) FROM annotation WHERE description = 'seizure onset' AND withdrawn_boottime_ns IS NOT NULL"
    assert centre.sql(withdrawn) == "1"
    said = refusal(lambda: centre.ship("pi-1", older))
    assert "it lacks rows, 1 withdrawn of annotation" in said and "exit code 65" in said, said
    assert centre.sql(withdrawn) == "1"


def hostile_block(centre: Centre) -> None:
    """A block that a centre of an earlier version has taken."""
    database = centre.records("block")
    centre.enrol("pi-1")
    centre.sql("SELECT admit('reader', 'sleep'); ALTER TABLE sample_block DROP CONSTRAINT first_n_within_2_to_52")
    centre.ship("pi-1", database)
    lists = ", ".join(["'{1,2,3}'"] * 8)
    centre.sql(f"INSERT INTO sample_block SELECT uuid, {LARGEST - 1}, 3, {lists} FROM stream LIMIT 1")
    output = centre.directory / "block.sqlite"
    said = refusal(
        lambda: centre.run(
            *("fetch", centre.sql("SELECT uuid FROM recording"), "--output", str(output)),
            *("--from", centre.server.address("reader")),
        )
    )
    assert "which no recording comes to" in said and "exit code 65" in said, said
    assert not list(centre.directory.glob(".block*"))


def watermark(centre: Centre) -> None:
    """A centre that says what no recording comes to."""
    database = centre.records("watermark")
    centre.enrol("pi-1")
    centre.ship("pi-1", database)
    centre.sql("ALTER TABLE shipment DROP CONSTRAINT done_n_within_2_to_52")
    centre.sql(f"UPDATE shipment SET done_n = {LARGEST}")
    said = refusal(lambda: centre.ship("pi-1", database))
    assert "exit code 65" in said and "has not come from eegsync" in said, said


def many_gaps(centre: Centre) -> None:
    """More rows of a table than one document has."""
    database = centre.records("gaps")
    with contextlib.closing(sqlite3.connect(database)) as machine:
        columns = "stream_id, first_n, channel, count, cause, host_boot_id, boottime_ns"
        numbers = "WITH RECURSIVE k (n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM k WHERE n < 45000)"
        machine.execute(f"{numbers} INSERT INTO gap ({columns}) SELECT 1, 1000000 + n, 0, 1, 'packetLost', 1, n FROM k")
        machine.commit()
        wanted = machine.execute("SELECT count(*) FROM gap").fetchone()[0]
    centre.enrol("pi-1")
    centre.ship("pi-1", database)
    assert centre.sql("SELECT count(*), count(DISTINCT document_version) FROM gap, recording") == f"{wanted}|1"
    assert centre.sql("SELECT document_version FROM recording") == "3"


CHECKS = {
    "numbers": Check(numbers, "no number of one machine ends a query of another one's reader"),
    "numbers-before": Check(numbers_before, "nor one that is there when the centre is brought up to date", False),
    "others": Check(others_are_sent, "a number beyond the bounds is named, and the machine's other recordings are sent"),
    "role": Check(new_role, "a machine gets another role, and another study sees nothing of the time before"),
    "guesses": Check(guesses, "an estimate says of another study no name"),
    "meanings": Check(meanings, "what a cause means is the machine's own"),
    "erasure": Check(erasure, "who is erased is gone, or it is said where the name still is"),
    "while-sent": Check(erasure_while_sent, "also while its machine sends"),
    "beside": Check(beside, "and so are recordings of other machines with the same samples"),
    "locks": Check(locks, "a lock that everybody may take holds nobody up"),
    "taken": Check(taken, "a mark whose UUID another recording has is refused, and not left out"),
    "reserved": Check(reserved, "a stream is not called as what a cluster has"),
    "late": Check(late, "of two processes the later one puts nothing back"),
    "gone": Check(gone, "what has changed makes no recording"),
    "card": Check(older_card, "an older card puts nothing back"),
    "withdrawn": Check(older_card_withdrawn, "nor makes a mark valid that was withdrawn since"),
    "block": Check(hostile_block, "a block beyond all numbers is no recording that is fetched", False),
    "watermark": Check(watermark, "nor does a centre end ship by a number", False),
    "gaps": Check(many_gaps, "a recording with very many gaps is sent in parts", False),
    **QUOTAS,
    "quota-before": Check(lambda centre: had_before(centre, steps_before), "what a role has sent before is counted", False),
    "owner": Check(lambda centre: of_another_owner(centre, steps_before), "a superuser spoils no other role's centre", False),
}


def steps_before(centre: Centre, role: str = OWNER) -> None:
    """Makes a centre as an earlier version has made it."""
    for step in sorted((CHECKOUT / "Migrations/postgresql").glob("p*.sql")):
        if step.stem < GUARDED:
            noted = f"INSERT INTO schema_step (identifier) VALUES ('{step.stem}')"
            centre.sql(f"{step.read_text()}\n;{noted}", role)


def judge(centre: Centre, check: Check, template: str) -> str | None:
    """Why a check fails at a centre of that kind; nothing where it holds."""
    for statement in ("DROP DATABASE IF EXISTS study", f"CREATE DATABASE study TEMPLATE {template}"):
        subprocess.run([*centre.server.psql(OWNER, "postgres"), "--command", statement], check=True, stderr=subprocess.DEVNULL)
    try:
        check.act(centre)
    except (AssertionError, RefusedError, subprocess.SubprocessError) as failure:
        return f"{type(failure).__name__}: {failure}"
    return None


def main(program: str, *names: str) -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        pathlib.Path(directory).chmod(0o755)
        with Server(pathlib.Path(directory) / "server", {"fsync": "off"}, port=54333) as server:
            centre = Centre(server, program, pathlib.Path(directory))
            for role in ("pi-1", "pi-1b", "evil", "reader", "stranger", "nobody"):
                subprocess.run([*server.psql(OWNER, "postgres"), "--command", f'CREATE ROLE "{role}" LOGIN'], check=True)
            for template in ("before", "guarded"):
                subprocess.run([*server.psql(OWNER, "postgres"), "--command", "CREATE DATABASE study"], check=True)
                steps_before(centre)
                if template == "guarded":
                    centre.centre("init")
                command = f"ALTER DATABASE study RENAME TO {template}"
                subprocess.run([*server.psql(OWNER, "postgres"), "--command", command], check=True)
            for check in (CHECKS[name] for name in names or CHECKS):
                problem = judge(centre, check, "guarded")
                if problem is None and check.is_of_step and judge(centre, check, "before") is None:
                    problem = f"it holds without the steps from {GUARDED} on, too"
                print(f"{'failed' if problem else 'passed'}: {check.words}{f': {problem}' if problem else ''}", flush=True)
                failed += problem is not None
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
