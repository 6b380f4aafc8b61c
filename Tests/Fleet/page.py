#!/usr/bin/env python3
"""Runs every command and query of the page StudyWithManyPis, in their order, with a real server.

    page.py PROGRAM SERVER DATABASE

SERVER is the directory of the server's socket and data, and of a certificate that the page's machines do not trust (server.crt,
server.key); DATABASE is what a machine has recorded at 2026-03-01 10:00, with a channel TP9. The server is started anew; the
database `study` and the page's roles must not be there yet.

What is run is the page's own text. ADAPTED says what is run instead of a command, EXCLUDED what is not run; both name only what
the page has. AFTERWARDS says what must hold once a command was run. A second machine is enrolled and sends by the page's own
commands. At the end the mistakes of PLANTED, each in a command or a query of the page, must be noticed, those of SETTINGS, with
which nobody reaches the server, and those of BACKUPS and CHANGES, in what is made of a backup.
"""

import contextlib
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import NamedTuple

from postgresql import Server, as_server, newest_binaries

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
PAGE = CHECKOUT / "Sources/eegsync/eegsync.docc/StudyWithManyPis.md"
PASSWORD = "correct horse"
# For the network: a server that listens at localhost alone is not there, and whoever is elsewhere does not reach it.
NETWORK = "127.0.0.2"
ADA = "postgresql://ada@study.example.org/study"
# Reads another study, and nothing of this one.
STRANGER = "bob"
# The second machine.
OTHER = "pi-08"
EVERYTHING = "The centre has everything that is recorded."
OPTIONS = "--no-psqlrc --quiet --csv --tuples-only --set ON_ERROR_STOP=1 --pset null=NULL"
LOOKED = f"""python3 -B '{CHECKOUT}/Tests/Fleet/study_page.py' 18598 "len(page.get('rows', []))\""""

# Commands that change the machine, where what they install is there, and what wants more than one server.
EXCLUDED = [
    "sudo apt-get install postgresql",
    # Tests/Fleet/wire.py does, with a server of its own.
    "ssh -C -N -L 5433:localhost:5432 pi-07@study.example.org",
    # Tests/Fleet/citus does, with a cluster.
    "sudo -u postgres eegsync centre init --citus --database postgresql:///study",
]

# (pattern of a command, what is run instead); the first that fits.
ADAPTED = [
    # The page's queries ask for recording 12.
    (
        r"^sudo -u postgres (eegsync centre init .*)",
        r'$OWNER \1 && $OWNER psql --quiet study --command "ALTER TABLE recording ALTER COLUMN id RESTART WITH 12"',
    ),
    # Nobody else shall reach the server meanwhile.
    (r"^sudo -u postgres (psql .*listen_addresses = )'\*'(.*)", rf"$OWNER \1'{NETWORK}'\2"),
    # Where this server may read it.
    (r"^sudo -u postgres (psql .*)'/etc/postgresql/(.*)", r"$OWNER \1'$SERVER/etc/\2"),
    (r"^sudo install --owner postgres --group postgres (.*) /etc/postgresql$", r"install $POSTGRES \1 $SERVER/etc"),
    (r'^(echo .*) sudo tee (.*)"\$\(sudo -u postgres (.*)', r'\1 tee \2"$($OWNER \3'),
    # Its output would be that of the server, for whose end nobody waits.
    (r"^sudo systemctl restart postgresql$", "$CONTROL restart >/dev/null"),
    # On the new server.
    (r"^sudo -u postgres (psql .*<roles\.sql|pg_restore .*)", r"$NEW_OWNER \1"),
    # Once more with a planted mistake.
    (r"^psql .* while read .*", r"rm -f [0-9]*.sqlite; \g<0>"),
    # Passwords are asked for; the user of the system is a role of the server.
    (r"^sudo -u postgres (createuser --pwprompt .*)", rf"printf '%s\\n' '{PASSWORD}' '{PASSWORD}' | $OWNER \1"),
    # The page's machine sends on with its first role.
    (
        r"^sudo -u postgres (eegsync centre enrol) pi-07b (.*) --instead-of pi-07 (.*)",
        r"$OWNER createuser pi-06 && $OWNER \1 pi-06 \2 \3 && $OWNER \1 pi-07b \2 --instead-of pi-06 \3",
    ),
    (r"^sudo -u postgres (.*)", r"$OWNER \1"),
    # Below the directory, for the user that runs this.
    (r"^sudo install (.*)--owner eegsync --group eegsync (.*) /etc/", r"install \1\2 etc/"),
    # What the service runs, with its files of passwords and certificates, until everything is there.
    (r"^sudo systemctl enable --now eegsync-ship$", "env HOME=/nonexistent $UNIT eegsync ship --once --config eegsync.yaml"),
    # Exit codes that say how the fleet is, and no mistake.
    (r"^eegsync fleet .*", r"\g<0> || case $? in 69 | 75) ;; *) exit 1 ;; esac"),
    # Until somebody has looked.
    (
        r"^eegsync serve .*",
        r"{ \g<0> --port 18598 & serving=$!; until "
        + LOOKED
        + "; do [ $SECONDS -lt 60 ] && kill -0 $serving || exit 1; done; kill $serving; }",
    ),
    # It ends when everything is there.
    (r"^eegsync ship --to .*", r"\g<0> --once"),
    # On the machine, where the recording has another number.
    (r"^eegsync export 12 -o night\.sqlite$", "eegsync export 1 -o machine.sqlite"),
    (r"^eegsync export -o night\.sqlite$", "eegsync export 1 -o selected.sqlite"),
    (r"^eegsync centre erase SUBJECT$", "$OWNER eegsync centre erase nobody --database postgresql:///study || [ $? -eq 66 ]"),
]

