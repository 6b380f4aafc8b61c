"""A centre, the machines that send to it what they please, and the documents in which they say it, for guards.py."""

import contextlib
import json
import pathlib
import shutil
import subprocess
from collections.abc import Callable
from typing import Any, NamedTuple

from postgresql import OWNER, Server

LARGEST = 9223372036854775807
Document = dict[str, Any]
# All columns of these are asked for.
VIEWS = ["recording_overview", "stream_overview", "gap_time", "segment_time", "annotation_time", "fleet", "eeg", "sample_long"]


def uuid(number: int) -> str:
    return f"00000000-0000-4000-8000-{number:012d}"


def document(number: int, *, stream: Document | None = None, **members: Any) -> Document:
    """A recording with one stream of one channel, as a machine says it. Keys are those of the tables."""
    channel = {"number": 1, "name": "TP9", "type": "EEG", "unit": "uV", "scale": 1, "offset": 0}
    own: Document = {"uuid": uuid(1000 + number), "position": 0, "name": "eeg", "bank": 0, "sampling_frequency": 250}
    own |= {"samples_per_count": 1, "counter_modulus": 65536, "channel_count": 1, "view_name": "eeg"}
    own |= {"channel": [channel | {"raw_minimum": 0, "raw_maximum": 9}], "segment": [segment()], "gap": [], "epoch": []}
    own |= {"block": [], "loss_detection": []} | (stream or {})
    recording = {"uuid": uuid(number), "id": number, "desired_state": "recording", "requested_host_boot": "boot"}
    recording |= {"requested_boottime_ns": 1} | members.pop("recording", {})
    headset = {"uuid": uuid(2000 + number), "name": "left", "model": "m"} | members.pop("headset", {})
    said: Document = {name: [] for name in ("recording_detail", "recording_property", "annotation", "link")}
    return said | {"recording": recording, "headset": headset, "stream": [own]} | members


def segment(**values: Any) -> Document:
    numbers = {"first_n": 0, "last_n": 99, "epoch": 0, "reference_n": 0, "reference_boottime_ns": 1, "period_ns": 4e6}
    return {**numbers, "host_boot": "boot", "observation_count": 2, **values}


def gap(**values: Any) -> Document:
    numbers = {"first_n": 10, "channel": 0, "count": 2, "recovered": 0, "host_boot": "boot", "boottime_ns": 1}
    return {**numbers, "cause": "packetLost", "meaning": "a packet is missing", "certainty": "counted", **values}


def mark(number: int, text: str) -> Document:
    return {"uuid": uuid(number), "host_boot": "boot", "boottime_ns": 5, "description": text, "source": "operator"}


class RefusedError(Exception):
    """A statement that the server has refused, or a command that did not end with 0."""


class Centre:
    """A centre in the database `study`, and a machine's databases."""

    def __init__(self, server: Server, program: str, directory: pathlib.Path) -> None:
        self.server, self.program, self.directory = server, program, directory

    def sql(self, statement: str, role: str = OWNER) -> str:
        answer = subprocess.run(
            self.server.psql(role), check=False, input=statement, capture_output=True, text=True, encoding="utf-8"
        )
        if answer.returncode:
            raise RefusedError(answer.stderr)
        return answer.stdout.strip()

    def run(self, *arguments: str, database: pathlib.Path | None = None) -> str:
        command = [self.program, *arguments, *(["--database", str(database)] if database else [])]
        answer = subprocess.run(
            command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8"
        )
        if answer.returncode:
            raise RefusedError(f"exit code {answer.returncode}: {answer.stdout}")
        return answer.stdout

    def centre(self, *arguments: str) -> str:
        return self.run("centre", *arguments, "--database", self.server.address(OWNER))

    def enrol(self, role: str, study: str = "sleep") -> None:
        self.sql(f"SELECT enrol('{role}', '{study}')")

    def send(self, role: str, sent: Document, offset: int = 1_700_000_000_000_000_000) -> None:
        """A machine says what it has, as one of another program would."""
        clock = [{"id": 1, "boottime_ns": 0, "offset_ns": offset, "step_ns": 0, "is_synchronised": 1}]
        boots = json.dumps([{"uuid": "boot", "clock_offset": clock}])
        words = json.dumps(sent).replace("'", "''")
        self.sql(f"SELECT ship_host_boots('{boots}'); SELECT ship_recording('{words}')", role)

    def block(self, role: str, number: int, first: int) -> None:
        self.sql(f"INSERT INTO sample_block VALUES ('{uuid(1000 + number)}', {first}, 2, '{{1,2}}')", role)

    def views(self, role: str = "reader") -> None:
        """All columns of all views: one that is not asked for is not computed."""
        for view in VIEWS:
            self.sql(f"SELECT t::text FROM {view} AS t", role)

    def ship(self, role: str, database: pathlib.Path) -> str:
        return self.run("ship", "--once", "--to", self.server.address(role), database=database)

    def dump(self) -> str:
        command = [str(self.server.binaries / "pg_dump"), "--data-only", self.server.address(OWNER)]
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, encoding="utf-8").stdout

    def records(self, name: str) -> pathlib.Path:
        """The database of a machine that has recorded for some seconds."""
        made = self.directory / f"{name}.demo"
        shutil.rmtree(made, ignore_errors=True)
        self.run("demo", "--directory", str(made), "--seed", "1", "--seconds", "30")
        return made / "eegsync.sqlite"


