"""Looks at the page of a study, with answers of a centre that are made up in the browser."""

import json
from typing import Any

from check_answers import LINK, MAIN, made
from checklist import check, notices
from pagescreen import Page, near

ROWS: list[dict[str, Any]] = [
    {
        "study": "sleep", "machine": "pi-07", "headset": "left", "severity": "waiting", "is_silent": True,
        "sentence": "was not heard of for 2 h 00 min; it was said then that it streams", "newest_seconds": 7203.5,
        "version": "0.1.0",
    },
    {
        "study": "sleep", "machine": "<b>pi</b>-12", "headset": "right", "severity": "working", "is_silent": False,
        "sentence": "streams, but its last 3 min 00 s are not here yet", "newest_seconds": 183, "delay_seconds": 180,
        "gaps_today": 1204, "missing_today_seconds": 90, "battery_percent": 61.4, "disk_days": 40.5, "version": "0.1.0",
    },
    {
        "study": "sleep", "machine": "pi-3", "headset": "left", "severity": "good", "is_silent": False, "sentence": "streams",
        "newest_seconds": 3.2, "delay_seconds": 0.4, "gaps_today": 0, "missing_today_seconds": 0, "disk_days": 20000.0,
        "free_bytes": 25000000000,
    },
    {
        "study": "sleep", "machine": "pi-9", "severity": "idle", "is_silent": False, "sentence": "has never shipped anything",
    },
]  # fmt: skip
FACTS: dict[str, Any] = {
    "centre": "study.example.org:5432/study",
    "summary": "4 machines, 3 headsets: 1 streams, eegsync works on 1, 1 needs a person.",
    "notes": ["1 machine not heard of: see to power and network.", "pi-3: it is hot"],
    "rows": ROWS,
}
RULES = f"made.study = {json.dumps(FACTS)}; made.on('^api/study', () => made.json(made.study));"
# The page asks every five seconds; here at once.
SOON = "const later = setTimeout; globalThis.setTimeout = (work, ms) => later(work, Math.min(ms, 50));"
LINES = "[...document.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))"


def study(page: Page, address: str) -> None:
    """The page of a study; the address is that of one."""

    def shown() -> None:
        with made(page, address, RULES):
            page.wait("document.querySelectorAll('tbody tr').length === 4")
            assert page.value("document.title").startswith("Study ")
            assert page.value("[...document.querySelectorAll('nav a')].map(each => each.textContent)") == ["Study"]
            assert page.value(LINES) == [
                ["pi-07", "left", f"left {ROWS[0]['sentence']}.", "2 h 00 min", "", "", "", "", "0.1.0"],
                ["<b>pi</b>-12", "right", f"right {ROWS[1]['sentence']}.", "3 min 03 s", "3 min 00 s", "1,204 (1 min 30 s)",
                 "61 %", "41 days", "0.1.0"],
                ["pi-3", "left", "left streams.", "3.2 s", "400 ms", "0", "", "decades", ""],
                ["pi-9", "", "pi-9 has never shipped anything.", "", "", "", "", "", ""],
            ]  # fmt: skip
            said = page.value(MAIN)
            assert all(each in said for each in [FACTS["summary"], *FACTS["notes"], FACTS["centre"]]), said
            page.shoot("study")

    def lamps() -> None:
        with made(page, address, RULES):
            page.wait("document.querySelectorAll('tbody tr').length === 4")
            image = page.shoot("study-lamps")
            pixels = image.load()
            assert pixels is not None
            for row, name in enumerate(["bad", "caution", "good", "faint"]):
                x, y = page.value(
                    f"(() => {{ const box = document.querySelectorAll('.lamp')[{row}].getBoundingClientRect();"
                    " return [box.left + scrollX + box.width / 2, box.top + scrollY + box.height / 2]; })()"
                )
                assert near(pixels[round(x), round(y)], page.colour(name)), (name, pixels[round(x), round(y)])

    def found() -> None:
        with made(page, address, RULES + SOON):
            page.wait("document.querySelectorAll('tbody tr').length === 4")
            page.value(
                "(() => { const find = document.querySelector('input'); find.focus(); find.value = 'left STREAMS';"
                " find.dispatchEvent(new Event('input')); })()"
            )
            page.wait("document.querySelectorAll('tbody tr').length === 2")
            # Another answer changes nothing of what somebody types.
            page.value("made.study.rows[2].sentence = 'streams again'")
            page.wait(f"{MAIN}.includes('left streams again.')")
            assert page.value("document.querySelectorAll('tbody tr').length") == 2
            assert page.value("document.activeElement === document.querySelector('input') && document.activeElement.value")
            assert "2 of 4 shown" in page.value(MAIN)

    def away() -> None:
        with made(page, address, RULES + SOON):
            page.wait("document.querySelectorAll('tbody tr').length === 4")
            page.value("made.on('^api/study', () => made.problem(503, 'The centre is away.'))")
            page.wait(f"{LINK}.includes('The centre is away.')")
            assert page.value("document.querySelectorAll('tbody tr').length") == 4
            page.value("made.on('^api/study', () => made.json({ ...made.study, rows: [], notes: [] }))")
            page.wait(f"{MAIN}.includes('There is no machine that you may see')")
            page.wait(f"{LINK} === 'up to date'")

    def fits() -> None:
        with made(page, address, RULES):
            page.wait("document.querySelectorAll('tbody tr').length === 4")
            page.visit(address, 360, 740)
            page.wait("document.querySelectorAll('tbody tr').length === 4")
            page.shoot("study-phone")
            wide = page.value("document.documentElement.scrollWidth")
            assert wide <= 360, f"{wide} pixels"
            page.visit(address, dark=True)
            page.wait("document.querySelectorAll('tbody tr').length === 4")
            page.shoot("study-dark")

    def really() -> None:
        """The centre of this page is not there."""
        page.visit(address)
        page.wait(f"{LINK}.includes('the centre cannot be reached')")
        assert page.value("document.querySelector('label').textContent.trim()") == "Find"

    def another_word() -> None:
        with made(page, address, RULES.replace("has never shipped", "never shipped")):
            page.wait("document.querySelectorAll('tbody tr').length === 4")
            assert "has never shipped" in page.value(MAIN)

    check("the study: what the centre says, as words and numbers", shown)
    check("the study: a lamp for how each is", lamps)
    check("the study: what somebody looks for stays when the centre says it anew", found)
    check("the study: a centre that is away, and one without machines", away)
    check("the study: on a telephone, and in the dark", fits)
    check("the study: a centre that really is not there", really)
    check("a sentence that is not the centre's is noticed", lambda: notices(another_word))
