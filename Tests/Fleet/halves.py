#!/usr/bin/env python3
"""A reader that looks at recordings again and again while machines replace what was said of them, for Tests/Fleet/run.

    halves.py PROGRAM DIRECTORY

The page StudyWithManyPis says: what is refitted, corrected or comes late replaces what was there in the transaction that says
so, and readers never see half. So each statement of a reader finds what the centre had while nobody shipped: before a
replacement, or after it. The line is slow, so that many statements fall into each transaction. Afterwards the owner of the
centre commits the halves of a replacement one after the other, which must be noticed. The server is one of its own in
DIRECTORY, which is made. Prints what was seen; exit 1 where it was a mixture.
"""

import pathlib
import subprocess
import sys
import threading
from typing import Self

from cases import CaseError, require
from forgetful import Machine, Study
from postgresql import Server, Session

STREAMS = "(SELECT st.id FROM stream AS st WHERE st.recording_id = r.id)"
UUIDS = "(SELECT st.uuid FROM stream AS st WHERE st.recording_id = r.id)"
# What belongs together, by the name that a problem has for it: a number or a digest of each.
PARTS = {
    "time map": "SELECT md5(string_agg(t::text, ';' ORDER BY stream_id, first_n)) FROM segment AS t "
    f"WHERE stream_id IN {STREAMS}",
    "refits": "SELECT count(*) FROM refit AS t WHERE t.recording_id = r.id",
    "replaced segments": "SELECT count(*) FROM replaced_segment AS t WHERE t.recording_id = r.id",
    "marks": "SELECT string_agg(concat_ws(' ', uuid, boottime_ns, description, replaces, withdrawn_boottime_ns), ';' "
    "ORDER BY uuid) FROM annotation AS t WHERE t.recording_id = r.id",
    "details": "SELECT md5(string_agg(t::text, ';')) FROM recording_detail AS t WHERE t.recording_id = r.id",
    "edits": "SELECT count(*) FROM recording_edit AS t WHERE t.recording_id = r.id",
    "channels": f"SELECT string_agg(name, ',' ORDER BY stream_id, number) FROM channel WHERE stream_id IN {STREAMS}",
    "corrections": "SELECT count(*) FROM channel_correction AS t WHERE t.recording_id = r.id",
    "ledger": "SELECT md5(string_agg(t::text, ';' ORDER BY stream_id, channel, first_n)) FROM gap AS t "
    f"WHERE stream_id IN {STREAMS}",
    "digests": f"SELECT count(*) FROM block WHERE stream_id IN {STREAMS}",
    "rows": f"SELECT sum(row_count) FROM sample_block WHERE stream IN {UUIDS}",
    "late values": f"SELECT coalesce(sum(cardinality(values)), 0) FROM sample_patch WHERE stream IN {UUIDS}",
    "what is there": "SELECT string_agg(concat_ws(' ', done_n, late_number, late_row_count), ';' ORDER BY stream) "
    f"FROM shipment WHERE stream IN {UUIDS}",
}
QUESTION = f"SELECT r.role, {', '.join(f'({statement})' for statement in PARTS.values())} FROM recording AS r ORDER BY r.id"
# Statements of the reader while one machine ships, at the least.
LOOKS = 10
# Bytes a second.
RATE = "20k"

# A recording as a reader sees it.
State = tuple[str, ...]


class Reader:
    """Looks for as long as the block of a `with` statement lasts, each time in a transaction of its own."""

    def __init__(self, server: Server) -> None:
        self.session = Session(server, "reader")
        self.seen: dict[State, int] = {}
        self.looks = 0
        self._looked = threading.Condition()
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        self.looks_again()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended.set()
        self._thread.join()
        self.session.end()

    def looks_again(self) -> None:
        """Waits until a statement has begun and ended since."""
        with self._looked:
            after = self.looks + 2
            require(self._looked.wait_for(lambda: self.looks >= after, timeout=60), "the reader gets no answer")

    def _look(self) -> None:
        while not self._has_ended.is_set():
            rows = self.session.rows(QUESTION)
            with self._looked:
                for row in rows:
                    self.seen[tuple(row)] = self.seen.get(tuple(row), 0) + 1
                self.looks += 1
                self._looked.notify_all()