class Check(NamedTuple):
    act: Callable[[Centre], None]
    words: str
    # Whether it fails where the step is missing.
    is_of_step: bool = True


def absurd(centre: Centre) -> None:
    """Sends each number that broke a view once; what is refused is not there."""
    values: list[Document] = [{"gap": [gap(**{name: LARGEST})]} for name in ("first_n", "count", "boottime_ns", "recovered")]
    values += [
        {"segment": [segment(**{name: -LARGEST})]} for name in ("first_n", "last_n", "reference_n", "reference_boottime_ns")
    ]
    values += [{"segment": [segment(period_ns=value)]} for value in ("NaN", "Infinity", 1e300)]
    values += [{"sampling_frequency": value} for value in (1e-300, "Infinity")] + [{"samples_per_count": 2**31 - 1}]
    values += [{"block": [{"chain": "live", "number": 0, "channel": 0, "first_n": -LARGEST - 1, "last_n": 1, "row_count": 1}]}]
    values[-1]["block"][0]["digest"] = "00" * 32
    # Each fits, and not their sum.
    values += [{"gap": [gap(first_n=100 + n, count=2**52) for n in range(3000)]}]
    for number, stream in enumerate(values, 10):
        with contextlib.suppress(RefusedError):
            centre.send("evil", document(number, stream=stream))
    for value in (LARGEST, -LARGEST):
        with contextlib.suppress(RefusedError):
            centre.send("evil", document(98, recording={"requested_boottime_ns": value}))
    centre.send("evil", document(99))
    for statement in (
        f"NULL, {-LARGEST - 1}, {-LARGEST - 1}, NULL, NULL",
        f"{LARGEST}, NULL, NULL, NULL, NULL",
        "1, 9, 5, NULL, NULL",
    ):
        with contextlib.suppress(RefusedError):
            centre.sql(
                f"SELECT ship_begin('{uuid(1099)}', NULL, NULL, NULL, NULL); SELECT ship_end('{uuid(1099)}', {statement})",
                "evil",
            )
    for first in (LARGEST, -LARGEST):
        with contextlib.suppress(RefusedError):
            centre.block("evil", 99, first)


def ordinary(centre: Centre, study: str = "sleep") -> None:
    """A machine with a recording, and a reader of its study."""
    centre.enrol("pi-1", study)
    centre.sql(f"SELECT admit('reader', '{study}')")
    centre.send("pi-1", document(1, stream={"gap": [gap()]}, annotation=[mark(5, "eyes open")]))
    centre.block("pi-1", 1, 0)
    centre.sql(f"SELECT ship_views('{uuid(1)}')", "pi-1")


def refusal(act: Callable[[], object]) -> str:
    """What is said where something is refused."""
    try:
        act()
    except RefusedError as refused:
        return str(refused)
    raise AssertionError("it was not refused")
