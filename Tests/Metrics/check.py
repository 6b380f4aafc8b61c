#!/usr/bin/env python3
"""Has Prometheus scrape a daemon's figures, and compares: check.py PROGRAM DIRECTORY. Tests/Metrics/run calls it."""

import contextlib
import functools
import json
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from typing import Any

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from checklist import check, conclude, notices

DEPLOYED = pathlib.Path(__file__).resolve().parents[2] / "Deploy/metrics"
PATIENCE = 120.0

CONFIGURATION = """\
database: {database}
central: {{kind: simulation, headsets: [{{name: a, model: buffered-eeg, serial: "SIM-0001"}}]}}
headsets:
  - {{name: left, model: buffered-eeg}}
"""
HEADSET = "left"
SCRAPES = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: eegsync
    static_configs: [{{targets: ['{target}']}}]
"""


def run(*command: str, text: str | None = None) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@contextlib.contextmanager
def running(*command: str, log: pathlib.Path) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


def until(what: str, question: Callable[[], object]) -> None:
    """Asks until the answer is yes."""
    deadline = time.monotonic() + PATIENCE
    while not question():
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE:.0f} s"


def get(url: str, accept: str = "") -> str:
    request = urllib.request.Request(url, headers={"Accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=20) as answer:
        text: str = answer.read().decode()
        return text


class Prometheus:
    """One that scrapes each second."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}/api/v1"

    def ask(self, path: str, **parameters: str) -> Any:
        answer = json.loads(get(f"{self.base}/{path}?{urllib.parse.urlencode(parameters)}"))
        assert answer["status"] == "success", answer
        return answer["data"]

    def value(self, expression: str) -> float | None:
        try:
            found = self.ask("query", query=expression)["result"]
        except OSError:
            return None
        return float(found[0]["value"][1]) if found else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def parsed(text: str) -> dict[str, Any]:
    return {family.name: family for family in text_string_to_metric_families(text)}


def dashboard() -> list[str]:
    panels = json.loads((DEPLOYED / "dashboard.json").read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel["targets"]]


def names_figures_that_exist(expressions: list[str], families: dict[str, Any]) -> None:
    known = {name + suffix for name in families for suffix in ("", "_total", "_bucket", "_count", "_sum")}
    for expression in expressions:
        named = set(re.findall(r"eegsync_\w+", expression))
        assert named and named <= known, f"{expression}: {named - known}"


def rules_hold(directory: pathlib.Path, rules: str) -> None:
    shutil.copy(pathlib.Path(__file__).with_name("alerts_test.yml"), directory / "alerts_test.yml")
    (directory / "alerts.yml").write_text(rules)
    run("promtool", "check", "rules", "--lint-fatal", str(directory / "alerts.yml"))
    run("promtool", "test", "rules", str(directory / "alerts_test.yml"))


def check_texts(program: str, configuration: str, database: str, work: pathlib.Path) -> dict[str, Any]:
    metrics = functools.partial(run, program, "metrics", "--config", configuration)
    families: dict[str, Any] = {}

    def is_open_metrics() -> None:
        families.update(parsed(metrics()))
        rows = [sample for sample in families["eegsync_stream_rows"].samples if sample.labels["stream"] == "eeg"]
        assert len(rows) == 1 and rows[0].labels["headset"] == HEADSET, rows
        assert rows[0].value > 0

    def says_what_the_database_says() -> None:
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        before = connection.execute("SELECT rows FROM stream_overview WHERE stream = 'eeg'").fetchone()[0]
        figures = parsed(metrics())
        connection.execute("SELECT 1").fetchone()
        after = connection.execute("SELECT rows FROM stream_overview WHERE stream = 'eeg'").fetchone()[0]
        rows = next(s.value for s in figures["eegsync_stream_rows"].samples if s.labels["stream"] == "eeg")
        assert before <= rows <= after, (before, rows, after)
        assert next(s.value for s in figures["eegsync_daemon_running"].samples) == 1
        state = {s.labels["state"]: s.value for s in figures["eegsync_headset_state"].samples}
        assert state["streaming"] == 1 and sum(state.values()) == 1, state

    check("OpenMetrics is read by a strict reader", is_open_metrics)
    check("figures are the database's", says_what_the_database_says)
    promtool = functools.partial(run, "promtool", "check", "metrics")
    text = metrics("--text")
    check("promtool has nothing to say", lambda: promtool(text=text))
    check("a figure without help is noticed", lambda: notices(lambda: promtool(text=text + "eegsync_x_total 1\n")))
    check("a broken label is noticed", lambda: notices(lambda: promtool(text=text + 'eegsync_y{a="} 1\n')))
    check("a missing end is noticed", lambda: notices(lambda: parsed(metrics().replace("# EOF\n", "")), ValueError))
    check(
        "a unit that the name does not have is noticed",
        lambda: notices(lambda: parsed(metrics().replace(" bytes\n", " grams\n")), ValueError),
    )
    rules = (DEPLOYED / "alerts.yml").read_text()
    check("rules are right, and are raised by what they are for", lambda: rules_hold(work, rules))
    planted = rules.replace("eegsync_storing == 0", "eegsync_storing == 2")
    check("a rule that is never raised is noticed", lambda: notices(lambda: rules_hold(work, planted)))
    check("rules name figures that exist", lambda: names_figures_that_exist(re.findall(r"\beegsync_\w+", rules), families))
    check("the dashboard names figures that exist", lambda: names_figures_that_exist(dashboard(), families))
    check(
        "one that does not exist is noticed",
        lambda: notices(lambda: names_figures_that_exist(["rate(eegsync_z[5m])"], families)),
    )
    return families


