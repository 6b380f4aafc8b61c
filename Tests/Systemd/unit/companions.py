"""The services beside the daemon: who is notified, who may wish, and what is deleted by a rule."""

from __future__ import annotations

import json

from unit.machine import MachineError, wait_for
from unit.service import DATABASE, Service

_CONFIGURATION = "/etc/eegsync/eegsync.yaml"
_NOTES = "/var/lib/eegsync-alerts/notes"
_NO_PERMISSION = 77


def _configure(service: Service, *lines: str) -> None:
    """Appends to the configuration."""
    text = "".join(f"{line}\\n" for line in lines)
    service.machine.run(f"printf '{text}' >>{_CONFIGURATION}")


def _expect_success(service: Service, unit: str) -> None:
    """A unit that has run once, in its sandbox."""
    result = service.machine.run(f"systemctl show {unit} --property=Result --value")
    if result != "success":
        raise MachineError(f"{unit}: {result}\n" + service.machine.run(f"journalctl --unit={unit} --output=cat"))


def alerts(service: Service) -> None:
    """The unit of the alerts: a recording that stops is noticed, as is its return; the unit may be killed at any time."""
    _configure(
        service,
        "alerts:",
        "  ways: [{name: notes, kind: command, command: [/usr/local/bin/note]}]",
        "  rules: [{when: no_samples, for_seconds: 10, clear_seconds: 5}]",
    )
    service.machine.run(
        f"printf '#!/bin/sh\\ncat >>{_NOTES}; echo >>{_NOTES}\\n' >/usr/local/bin/note; chmod +x /usr/local/bin/note"
    )
    service.record()
    service.machine.run("systemctl enable --now eegsync-alerts", 60)

    def noted(event: str) -> bool:
        status, text = service.machine.attempt(f"cat {_NOTES}")
        notes = [json.loads(line) for line in text.splitlines() if line] if status == 0 else []
        return any(note["event"] == event and note["alert"] == "no_samples/left" for note in notes)

    with service.one_gap(("daemonDown",), 120, "from stop to start, with alerts"):
        service.machine.run("systemctl stop eegsync")
        wait_for(lambda: noted("raised"), 90, "the silence is notified of")
        service.machine.run("systemctl kill --signal=KILL eegsync-alerts; systemctl start eegsync")
    wait_for(lambda: noted("recovered"), 120, "the return is notified of, by the next process")


def control(service: Service) -> None:
    """The control socket: what a member of each group may do, and what of it the recording notices."""
    service.machine.run("useradd --groups eegsync reader && useradd --groups eegsync,eegsync-record recorder")
    service.record()
    allowed = (
        'mark "eyes open"',
        "recordings edit left --notes calm",
        "capture right --seconds 2 --output - >/dev/null",
        "record stop left",
        "record start left --for 8h",
    )
    with service.one_gap((), 0, "wishes through the socket", most_gaps=0):
        for wish in allowed[:3]:
            service.machine.run(f"runuser --user recorder -- eegsync {wish}")
    for wish in allowed[3:]:
        service.machine.run(f"runuser --user recorder -- eegsync {wish}")
    refused = [("reader", wish) for wish in allowed] + [("recorder", "headsets rename left other")]
    for user, wish in refused:
        status, output = service.machine.attempt(f"runuser --user {user} -- eegsync {wish}")
        if status != _NO_PERMISSION:
            raise MachineError(f"{user}: eegsync {wish} ends with {status}: {output}")
    written = service.machine.run(f"sqlite3 -readonly {DATABASE} 'SELECT description FROM annotation'")
    if written.splitlines() != ["eyes open"] * 2:
        raise MachineError(f"annotations: {written}")
    service.figures.append(f"{len(allowed)} wishes carried out, {len(refused)} refused")
    service.audit()


def prune(service: Service) -> None:
    """The unit that deletes by the rule of the configuration: what is recorded stays, what has ended goes."""
    service.record()
    service.machine.run("eegsync record stop left")
    # Without a rule there is nothing to do, which is no failure.
    service.machine.run("systemctl start eegsync-prune")
    _configure(service, "retention: {max_size: 1M}")
    wait_for(lambda: max(service.newest().values()) > 20_000, 300, "a megabyte is recorded")
    service.machine.run("systemctl start eegsync-prune", 300)
    _expect_success(service, "eegsync-prune")
    service.machine.run("systemctl enable --now eegsync-prune.timer")
    next_run = service.machine.run("systemctl show eegsync-prune.timer --property=NextElapseUSecMonotonic --value")
    if next_run in ("", "infinity", "0"):
        raise MachineError(f"the timer's next run: {next_run}")
    recordings = service.machine.run(f"sqlite3 -readonly {DATABASE} 'SELECT id FROM recording ORDER BY 1'").split()
    if recordings != ["2"]:
        raise MachineError(f"recordings that are left: {recordings}")
    before = service.newest()
    wait_for(lambda: service.newest() != before, 60, "the other recording goes on")
    service.audit()