# (pattern of a command or a query, which is the first that fits, and the method of Study that says what is wrong after it)
AFTERWARDS = [
    (r"GROUP BY headset", "machines_problem"),
    (r"^sudo -u postgres pg_restore ", "restored_problem"),
    (r"^psql .* while read ", "files_problem"),
]

# (what the page has, what is written instead, and what is said of it then)
PLANTED = [
    ("fleet --from", "fleet --form", "Unknown option '--form'"),
    ("fetch 12 -o night.sqlite", "fetch 99 -o never.sqlite", "has no recording 99"),
    ("eegsync centre admit ada", "eegsync centre admits ada", "Usage: eegsync centre"),
    ("missing FROM recording_overview", "missing FROM recordings_overview", "does not exist"),
    ('avg("TP9")', 'avg("TP8")', "does not exist"),
    ("'2026-03-01 10:00', '2026-03-01 10:01'", "'2026-02-01 10:00', '2026-02-01 10:01'", "gives no row"),
    ("max_rate: 100k", "max_rates: 100k", "max_rates"),
    ("GROUP BY headset", "WHERE recording_id = 12 GROUP BY headset", "is of 1 machine"),
    ("FROM recording ORDER BY id", "FROM recording LIMIT 1", "has fetched 1 of 2 recordings"),
    ('eegsync fetch "$id" -o "$id.sqlite"', 'eegsync fetch 12 -o "$id.sqlite"', "has fetched 1 of 2 recordings"),
]

# (what the page has of the server's settings, what is written instead, and what is said where a reader connects then)
SETTINGS = [
    ("listen_addresses = '*'", "listen_addresses = 'localhost'", "Connection refused"),
    ("ssl_cert_file = '/etc/postgresql/server.crt'", "ssl_cert_file = '../server.crt'", "could not start server"),
    ("hostssl study all", "hostssl studies all", "no pg_hba.conf entry"),
]

# (what the page has of backups, what is written instead, and what is said of it then)
BACKUPS = [
    ("--globals-only", "--tablespaces-only", 'role "eegsync_read" does not exist'),
    ("pg_restore --create", "pg_restore", 'database "study" does not exist'),
    ("--format=custom", "--format=custom --schema-only", "recording_overview"),
]