def check_server(address: str, server: subprocess.Popen[bytes]) -> None:
    host, port = re.fullmatch(r"http://([\d.]+):(\d+)/metrics", address).groups()  # type: ignore[union-attr]

    def says(data: bytes) -> bytes:
        with socket.create_connection((host, int(port)), timeout=20) as client:
            client.sendall(data)
            answer = b""
            while piece := client.recv(65536):
                answer += piece
            return answer

    def malformed() -> None:
        for data, status in [
            (b"hello\r\n\r\n", 400),
            (b"GET /x HTTP/1.1\r\n\r\n", 404),
            (b"PUT /metrics HTTP/1.1\r\n\r\n", 405),
        ]:
            assert says(data).startswith(f"HTTP/1.1 {status} ".encode()), data
        assert says(b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 5000).startswith(b"HTTP/1.1 431 ")

    def slow() -> None:
        clients = [socket.create_connection((host, int(port)), timeout=20) for _ in range(200)]
        for client in clients:
            with contextlib.suppress(OSError):
                client.send(b"GET /me")
        assert "eegsync_daemon_running 1" in get(address)
        for client in clients:
            client.close()

    def small() -> None:
        status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
        resident = int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])  # type: ignore[index]
        assert resident < 128_000, f"{resident} kB"
        assert re.search(r"Threads:\s+\d+", status)

    check("what is no request is refused", malformed)
    check("200 clients that say nothing keep nobody out", slow)
    check("all of that takes little memory", small)
    check("it goes on", lambda: server.poll() is None or 1 / 0)


def check_scrapes(address: str, daemon: subprocess.Popen[bytes], work: pathlib.Path, families: dict[str, Any]) -> None:
    target = address.removeprefix("http://").removesuffix("/metrics")
    (work / "prometheus.yml").write_text(SCRAPES.format(target=target))
    port = free_port()
    command = [
        "prometheus", f"--config.file={work}/prometheus.yml", f"--storage.tsdb.path={work}/tsdb",
        f"--web.listen-address=127.0.0.1:{port}", "--log.level=warn",
    ]  # fmt: skip
    prometheus = Prometheus(port)
    value = prometheus.value
    with running(*command, log=work / "prometheus.log"):
        check("Prometheus scrapes it", lambda: until("up", lambda: value('up{job="eegsync"}') == 1))
        rows = 'eegsync_stream_rows_total{stream="eeg"}'
        check("rows grow", lambda: until("rows", lambda: (value(f"delta({rows}[30s])") or 0) > 0))

        def has_units() -> None:
            found = prometheus.ask("targets/metadata", metric="eegsync_stream_newest_sample_age_seconds")
            assert [entry["unit"] for entry in found] == ["seconds"], found

        def has_all() -> None:
            found = set(prometheus.ask("label/__name__/values"))
            for name, family in families.items():
                if family.samples:
                    assert {sample.name for sample in family.samples} <= found, name

        check("as OpenMetrics, with units", has_units)
        check("each figure is there", has_all)

        def draws() -> None:
            variables = {"$instance": ".*", "$headset": ".*"}
            empty = []
            for expression in dashboard():
                for name, all_of_them in variables.items():
                    expression = expression.replace(name, all_of_them)  # noqa: PLW2901 - a variable of a dashboard, replaced
                if not prometheus.ask("query", query=expression)["result"]:
                    empty.append(expression)
            # No battery, nothing missing, no check yet of a headset that is simulated and has just begun.
            assert len(empty) <= 4, empty

        check("the dashboard's queries have answers", draws)
        daemon.send_signal(signal.SIGKILL)
        daemon.wait()
        check("a daemon that is killed is seen", lambda: until("running", lambda: value("eegsync_daemon_running") == 0))


def main() -> int:
    program, work = sys.argv[1], pathlib.Path(sys.argv[2])
    database, configuration = str(work / "eegsync.sqlite"), str(work / "eegsync.yaml")
    pathlib.Path(configuration).write_text(CONFIGURATION.format(database=database))
    with running(program, "run", "--config", configuration, log=work / "daemon.log") as daemon:
        until("the database", lambda: pathlib.Path(database).exists() or daemon.poll() is not None)
        assert daemon.poll() is None, (work / "daemon.log").read_text()
        run(program, "record", "start", HEADSET, "--wait", "--config", configuration)
        families = check_texts(program, configuration, database, work)
        log = work / "metrics.log"
        with running(program, "metrics", "--listen", "127.0.0.1:0", "--config", configuration, log=log) as server:
            until("the server", lambda: "figures are at" in log.read_text())
            address = re.findall(r"http://\S+", log.read_text())[0]
            check_server(address, server)
            check_scrapes(address, daemon, work, families)
            pathlib.Path(database).rename(database + ".gone")
            check("a database that is gone is said to be", lambda: until("gone", lambda: "readable 0" in get(address)))
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
