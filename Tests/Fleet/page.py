#!/usr/bin/env python3
"""Runs every command and query of the page StudyWithManyPis, in their order, with a real server.

    page.py PROGRAM SERVER CERTIFICATE DATABASE

SERVER is the directory of the server's socket and data, CERTIFICATE that of its authority, DATABASE what a machine has recorded
at 2026-03-01 10:00, with a channel TP9. The server has a certificate for the name that the page's addresses have. The database
`study` and the page's roles must not be there yet.

What is run is the page's own text. ADAPTED says what is run instead of a command, EXCLUDED what is not run; both name only what
the page has. Afterwards the mistakes of PLANTED, each in a command or a query of the page, must be noticed.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
PAGE = CHECKOUT / "Sources/eegsync/eegsync.docc/StudyWithManyPis.md"
PASSWORD = "correct horse"
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
        r"{ \g<0> --port 18598 & serving=$!; until " + LOOKED + "; do kill -0 $serving || exit 1; done; kill $serving; }",
    ),
    # It ends when everything is there.
    (r"^eegsync ship --to .*", r"\g<0> --once"),
    # On the machine, where the recording has another number.
    (r"^eegsync export 12 -o night\.sqlite$", "eegsync export 1 -o machine.sqlite"),
    (r"^eegsync export -o night\.sqlite$", "eegsync export 1 -o selected.sqlite"),
    (r"^eegsync centre erase SUBJECT$", "$OWNER eegsync centre erase nobody --database postgresql:///study || [ $? -eq 66 ]"),
    (r"^pg_dump study$", "$OWNER pg_dump study >backup.sql"),
]

# (what the page has, what is written instead, and what is said of it then)
PLANTED = [
    ("fleet --from", "fleet --form", "Unknown option '--form'"),
    ("fetch 12 -o night.sqlite", "fetch 13 -o never.sqlite", "has no recording 13"),
    ("eegsync centre admit ada", "eegsync centre admits ada", "Usage: eegsync centre"),
    ("missing FROM recording_overview", "missing FROM recordings_overview", "does not exist"),
    ('avg("TP9")', 'avg("TP8")', "does not exist"),
    ("'2026-03-01 10:00', '2026-03-01 10:01'", "'2026-02-01 10:00', '2026-02-01 10:01'", "gives no row"),
    ("max_rate: 100k", "max_rates: 100k", "max_rates"),
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
        program, server, certificate, database = map(pathlib.Path, arguments)
        self.directory = directory
        self.used: set[str] = set()
        port = os.environ["PGPORT"]
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "EEGSYNC_"))} | {
            "HOME": str(directory),
            "PATH": f"{program.resolve().parent}:{os.environ['PATH']}",
            "PGPORT": port,
            "PGHOSTADDR": "127.0.0.1",
            "EEGSYNC_DATABASE": str(directory / "eegsync.sqlite"),
            "OWNER": f"env -u PGHOSTADDR PGHOST={server} PGUSER=owner",
            "UNIT": unit_environment(directory),
        }
        shutil.copy(database, directory / "eegsync.sqlite")
        (directory / ".postgresql").mkdir()
        for copy in (directory / "root.crt", directory / ".postgresql/root.crt"):
            shutil.copy(certificate, copy)
        login = (
            stated(page, r"study\.example\.org:5432:study:pi-07:PASSWORD").replace("5432", port).replace("PASSWORD", PASSWORD)
        )
        self.write("pgpass", login)
        self.write(".pgpass", login + "\n" + login.replace("pi-07", "ada"))
        self.write("eegsync.yaml", self.configuration(stated(page, r"ship: \{to: [^`]*\}")))
        # Whoever comes over the network needs a password from now on.
        entries = server / "data/pg_hba.conf"
        entries.write_text(stated(page, r"hostssl study [^`]*") + "\n" + entries.read_text(encoding="utf-8"), encoding="utf-8")
        self.shell("$OWNER psql --quiet --tuples-only postgres --command 'SELECT pg_reload_conf()'")

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

    def problem(self, item: Item) -> str | None:
        """Runs it; what is wrong with it, or nothing."""
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
        address = "postgresql://ada@study.example.org/study"
        options = "--no-psqlrc --quiet --csv --tuples-only --set ON_ERROR_STOP=1 --pset null=NULL"
        result = self.shell(f"psql {options} {address} --command {shlex.quote(query)}")
        if result.returncode != 0:
            return result.stderr.rstrip()
        rows = result.stdout.splitlines()
        if not rows:
            return "gives no row"
        whole = [row for row in rows if "NULL" not in row.split(",")]
        return None if whole or query.startswith("SELECT *") else f"gives no value: {rows[0]}"


def unit_environment(directory: pathlib.Path) -> str:
    unit = (CHECKOUT / "Deploy/eegsync-ship.service").read_text(encoding="utf-8")
    return " ".join(re.findall(r"^Environment=(.*)$", unit, re.MULTILINE)).replace("/etc/", f"{directory}/etc/")


def missed(study: Study, found: list[Item]) -> list[str]:
    """Planted mistakes that were not noticed, or not as such."""
    failures = []
    for right, wrong, words in PLANTED:
        item = next((each for each in found if right in each.text), None)
        if item is None:
            failures.append(f"no mistake can be planted: {PAGE.name} has no {right}")
            continue
        problem = study.problem(item._replace(text=item.text.replace(right, wrong)))
        if problem is None or words not in problem:
            failures.append(f"{PAGE.name}:{item.line}: {wrong} instead of {right}: wanted {words}, got {problem}")
    return failures


def main() -> int:
    page = PAGE.read_text(encoding="utf-8")
    found = items(page)
    with tempfile.TemporaryDirectory(prefix="eegsync-study-") as directory:
        study = Study(pathlib.Path(directory), page, sys.argv[1:])
        problems = [(item, study.problem(item)) for item in found]
        failures = [f"{PAGE.name}:{item.line}: {item.text.rstrip()}: {problem}" for item, problem in problems if problem]
        rules = [*EXCLUDED, *(pattern for pattern, _ in ADAPTED)]
        failures += [f"{PAGE.name} has no command for the rule {rule}" for rule in rules if rule not in study.used]
        failures += missed(study, found)
    print("\n".join(failures))
    print(f"{len(found)} commands and queries, {len(PLANTED)} planted mistakes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
