"""Chromium without a window, spoken to over a pair of pipes in the words of its DevTools protocol."""

import base64
import contextlib
import ctypes
import fcntl
import io
import json
import os
import pathlib
import select
import signal
import subprocess
import tempfile
import time
from typing import Any, Self

from PIL import Image

# A page that is not there by then is a failure.
PATIENCE = 60.0
# Of prctl, in linux/prctl.h: children of a child that has ended become ours.
SET_CHILD_SUBREAPER = 36


class BrowserError(Exception):
    """Something that the browser refused, or did not do in time."""


class Chromium:
    """One browser with one page."""

    def __init__(self) -> None:
        # Several processes of it write into the directory; the last of them is waited for, and not only the first.
        ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1)
        self.home = tempfile.TemporaryDirectory()
        to_browser, self.commands = os.pipe()
        self.replies, from_browser = os.pipe()
        # The browser reads descriptor 3 and writes 4; ours must be neither before they are moved there.
        given = [fcntl.fcntl(fd, fcntl.F_DUPFD, 20) for fd in (to_browser, from_browser)]
        os.close(to_browser)
        os.close(from_browser)
        command = [
            "chromium", "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
            "--no-first-run", "--disable-extensions", "--disable-background-networking", "--disable-component-update",
            "--force-color-profile=srgb", f"--user-data-dir={self.home.name}", "about:blank",
        ]  # fmt: skip
        shell = f'exec "$@" 3<&{given[0]} 4>&{given[1]}'
        # What it says of the machine that it runs on is of no interest.
        self.process = subprocess.Popen(
            ["bash", "-c", shell, "bash", *command],
            pass_fds=given,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for fd in given:
            os.close(fd)
        self.rest = b""
        self.number = 0
        self.events: list[dict[str, Any]] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session: str | None = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    session: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-self.process.pid, 0)
        os.close(self.commands)
        os.close(self.replies)
        self.home.cleanup()

    def _receive(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self.rest:
            ready, _, _ = select.select([self.replies], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise BrowserError("the browser says nothing")
            piece = os.read(self.replies, 1 << 20)
            if not piece:
                raise BrowserError("the browser has ended")
            self.rest += piece
        message, _, self.rest = self.rest.partition(b"\0")
        decoded: dict[str, Any] = json.loads(message)
        return decoded

    def call(self, method: str, **parameters: object) -> dict[str, Any]:
        self.number += 1
        message: dict[str, object] = {"id": self.number, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.commands, data) :]
        deadline = time.monotonic() + PATIENCE
        while True:
            reply = self._receive(deadline)
            if reply.get("id") != self.number:
                self.events.append(reply)
                continue
            if "error" in reply:
                raise BrowserError(f"{method}: {reply['error']}")
            result: dict[str, Any] = reply["result"]
            return result

    def open(self, path: pathlib.Path, width: int = 1200, height: int = 900, *, dark: bool = False, media: str = "") -> None:
        """Opens a file, and forgets what was said before."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self.events = []
        self.call("Page.navigate", url=path.as_uri())
        deadline = time.monotonic() + PATIENCE
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            event = self._receive(deadline)
            self.events.append(event)
            # It would wait for a person.
            if event.get("method") == "Page.javascriptDialogOpening":
                self.call("Page.handleJavaScriptDialog", accept=True)
        # Two frames later everything is painted, and what the page would have asked for is asked for.
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def value(self, script: str) -> Any:
        """What a piece of JavaScript gives in the page."""
        reply = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            raise BrowserError(f"{script}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def said(self) -> list[str]:
        """What stands in the console, what was thrown, and what wanted an answer."""
        said: list[str] = []
        for event in self.events:
            parameters = event.get("params", {})
            match event.get("method"):
                case "Log.entryAdded":
                    said.append(str(parameters["entry"]["text"]))
                case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" | "Page.javascriptDialogOpening":
                    said.append(json.dumps(parameters)[:300])
        return said

    def requested(self) -> list[str]:
        """Every address that was asked for."""
        return [
            event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"
        ]

    def screenshot(self, path: pathlib.Path) -> Image.Image:
        """The whole page, from top to bottom."""
        data = base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])
        path.write_bytes(data)
        return Image.open(io.BytesIO(data)).convert("RGB")

    def printed(self, path: pathlib.Path) -> int:
        """The page on paper; how many bytes that is."""
        data = base64.b64decode(self.call("Page.printToPDF", printBackground=True, preferCSSPageSize=True)["data"])
        path.write_bytes(data)
        return len(data)
