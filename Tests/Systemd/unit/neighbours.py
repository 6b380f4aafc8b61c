"""The services that serve people and other programs beside the daemon, each in its own sandbox."""

from __future__ import annotations

from unit.machine import MachineError, wait_for
from unit.service import DATABASE, PATIENT, Service

_CONFIGURATION = "/etc/eegsync/eegsync.yaml"
_SERVED = {"eegsync-serve": 8580, "eegsync-metrics": 9580}
_MARKERS_PORT = 9581
_MARKERS_SOCKET = "/run/eegsync-markers/socket"
# They work, whatever is there; a centre, liblsl and an adapter are not there, and these say so and stay.
_WORKING = (*_SERVED, "eegsync-markers")
_WAITING = {"eegsync-ship": "127.0.0.1", "eegsync-lsl": "liblsl", "eegsync-companion": "eegsync"}
_ALL = (*_WORKING, *_WAITING)


def _journal(service: Service, unit: str) -> str:
    return service.machine.run(f"journalctl --unit={unit} --boot --output=cat --no-pager")


def _state(service: Service, unit: str, name: str) -> str:
    return service.machine.run(f"systemctl show {unit} --property={name} --value")


def _fetch(service: Service, port: int, path: str) -> str:
    """The answer to a request of HTTP; empty where nobody answers."""
    request = f"GET {path} HTTP/1.1\\r\\nHost: localhost:{port}\\r\\nConnection: close\\r\\n\\r\\n"
    status, answer = service.machine.attempt(f"exec 3<>/dev/tcp/127.0.0.1/{port} && printf '{request}' >&3 && cat <&3")
    return answer if status == 0 else ""


def _marks(service: Service) -> list[str]:
    query = "SELECT DISTINCT description FROM annotation ORDER BY boottime_ns"
    return service.machine.run(f"sqlite3 -readonly {PATIENT} {DATABASE} '{query}'").splitlines()


def _mark(service: Service, text: str) -> None:
    """Sends a marker by UDP, and waits until it is a mark."""
    service.machine.run(f"printf '{text}' >/dev/udp/127.0.0.1/{_MARKERS_PORT}")
    wait_for(lambda: text in _marks(service), 60, f"the mark {text}")


def _expect_word(service: Service, unit: str, word: str) -> None:
    wait_for(lambda: word in _journal(service, unit), 60, f"{unit} says {word}")


def _expect_restart(service: Service, unit: str) -> None:
    wait_for(lambda: _state(service, unit, "NRestarts") != "0", 60, f"{unit} is started again")


def _work(service: Service) -> None:
    """Each does what it is for."""
    page = wait_for(lambda: _fetch(service, _SERVED["eegsync-serve"], "/"), 60, "the page")
    if not page.startswith("HTTP/1.1 200") or "<title>" not in page:
        raise MachineError(f"the page: {page[:400]}")
    figures = wait_for(lambda: _fetch(service, _SERVED["eegsync-metrics"], "/metrics"), 60, "the figures")
    if not figures.startswith("HTTP/1.1 200") or 'headset="left"' not in figures:
        raise MachineError(f"the figures: {figures[:400]}")


def neighbours(service: Service) -> None:
    """Page, figures, markers, shipping, streams and the service for phones in their sandboxes: each works, or says what it
    lacks; killed, it comes back; the recording notices nothing.
    """
    text = f"markers: {{udp: 127.0.0.1:{_MARKERS_PORT}, socket: {_MARKERS_SOCKET}}}\\nship: {{to: postgresql://pi@127.0.0.1/study}}\\n"
    service.machine.run(f"printf '{text}' >>{_CONFIGURATION}")
    service.record()
    with service.one_gap((), 0, "neighbours that start, work, and are killed", most_gaps=0):
        service.machine.run(f"systemctl enable --now {' '.join(_ALL)}", 120)
        _work(service)
        _mark(service, "by UDP")
        rights = service.machine.run(f"stat --format='%a %G' {_MARKERS_SOCKET}")
        if rights != "660 eegsync-record":
            raise MachineError(f"{_MARKERS_SOCKET} has {rights}")
        for unit, word in _WAITING.items():
            _expect_word(service, unit, word)
        service.machine.run(f"systemctl kill --signal=KILL {' '.join(_WORKING)}")
        for unit in _WORKING:
            _expect_restart(service, unit)
        _work(service)
        wait_for(lambda: service.machine.attempt(f"test -S {_MARKERS_SOCKET}")[0] == 0, 60, "the socket is there again")
        _mark(service, "after the kill")
    for unit in _ALL:
        said = _journal(service, unit)
        if "SIGSYS" in said or "status=31" in said or "core-dump" in said:
            raise MachineError(f"{unit} died in its sandbox:\n{said}")
    for unit in _WORKING:
        if _state(service, unit, "ActiveState") != "active":
            raise MachineError(f"{unit} is {_state(service, unit, 'ActiveState')}:\n{_journal(service, unit)}")
        score = service.machine.run(f"systemd-analyze security {unit} --no-pager | tail -n 1").removeprefix("→ ")
        service.figures.append(score)
