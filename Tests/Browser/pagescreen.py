"""The page of `eegsync serve` on a screen: what is done there, and what is seen."""

import pathlib
import time
from typing import Any

from PIL import Image

from chromium import PATIENCE, Chromium

Pixel = tuple[int, int, int]


class Page:
    """The page on a screen."""

    def __init__(self, browser: Chromium, screenshots: pathlib.Path) -> None:
        self.browser = browser
        self.screenshots = screenshots
        screenshots.mkdir(parents=True, exist_ok=True)

    def visit(self, address: str, width: int = 1200, height: int = 900, *, dark: bool = False) -> None:
        call = self.browser.call
        call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        call("Emulation.setEmulatedMedia", media="", features=[scheme])
        call("Page.navigate", url="about:blank")
        self.wait("location.href === 'about:blank'")
        self.browser.events = []
        call("Page.navigate", url=address)
        self.wait("location.href !== 'about:blank' && document.querySelector('h1') !== null")

    def value(self, script: str) -> Any:
        return self.browser.value(script)

    def wait(self, condition: str) -> None:
        """Until something is so on the page."""
        deadline = time.monotonic() + PATIENCE
        script = f"new Promise(done => requestAnimationFrame(() => done(Boolean({condition}))))"
        while not self.value(script):
            if time.monotonic() > deadline:
                raise AssertionError(f"not in time: {condition}")

    def frames(self, count: int) -> None:
        """Until so many frames were drawn."""
        script = "(step => step(step, COUNT))((step, left) => new Promise(done =>"
        script += " requestAnimationFrame(() => left > 0 ? step(step, left - 1).then(done) : done(1))))"
        self.value(script.replace("COUNT", str(count)))

    def fetched(self) -> None:
        """Until the traces are those of the time that is looked at."""
        canvas = "document.querySelector('canvas.trace').dataset"
        self.wait(f"{canvas}.fetched === String(Math.round({canvas}.wanted))")
        self.frames(3)

    def shoot(self, name: str) -> Image.Image:
        return self.browser.screenshot(self.screenshots / f"{name}.png")

    def canvas(self, name: str) -> Image.Image:
        """The canvas of the traces alone."""
        box = self.value(
            "(() => { const box = document.querySelector('canvas.trace').getBoundingClientRect();"
            " return [box.left + scrollX, box.top + scrollY, box.right + scrollX, box.bottom + scrollY]; })()"
        )
        # Without its frame.
        left, top, right, bottom = (round(each) for each in box)
        return self.shoot(name).crop((left + 1, top + 1, right - 1, bottom - 1))

    def colour(self, name: str) -> Pixel:
        text = self.value(f"getComputedStyle(document.documentElement).getPropertyValue('--{name}').trim()")
        digits = text[1:] if len(text) == 7 else "".join(2 * digit for digit in text[1:])
        return (int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16))

    def choose(self, label: str, value: str) -> None:
        self.value(
            f"(() => {{ const label ="
            f" [...document.querySelectorAll('label')].find(each => each.textContent.startsWith('{label}'));"
            f" const select = label.querySelector('select'); select.value = '{value}';"
            " select.dispatchEvent(new Event('change')); })()"
        )

    def clean(self) -> None:
        """Nothing in the console, nothing from elsewhere."""
        said = self.browser.said()
        assert not said, said
        origin = self.value("location.origin")
        foreign = [address for address in self.browser.requested() if not address.startswith(origin)]
        assert not foreign, foreign


def near(pixel: Pixel, wanted: Pixel, distance: int = 60) -> bool:
    return sum(abs(a - b) for a, b in zip(pixel, wanted, strict=True)) <= distance


def nearer(pixel: Pixel, wanted: Pixel, other: Pixel) -> bool:
    """Whether a pixel is more of a colour than of another one: thin lines are smoothed."""

    def distance(colour: Pixel) -> int:
        return sum(abs(a - b) for a, b in zip(pixel, colour, strict=True))

    return distance(wanted) < distance(other)


def traced(image: Image.Image, colour: Pixel, ground: Pixel, top: int, bottom: int) -> list[tuple[int, int] | None]:
    """In each column of a lane, the highest and the lowest pixel of the trace."""
    pixels = image.load()
    assert pixels is not None
    columns: list[tuple[int, int] | None] = []
    for x in range(image.width):
        ys = [y for y in range(top, bottom) if nearer(pixels[x, y], colour, ground)]
        columns.append((ys[0], ys[-1]) if ys else None)
    return columns