# (what is changed at a centre that was restored, one after another, and what is said of it from then on)
CHANGES = [
    ("ALTER ROLE ada CONNECTION LIMIT 1", "roles: "),
    ("ALTER DATABASE study RESET temp_file_limit", "settings: "),
    ("UPDATE sample_block SET c1[5] = c1[5] + 1 WHERE first_n = (SELECT min(first_n) FROM sample_block)", "eeg as ada: "),
    ("UPDATE recording SET subject = 'P08' WHERE id = 12", "recording_overview as ada: "),
    (
        f"INSERT INTO study_reader (study_id, role) SELECT id, '{STRANGER}' FROM study ON CONFLICT DO NOTHING",
        f"eeg as {STRANGER}: ",
    ),
    ("UPDATE recording SET subject = 'gone' WHERE id = 13; SELECT erase('gone')", f"{OTHER} sends"),
]


class Item(NamedTuple):
    line: int
    # sh, sql, yaml, or what stands in a sentence.
    kind: str
    text: str


def items(page: str) -> list[Item]:
    """Commands, queries and configurations of fenced blocks, and then the commands in sentences, each once."""
    found: list[Item] = []
    sentences: list[Item] = []
    kind, block, begin = "", "", 0
    for number, line in enumerate(page.splitlines(), start=1):
        if line.startswith("```"):
            if kind == "yaml":
                found.append(Item(begin, kind, block))
            kind, block, begin = "" if kind else line[3:].strip(), "", number + 1
        elif kind == "sh" and line.startswith(" "):
            # It goes on with the line before.
            found[-1] = found[-1]._replace(text=found[-1].text.removesuffix("\\").rstrip() + " " + line.strip())
        elif kind in {"sh", "sql"} and line.strip():
            found.append(Item(number, kind, line.strip()))
        elif kind:
            block += line + "\n"
        else:
            sentences += [Item(number, "sentence", text) for text in re.findall(r"`((?:eegsync|pg_dump) [^`]+)`", line)]
    known = {item.text for item in found}
    for item in sentences:
        if item.text not in known:
            known.add(item.text)
            found.append(item)
    return found


def stated(page: str, pattern: str) -> str:
    """What the page says that somebody writes into a file."""
    found = re.search(pattern, page)
    return found[0] if found else sys.exit(f"{PAGE.name} has nothing like {pattern}")


