#!/usr/bin/env python3
"""Looks at a report in a browser: check.py PROGRAM DATABASE SCREENSHOTS. Tests/Browser/run calls it."""

import functools
import html
import json
import pathlib
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from PIL import Image

from checklist import check, conclude, notices
from chromium import Chromium

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
SECTIONS = ["timeline", "battery", "signals", "spectra", "time-map", "audit"]
Pixel = tuple[int, int, int]


@dataclass
class Gap:
    """Where on the axis the longest gap lies, by the database itself, 0 ... 1."""

    begin: float
    end: float
    cause: str
    # Whether all of it arrived after all.
    is_recovered: bool


def longest_gap(database: str) -> Gap:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    start, end = connection.execute(
        "SELECT min(start_unix_ns), max(end_unix_ns) FROM stream_overview WHERE recording_id = 1"
    ).fetchone()
    row = connection.execute(
        """
        SELECT start_unix_ns, end_unix_ns, cause, missing = 0 FROM gap_time
        WHERE recording_id = 1 AND channel = 0 AND stream = 'eeg' AND count IS NOT NULL
        ORDER BY end_unix_ns - start_unix_ns DESC
        """
    ).fetchone()
    return Gap((row[0] - start) / (end - start), (row[1] - start) / (end - start), row[2], bool(row[3]))


class Report:
    """A report on a screen."""

    def __init__(self, browser: Chromium, path: pathlib.Path, screenshots: pathlib.Path) -> None:
        self.browser = browser
        self.path = path
        self.screenshots = screenshots

    def open(self, **options: Any) -> None:
        self.browser.open(self.path, **options)

    def loads_nothing_and_says_nothing(self) -> None:
        self.open()
        assert self.browser.requested() == [self.path.as_uri()], self.browser.requested()
        assert self.browser.said() == [], self.browser.said()

    def box(self, selector: str) -> dict[str, float]:
        rectangle: dict[str, float] | None = self.browser.value(
            f"""(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;
            const b = e.getBoundingClientRect();
            return {{x: b.x + scrollX, y: b.y + scrollY, width: b.width, height: b.height}} }})()"""
        )
        assert rectangle is not None, f"no {selector}"
        assert rectangle["width"] > 0, f"nothing of {selector} is on the screen"
        return rectangle

    def lane(self, name: str) -> float:
        """The middle of a lane of the timeline, from the top of the page."""
        y: float | None = self.browser.value(
            f"""(() => {{ const t = [...document.querySelectorAll('#timeline-picture text.lane')]
            .find(t => t.textContent === {json.dumps(name)});
            return t ? t.getBoundingClientRect().bottom + scrollY + 10 : null }})()"""
        )
        assert y is not None, f"no lane {name}"
        return y

    def colours(self, image: Image.Image, begin: float, end: float) -> set[Pixel]:
        """All colours of the EEG's lane between two positions of the axis."""
        box, y = self.box("#timeline-picture"), self.lane("eeg")
        left, right = box["x"] + begin * box["width"], box["x"] + end * box["width"]
        found: set[Pixel] = set()
        for x in range(round(left), max(round(left) + 1, round(right))):
            for row in range(-4, 5):
                pixel = image.getpixel((x, round(y) + row))
                assert isinstance(pixel, tuple)
                found.add((int(pixel[0]), int(pixel[1]), int(pixel[2])))
        return found

    def shows_the_gap(self, gap: Gap, name: str = "desktop", **options: Any) -> None:
        self.open(**options)
        image = self.browser.screenshot(self.screenshots / f"{name}.png")
        colour = self.browser.value(
            f"""document.querySelector('#k-{gap.cause} rect').getAttribute('fill').slice(1).match(/../g)
            .map(x => parseInt(x, 16))"""
        )
        if gap.is_recovered:
            ground = self.browser.value("getComputedStyle(document.querySelector('.ground')).fill.match(/[0-9]+/g).map(Number)")
            colour = [0.45 * above + 0.55 * below for above, below in zip(colour, ground, strict=True)]
        middle = (gap.begin + gap.end) / 2
        width = (gap.end - gap.begin) / 2
        inside = self.colours(image, middle - width / 2, middle + width / 2)
        assert any(all(abs(a - b) < 12 for a, b in zip(pixel, colour, strict=True)) for pixel in inside), (colour, inside)

    def fits(self, width: int) -> None:
        self.open(width=width, height=800)
        scroll = self.browser.value("document.documentElement.scrollWidth")
        assert scroll <= width, f"{scroll} pixels wide on a screen of {width}"
        size = self.browser.value(
            """Math.min(...[...document.querySelectorAll('svg text, td, dd, p')]
            .map(e => parseFloat(getComputedStyle(e).fontSize)))"""
        )
        assert size >= 11, f"letters of {size} pixels"

    def has_contrast(self, *, dark: bool) -> None:
        """Letters against the ground at least 4.5 to 1 (WCAG 2.2, 1.4.3)."""
        self.open(dark=dark)
        ratios = self.browser.value(
            """(() => {
            const channel = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4 };
            const light = c => { const [r, g, b] = c.match(/[0-9.]+/g).map(Number);
                return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b) };
            const paper = light(getComputedStyle(document.documentElement).backgroundColor);
            return ['h1', 'p', 'dt', 'dd', 'caption', 'td', '.good', 'summary'].map(s => {
                const e = document.querySelector(s); if (!e) return [s, 99];
                const l = light(getComputedStyle(e).color);
                return [s, (Math.max(l, paper) + 0.05) / (Math.min(l, paper) + 0.05)] }) })()"""
        )
        assert all(ratio >= 4.5 for _, ratio in ratios), ratios
        background = self.browser.value("getComputedStyle(document.documentElement).backgroundColor")
        assert (sum(int(v) for v in background[4:-1].split(",")) < 200) == dark, background

    def can_be_read_aloud(self) -> None:
        self.open()
        problems = self.browser.value(
            """[...[...document.querySelectorAll('svg[role=img]')].filter(e => !e.getAttribute('aria-label'))
                .map(() => 'picture'),
            ...[...document.querySelectorAll('svg:not([role=img])')].filter(e => !e.closest('[aria-hidden]')
                && !e.parentElement.closest('svg')).map(e => 'unnamed picture ' + e.outerHTML.slice(0, 80)),
            ...[...document.querySelectorAll('table')].filter(t => !t.caption || !t.querySelector('th[scope=col]'))
                .map(() => 'table'),
            ...[...document.querySelectorAll('h3')].filter(h => !h.closest('section').querySelector('h2'))
                .map(() => 'heading')]"""
        )
        assert problems == [], problems
        tree = self.browser.call("Accessibility.getFullAXTree")["nodes"]
        names = [node.get("name", {}).get("value") for node in tree if node.get("role", {}).get("value") == "image"]
        assert len(names) >= 5 and all(names), names

    def draws_spectra(self) -> None:
        self.open()
        image = self.browser.screenshot(self.screenshots / "spectra.png")
        box = self.box("svg.spectrum .picture")
        area = (box["x"] + 1, box["y"] + 1, box["x"] + box["width"] - 1, box["y"] + box["height"] - 1)
        left, top, right, bottom = (round(v) for v in area)
        colours = image.crop((left, top, right, bottom)).getcolors(1 << 20) or []
        assert len(colours) >= 4, colours
        assert self.browser.value("document.querySelectorAll('svg.spectrum path.curve').length") >= 4