class Rest:
    """What the centre has while nobody ships."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.states: list[State] = []

    def note(self) -> None:
        self.states += [state for row in self.server.rows(QUESTION, "reader") if (state := tuple(row)) not in self.states]

    def mixture(self, reader: Reader) -> str:
        """How something that a reader has seen differs from all that there was; nothing where it does not."""
        for state in reader.seen:
            others = [other for other in self.states if other[0] == state[0]]
            if state not in others:
                nearest = min(others, key=lambda other: differing(state, other).count(","))
                return f"{state[0]}: {differing(state, nearest)} of another time than the rest"
        return ""


def differing(state: State, other: State) -> str:
    return ", ".join(name for name, own, its in zip(PARTS, state[1:], other[1:], strict=True) if own != its)


def replaces(study: Study, machine: Machine, words: str, parts: str) -> str:
    """Ships what was changed on a machine while a reader looks, which sees that before, and after, and no half."""
    rest = Rest(study.server)
    rest.note()
    before = len(rest.states)
    with Reader(study.server) as reader:
        looks = reader.looks
        study.run("ship", "--once", "--max-rate", RATE, *machine.options())
        looks = reader.looks - looks
        reader.looks_again()
    rest.note()
    require(len(rest.states) == before + 1, f"{words}: {len(rest.states) - before} recordings are others than before")
    changed = differing(next(state for state in rest.states if state[0] == machine.role), rest.states[-1])
    require(changed == parts, f"{words}: replaced were {changed}")
    require(looks >= LOOKS, f"{words}: the reader has looked {looks} times")
    require(all(state in reader.seen for state in rest.states), f"{words}: the reader has not seen both")
    mixture = rest.mixture(reader)
    require(not mixture, f"{words}: a reader has seen {mixture}")
    fetched = str(study.directory / "fetched.sqlite")
    study.run("fetch", machine.uuid, "--force", "--from", study.server.address("reader"), "--output", fetched)
    study.run("verify", fetched, "--database", str(machine.path))
    return f"{words}: {changed}; the reader looked {looks} times"


def notices_half(study: Study, first: str, second: str) -> str:
    """A replacement in two transactions: what the reader sees between them is noticed."""
    rest = Rest(study.server)
    rest.note()
    with Reader(study.server) as reader:
        study.server.rows(first)
        reader.looks_again()
        study.server.rows(second)
        reader.looks_again()
    rest.note()
    mixture = rest.mixture(reader)
    require(mixture, f"half of a replacement is not noticed: {first}")
    return f"noticed: {mixture}"


def receives(machine: Machine, *arguments: str) -> None:
    """What twins.py writes is all that the machine has recorded."""
    directory = machine.study.directory / f"{machine.role}.received"
    directory.mkdir()
    machine.path = directory / "eegsync.sqlite"
    command = [sys.executable, "-B", str(pathlib.Path(__file__).with_name("twins.py")), "notifications", *arguments]
    with (directory / "notifications.txt").open("w") as file:
        subprocess.run(command, check=True, stdout=file)
    options = ["--model", "buffered-eeg", "--headset", "left", "--database", str(machine.path)]
    machine.study.run("replay", str(directory / "notifications.txt"), *options)
    machine.rows("UPDATE headset SET uuid = '5eedc0de-0000-4000-8000-000000000001'")


def all_replaced(study: Study) -> None:
    machine, twin, other = fleet = [study.machine() for _ in range(3)]
    receives(twin, "7", "800", "16000", "--lost", "8000-8800", "--half", "10000-10400")
    receives(other, "7", "1600", "16800", "--lost", "3600-3680")
    own = ["--database", str(machine.path)]
    study.run("mark", "eyes closed", "--recording", "1", *own)
    for each in fleet:
        each.ship()
    print(f"{len(PARTS)} parts of {study.server.value('SELECT count(*) FROM recording')} recordings")
    study.run("refit", "1", *own)
    print(replaces(study, machine, "a refitted time map", "time map, refits, replaced segments"))
    study.run("marks", "edit", str(machine.rows("SELECT max(id) FROM annotation")[0][0]), "--text", "eyes shut", *own)
    print(replaces(study, machine, "a corrected mark", "marks"))
    study.run("recordings", "edit", "1", "--notes", "the second", *own)
    machine.script("INSERT INTO channel_correction (stream_id, number, name, reason) VALUES (1, 1, 'A1', 'wired so')")
    print(replaces(study, machine, "a corrected name", "details, edits, channels, corrections"))
    difference = machine.difference()
    require(not difference, difference)
    study.run("merge", str(other.path), "--database", str(twin.path))
    print(replaces(study, twin, "values that came late", "marks, ledger, digests, rows, late values, what is there"))
    own_streams = f"(SELECT id FROM stream WHERE recording_id = (SELECT id FROM recording WHERE role = '{machine.role}'))"
    for first, second in (
        (
            f"UPDATE segment SET period_ns = period_ns + 0.5 WHERE stream_id IN {own_streams}",
            "DELETE FROM recording_row WHERE table_name = 'replaced_segment'",
        ),
        (
            f"UPDATE channel SET name = 'A2' WHERE name = 'A1' AND stream_id IN {own_streams}",
            "DELETE FROM recording_row WHERE table_name = 'channel_correction'",
        ),
        ("DELETE FROM sample_patch", "UPDATE shipment SET late_row_count = late_row_count - 1 WHERE late_row_count > 0"),
    ):
        print(notices_half(study, first, second))


def main(program: str, directory: str) -> int:
    work = pathlib.Path(directory)
    work.mkdir()
    work.chmod(0o755)
    try:
        with Server(work / "server", {"fsync": "off"}) as server:
            all_replaced(Study(program, work, server))
    except (CaseError, subprocess.SubprocessError) as problem:
        print(problem)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