class Study:
    """A directory in which the page's commands are run, as on the server, on a machine and by a reader."""

    def __init__(self, directory: pathlib.Path, page: str, arguments: list[str]) -> None:
        program, server, database = map(pathlib.Path, arguments)
        self.directory = directory
        self.server = server
        self.used: set[str] = set()
        self.port = int(os.environ["PGPORT"])
        control = [*as_server(), str(newest_binaries() / "pg_ctl"), f"--pgdata={server}/data", f"--log={server}/log", "--wait"]
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "EEGSYNC_"))} | {
            "HOME": str(directory),
            "PATH": f"{program.resolve().parent}:{os.environ['PATH']}",
            "PGPORT": str(self.port),
            "PGHOSTADDR": NETWORK,
            "EEGSYNC_DATABASE": str(directory / "eegsync.sqlite"),
            "SERVER": str(server),
            "OWNER": f"env -u PGHOSTADDR PGHOST={server} PGUSER=owner PGDATABASE=postgres",
            "POSTGRES": "--owner postgres --group postgres" if as_server() else "",
            "CONTROL": f"env --chdir=/ {shlex.join(control)}",
            "UNIT": unit_environment(directory),
        }
        shutil.copy(database, directory / "eegsync.sqlite")
        (directory / ".postgresql").mkdir()
        (directory / ".postgresql/root.crt").symlink_to("../root.crt")
        login = stated(page, r"study\.example\.org:5432:study:pi-07:PASSWORD").replace("PASSWORD", PASSWORD)
        self.write("pgpass", login.replace("5432", str(self.port)))
        roles = ("pi-07", OTHER, "ada", STRANGER)
        self.write(".pgpass", "\n".join(login.replace("5432", "*").replace("pi-07", role) for role in roles))
        self.write("eegsync.yaml", self.configuration(stated(page, r"ship: \{to: [^`]*\}")))
        self.start_as_installed(control)
        self.record_other()

    def start_as_installed(self, control: list[str]) -> None:
        """As Debian's package does: at localhost, with a certificate that nobody trusts."""
        (self.server / "etc").mkdir()
        with (self.server / "data/postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write("".join(f"{key} = {value}\n" for key, value in self.certificate(self.server).items()))
        self.admit_by_socket_alone(self.server / "data")
        options = f"-c unix_socket_directories={self.server} -c fsync=off"
        self.succeed(f"cd / && {shlex.join([*control, f'--options={options}'])} restart >/dev/null")

    @staticmethod
    def admit_by_socket_alone(data: pathlib.Path, *entries: str) -> None:
        """But for what the page adds. Whoever asks for NETWORK comes from 127.0.0.1, which initdb trusts."""
        file = data / "pg_hba.conf"
        lines = [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("host")]
        file.write_text("\n".join([*lines, *entries]) + "\n", encoding="utf-8")

    @staticmethod
    def certificate(directory: pathlib.Path) -> dict[str, str]:
        settings = {"ssl_cert_file": f"'{directory}/server.crt'", "ssl_key_file": f"'{directory}/server.key'"}
        return {"ssl": "on", **settings}

    def record_other(self) -> None:
        """What a second machine has recorded, with another headset."""
        self.succeed("eegsync demo --directory other --seed 13 --seconds 60 && mv other/eegsync.sqlite other.sqlite")
        with contextlib.closing(sqlite3.connect(self.directory / "other.sqlite")) as database, database:
            database.execute("UPDATE headset SET name = 'other', serial_number = 'BE-2026-10002'")
            database.execute(
                "INSERT INTO channel_correction (stream_id, number, name, reason) VALUES (1, 1, 'TP9', 'the page')"
            )

    def enrol_other(self, found: list[Item]) -> list[str]:
        """What the page says of a machine, for a second one."""
        problems = []
        for begin in (
            "sudo -u postgres createuser --pwprompt pi-07",
            "sudo -u postgres eegsync centre enrol pi-07 ",
            "eegsync ship --to ",
        ):
            item = next(each for each in found if each.text.startswith(begin))
            command = self.adapted(re.sub(r"\bpi-07\b", OTHER, item.text))
            result = self.shell(f"export EEGSYNC_DATABASE={self.directory}/other.sqlite; {command}")
            if result.returncode != 0:
                problems.append(f"{PAGE.name}:{item.line}: {item.text} for {OTHER}: {result.stdout}{result.stderr}")
        return problems

    def admit_stranger(self, found: list[Item]) -> list[str]:
        """What the page says of a reader, for one of another study."""
        problems = []
        for begin in ("sudo -u postgres createuser --pwprompt ada", "sudo -u postgres eegsync centre admit ada "):
            item = next(each for each in found if each.text.startswith(begin))
            changed = item._replace(text=item.text.replace("ada", STRANGER).replace("sleep", "other"))
            problem = self.problem(changed)
            problems += [f"{PAGE.name}:{item.line}: {changed.text}: {problem}"] if problem else []
        return problems

    def write(self, name: str, text: str) -> None:
        file = self.directory / name
        file.write_text(text + "\n", encoding="utf-8")
        file.chmod(0o600)

    def configuration(self, part: str) -> str:
        return f"database: {self.directory}/eegsync.sqlite\nheadsets: [{{name: left, model: buffered-eeg}}]\n{part}"

    def shell(self, command: str) -> subprocess.CompletedProcess[str]:
        # Without a terminal, so that passwords are read from the standard input.
        return subprocess.run(
            ["bash", "-c", "set -o pipefail; " + command],
            cwd=self.directory,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            start_new_session=True,
            check=False,
        )

    def succeed(self, command: str) -> str:
        result = self.shell(command)
        return result.stdout if result.returncode == 0 else sys.exit(f"{command}: {result.stdout}{result.stderr}")

    def problem(self, item: Item) -> str | None:
        """Runs it; what is wrong with it, or with what it has done, or nothing."""
        problem = self.own_problem(item)
        if problem is None:
            for pattern, method in AFTERWARDS:
                if re.search(pattern, item.text):
                    self.used.add(pattern)
                    check: Callable[[str], str | None] = getattr(self, method)
                    return check(item.text)
        return problem

    def own_problem(self, item: Item) -> str | None:
        if item.text in EXCLUDED:
            self.used.add(item.text)
            return None
        if item.kind == "sql":
            return self.query_problem(item.text)
        if item.kind == "yaml":
            self.write("other.yaml", self.configuration(item.text))
            command = "eegsync configuration check other.yaml"
        elif item.kind == "sentence" and re.fullmatch(r"eegsync [a-z]+( [a-z]+)?", item.text):
            # Named, not written out.
            command = item.text.replace("eegsync", "eegsync help", 1)
        else:
            command = self.adapted(item.text)
        result = self.shell(command)
        return None if result.returncode == 0 else f"exits with {result.returncode}: {result.stdout}{result.stderr}".rstrip()

    def adapted(self, command: str) -> str:
        for pattern, replacement in ADAPTED:
            if re.search(pattern, command):
                self.used.add(pattern)
                return re.sub(pattern, replacement, command)
        return command

    def query_problem(self, query: str) -> str | None:
        """A query of a page gives rows, and where it names its columns, a row with a value in each."""
        result = self.shell(f"psql {OPTIONS} {ADA} --command {shlex.quote(query)}")
        if result.returncode != 0:
            return result.stderr.rstrip()
        rows = result.stdout.splitlines()
        if not rows:
            return "gives no row"
        whole = [row for row in rows if "NULL" not in row.split(",")]
        return None if whole or query.startswith("SELECT *") else f"gives no value: {rows[0]}"

    def machines_problem(self, query: str) -> str | None:
        """It has rows of both machines, with a value in each."""
        rows = [row.split(",") for row in self.succeed(f"psql {OPTIONS} {ADA} --command {shlex.quote(query)}").splitlines()]
        names = ", ".join(f"'{row[0]}'" for row in rows if "NULL" not in row)
        of_machines = f"""SELECT count(DISTINCT r.role) FROM recording AS r JOIN headset AS h ON h.id = r.headset_id
            WHERE h.name IN ({names})"""
        count = int(self.succeed(f"$OWNER psql {OPTIONS} study --command {shlex.quote(of_machines)}"))
        return None if count == 2 and len(rows) == 2 else f"is of {count} machine{'s' * (count != 1)}: {rows}"

    def files_problem(self, command: str) -> str | None:
        """Each recording that the reader may read is in a file of its own, whose audit holds."""
        wanted = self.succeed(f"psql {OPTIONS} {ADA} --command 'SELECT uuid FROM recording'").split()
        uuids = set()
        for file in sorted(self.directory.glob("[0-9]*.sqlite")):
            audit = self.shell(f"eegsync audit --database {file.name}")
            if audit.returncode != 0:
                return f"{file.name} is not what was recorded: {audit.stdout}{audit.stderr}"
            with contextlib.closing(sqlite3.connect(file)) as database:
                uuids |= {uuid for (uuid,) in database.execute("SELECT uuid FROM recording")}
        return None if uuids == set(wanted) and len(wanted) == 2 else f"has fetched {len(uuids)} of {len(wanted)} recordings"

    def new_server(self, name: str) -> Server:
        """To restore into."""
        return Server(self.server / name, {"listen_addresses": NETWORK, "fsync": "off"}, port=self.port + 1)

    def open_to_network(self, server: Server, found: list[Item]) -> None:
        """With the page's certificate and what it says of passwords; what the page calls the new server is this one."""
        entry = next(match[0] for item in found if (match := re.search(r"hostssl study [^']*", item.text)))
        self.admit_by_socket_alone(server.data, entry)
        server.settings |= {key: value.strip("'") for key, value in self.certificate(self.server / "etc").items()}
        server.stop()
        server.start()
        address = f"PGHOST={server.directory} PGPORT={server.port}"
        self.environment["NEW_OWNER"] = f"env -u PGHOSTADDR {address} PGUSER=owner PGDATABASE=postgres"

    def restored_problem(self, command: str) -> str | None:
        return "; ".join(filter(None, (self.difference(), self.sending_problem()))) or None

    def difference(self) -> str | None:
        """What a restored centre has that the other one has not, or the other way round; or that somebody reads too much."""
        said: dict[str, str] = {}
        for role in ("ada", STRANGER):
            address = ADA.replace("ada", role)
            for view, columns in (("recording_overview", "t::text, 1"), ("eeg", "t.recording_id, t.n")):
                rows = f"SELECT count(*), md5(string_agg(t::text, ' ' ORDER BY {columns})) FROM {view} AS t"
                said[f"{view} as {role}"] = f"psql {OPTIONS} {address} --command {shlex.quote(rows)}"
        owners = {
            "settings": "SELECT unnest(setconfig) FROM pg_db_role_setting AS s JOIN pg_database AS d ON d.oid = setdatabase "
            "WHERE datname = 'study' ORDER BY 1",
            "roles": "SELECT rolname, rolcanlogin, rolconnlimit, rolpassword, ARRAY("
            "SELECT roleid::regrole::text FROM pg_auth_members WHERE member = a.oid ORDER BY 1) "
            "FROM pg_authid AS a WHERE rolname !~ '^pg_' ORDER BY 1",
        }
        for name, query in owners.items():
            said[name] = f"$OWNER psql {OPTIONS} study --command {shlex.quote(query)}"
        differences = []
        for name, command in said.items():
            here = self.succeed(command)
            there = self.shell(f"export PGPORT={self.port + 1}; " + command.replace("$OWNER", "$NEW_OWNER"))
            if there.stdout != here or here.startswith("0,") != name.endswith(STRANGER) or not here:
                differences.append(f"{name}: {here.strip()} became {there.stdout.strip()}{there.stderr.strip()}")
        return "; ".join(differences) or None

    def sending_problem(self) -> str | None:
        """Each machine says that everything is there, and has sent nothing."""
        for role, database in (("pi-07", "eegsync.sqlite"), (OTHER, "other.sqlite")):
            command = f"eegsync ship --once --to {ADA.replace('ada', role)} --database {database}"
            result = self.shell(f"PGPORT={self.port + 1} {command}")
            if result.returncode != 0 or result.stdout.strip() != EVERYTHING:
                return f"{role} sends: {result.stdout}{result.stderr}"
        return None


def unit_environment(directory: pathlib.Path) -> str:
    unit = (CHECKOUT / "Deploy/eegsync-ship.service").read_text(encoding="utf-8")
    return " ".join(re.findall(r"^Environment=(.*)$", unit, re.MULTILINE)).replace("/etc/", f"{directory}/etc/")


def replaced(found: list[Item], right: str, wrong: str) -> Item | None:
    """The first item that has it, with the mistake."""
    item = next((each for each in found if right in each.text), None)
    return item._replace(text=item.text.replace(right, wrong)) if item else None


def missed(study: Study, found: list[Item]) -> list[str]:
    """Planted mistakes that were not noticed, or not as such."""
    failures = []
    ways = [(PLANTED, study.problem), (SETTINGS, lambda item: unreachable(study, found, item)),
            (BACKUPS, lambda item: badly_restored(study, found, item))]  # fmt: skip
    for mistakes, run in ways:
        for right, wrong, words in mistakes:
            item = replaced(found, right, wrong)
            if item is None:
                failures.append(f"no mistake can be planted: {PAGE.name} has no {right}")
                continue
            problem = run(item)
            if problem is None or words not in problem:
                failures.append(f"{PAGE.name}:{item.line}: {wrong} instead of {right}: wanted {words}, got {problem}")
    return failures + missed_files(study, found)


def unreachable(study: Study, found: list[Item], wrong: Item) -> str | None:
    """What is said where the server has a mistake in its settings; it has none afterwards."""
    files = [study.server / "data" / name for name in ("pg_hba.conf", "postgresql.auto.conf")]
    kept = [file.read_text(encoding="utf-8") for file in files]
    if "hostssl" in wrong.text:
        files[0].write_text(re.sub(r"^hostssl .*\n", "", kept[0], flags=re.MULTILINE), encoding="utf-8")
    restart = next(item for item in found if item.text == "sudo systemctl restart postgresql")
    problem = study.problem(wrong) or study.problem(restart) or study.query_problem("SELECT 1")
    for file, text in zip(files, kept, strict=True):
        file.write_text(text, encoding="utf-8")
    again = study.problem(restart) or study.query_problem("SELECT 1")
    return f"with the page's own settings: {again}" if again else problem


def badly_restored(study: Study, found: list[Item], wrong: Item) -> str | None:
    """What is said of a backup that was made or restored with a mistake, on a server of its own."""
    with study.new_server("mistaken") as server:
        study.open_to_network(server, found)
        for item in found:
            if re.search(r"(roles\.sql|study\.dump)$", item.text):
                problem = study.problem(wrong if wrong.line == item.line else item)
                if problem:
                    break
        else:
            problem = None
    shutil.rmtree(server.directory)
    return problem


def missed_changes(study: Study) -> list[str]:
    """What differs between a restored centre and the other one, and is not noticed."""
    failures = []
    before = study.restored_problem("") or ""
    for change, words in CHANGES:
        study.succeed(f"$NEW_OWNER psql {OPTIONS} study --command {shlex.quote(change)}")
        problem = study.restored_problem("") or ""
        if words in before or words not in problem:
            failures.append(f"{change}: wanted {words}, got {problem}, and before {before}")
        before = problem
    return failures


def missed_files(study: Study, found: list[Item]) -> list[str]:
    """A file that was fetched and changed, and passes."""
    loop = next(item for item in found if " while read " in item.text)
    problem = study.problem(loop)
    if problem:
        return [f"{loop.text}: {problem}"]
    with contextlib.closing(sqlite3.connect(study.directory / "12.sqlite")) as database, database:
        database.execute("UPDATE sample SET c1 = c1 + 1 WHERE n = (SELECT max(n) FROM sample)")
    problem = study.files_problem(loop.text)
    is_noticed = problem is not None and "12.sqlite is not what was recorded" in problem
    return [] if is_noticed else [f"12.sqlite was changed, and that is not noticed: {problem}"]


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    found = items(page)
    seconds = 0.0
    failures = []
    with tempfile.TemporaryDirectory(prefix="eegsync-study-") as directory:
        study = Study(pathlib.Path(directory), page, sys.argv[1:])
        with study.new_server("restored") as server:
            begin = time.monotonic()
            for index, item in enumerate(found):
                if item.kind == "sql" and "sql" not in {each.kind for each in found[:index]}:
                    failures += study.enrol_other(found)
                if "pg_dumpall" in item.text:
                    study.open_to_network(server, found)
                    failures += study.admit_stranger(found)
                problem = study.problem(item)
                failures += [f"{PAGE.name}:{item.line}: {item.text.rstrip()}: {problem}"] if problem else []
                if not seconds and "GROUP BY" in item.text:
                    seconds = time.monotonic() - begin
            rules = [*EXCLUDED, *(pattern for pattern, _ in [*ADAPTED, *AFTERWARDS])]
            failures += [f"{PAGE.name} has no command for the rule {rule}" for rule in rules if rule not in study.used]
            failures += missed_changes(study)
        failures += missed(study, found)
    print("\n".join(failures))
    print(f"{seconds:.1f} s from the page's first command to its first query over two machines, without apt-get")
    mistakes = len([*PLANTED, *SETTINGS, *BACKUPS, *CHANGES]) + 1
    print(f"{len(found)} commands and queries, {mistakes} planted mistakes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