def spoiled(report: Report, name: str, change: Callable[[str], str]) -> Report:
    text = report.path.read_text()
    changed = change(text)
    assert changed != text, name
    path = report.path.with_name(f"{name}.html")
    path.write_text(changed)
    return Report(report.browser, path, report.screenshots)


def without_policy(text: str) -> str:
    return text.replace("Content-Security-Policy", "X-Nothing")


def main() -> int:
    program, database = sys.argv[1], sys.argv[2]
    screenshots = pathlib.Path(sys.argv[3])
    screenshots.mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(database).with_name("report.html")
    run = [program, "recordings", "edit", "1", "--subject", HOSTILE, "--operator", "M. Example", "--database", database]
    subprocess.run(run, check=True, stdout=subprocess.DEVNULL)
    write = [program, "report", "1", "--utc", "--database", database, "-o", str(path)]
    check("the report is written", lambda: subprocess.run(write, check=True))

    def refuses_to_replace() -> None:
        before = path.read_bytes()
        again = subprocess.run(write, check=False, capture_output=True, text=True)
        assert again.returncode == 73 and "exists already" in again.stderr, again
        assert path.read_bytes() == before

    check("an existing report is not replaced", refuses_to_replace)
    gap = longest_gap(database)
    with Chromium() as browser:
        report = Report(browser, path, screenshots)
        check("it loads nothing but itself, and the console is empty", report.loads_nothing_and_says_nothing)
        for section in SECTIONS:
            check(f"section {section} is on the screen", functools.partial(report.box, f"#{section}"))
        check("the longest gap is drawn where the database has it", lambda: report.shows_the_gap(gap))
        check("and on a phone", lambda: report.shows_the_gap(gap, "phone", width=360, height=740))
        check("and in the dark", lambda: report.shows_the_gap(gap, "dark", dark=True))
        check("and on paper", lambda: report.shows_the_gap(gap, "paper", width=720, media="print", dark=True))
        for width in (360, 768, 1920):
            check(f"it fits a screen of {width} pixels", functools.partial(report.fits, width))
        check("letters stand out by day", lambda: report.has_contrast(dark=False))
        check("letters stand out in the dark", lambda: report.has_contrast(dark=True))
        check("it can be read aloud", report.can_be_read_aloud)
        check("spectra are drawn", report.draws_spectra)

        def prints() -> None:
            report.open()
            assert browser.printed(screenshots / "paper.pdf") > 20_000

        def hostile_name_is_text() -> None:
            report.open()
            assert browser.value(f"document.body.innerText.includes({json.dumps(HOSTILE)})")
            assert browser.value("document.scripts.length + document.images.length") == 0

        check("it prints", prints)
        check("a hostile name is a text", hostile_name_is_text)
        rectangle = f'class="k-{gap.cause}{" pale" if gap.is_recovered else ""}"'
        gapless = spoiled(report, "gapless", lambda t: t.replace(rectangle, 'class="ground"'))
        check("a gap that is not drawn is noticed", lambda: notices(lambda: gapless.shows_the_gap(gap, "gapless")))
        image = '<img alt="" src="http://198.51.100.1/x.png"/>'
        loading = spoiled(report, "loading", lambda t: without_policy(t).replace("<main>", f"<main>{image}"))
        check("a picture from the network is noticed", lambda: notices(loading.loads_nothing_and_says_nothing))
        refused = spoiled(report, "refused", lambda t: t.replace("<main>", "<main><script>alert(1)</script>"))
        check("a script is refused, and noticed", lambda: notices(refused.loads_nothing_and_says_nothing))
        wide = spoiled(report, "wide", lambda t: t.replace("<main>", '<main><div style="width: 500px">a</div>'))
        check("what is too wide for a phone is noticed", lambda: notices(lambda: wide.fits(360)))
        escaped = html.escape(HOSTILE, quote=True).replace("&#x27;", "&#39;")
        raw = spoiled(report, "raw", lambda t: without_policy(t).replace(escaped, HOSTILE))
        check("a name that is not escaped is noticed", lambda: notices(raw.loads_nothing_and_says_nothing))
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
