#!/usr/bin/env python3
"""Looks at the page in a browser: check_page.py KNOWN LIVE STUDY SCREENSHOTS. Tests/Browser/page calls it.

KNOWN is the address of a page over a recording whose first channel is a sine of 10 Hz and 100 µV from peak to peak, LIVE that
of one over two headsets that are being recorded, with control, and STUDY that of one of a study whose centre is not there.
"""

import pathlib
import re
import struct
import sys
import traceback

from PIL import Image

from check_answers import answers
from check_study import study
from checklist import check, conclude, notices
from chromium import Chromium
from pagescreen import Page, near, traced

HERTZ, MICROVOLTS = 10.0, 100.0


def measured(columns: list[tuple[int, int] | None], seconds: float, lane: float, scale: float) -> tuple[float, float]:
    """Frequency in hertz and amplitude from peak to peak of a trace, from its pixels."""
    seen = [column for column in columns if column is not None]
    assert len(seen) > len(columns) * 0.9, f"{len(seen)} of {len(columns)} columns have a trace"
    top, bottom = min(column[0] for column in seen), max(column[1] for column in seen)
    middle = (top + bottom) / 2
    above = [column is not None and (column[0] + column[1]) / 2 < middle for column in columns]
    rises = [x for x in range(1, len(above)) if above[x] and not above[x - 1]]
    assert len(rises) >= 3, "no period is seen"
    period = (rises[-1] - rises[0]) / (len(rises) - 1) * seconds / len(columns)
    return 1 / period, (bottom - top) / lane * scale


def known(page: Page, address: str) -> None:
    """A sine of which everything is known."""
    page.visit(address + "#signals/1")
    page.wait("document.querySelector('canvas.trace')?.dataset.channels")
    channels = int(page.value("document.querySelector('canvas.trace').dataset.channels"))
    page.choose("Scale", "200")
    page.choose("Window", "2")
    # The first seconds of the demo are whole.
    page.value("document.querySelector('[aria-label=\"To the beginning\"]').click()")
    page.wait("document.querySelector('canvas.trace').dataset.scale === '200'")
    page.fetched()
    image = page.canvas("sine")
    lane = (image.height - 24) / channels
    colour = page.colour("accent")

    def sine(image: Image.Image) -> None:
        # Behind the channel's name.
        part = image.crop((80, 0, image.width, image.height))
        columns = traced(part, colour, page.colour("card"), 0, round(lane) - 2)
        hertz, amplitude = measured(columns, 2 * part.width / image.width, lane, 200)
        assert abs(hertz - HERTZ) < 0.3, f"{hertz} Hz"
        assert abs(amplitude - MICROVOLTS) < 8, f"{amplitude} µV"

    check("a known sine has its amplitude and its period", lambda: sine(image))
    half = image.resize((image.width, image.height // 2)).crop((0, 0, image.width, image.height))
    check("half an amplitude is noticed", lambda: notices(lambda: sine(half)))

    page.choose("Window", "300")
    page.value("document.querySelector('[aria-label=\"To the beginning\"]').click()")
    page.fetched()
    image = page.canvas("gaps")
    gap = page.colour("gap")

    def gaps(image: Image.Image) -> None:
        pixels = image.load()
        assert pixels is not None
        found = sum(near(pixels[x, image.height // 2 + 3], gap, 12) for x in range(image.width))
        assert found >= 3, f"{found} columns of a gap"

    check("a gap is seen as a gap", lambda: gaps(image))
    blank = Image.new("RGB", image.size, page.colour("card"))
    check("a gap that is not drawn is noticed", lambda: notices(lambda: gaps(blank)))
    check("signals: console and network are clean", page.clean)

    page.visit(address + "#history/1")
    page.wait("document.querySelector('svg.timeline')")
    page.shoot("history")
    page.value("[...document.querySelectorAll('button')].find(each => each.textContent === 'edf').click()")

    def fetched() -> None:
        page.wait("document.querySelector('a[download$=\".edf\"]')")
        address = "document.querySelector('a[download$=\".edf\"]').href"
        size = page.value(f"fetch({address}).then(r => r.arrayBuffer()).then(b => b.byteLength)")
        assert size > 10_000, size

    check("an export is fetched", fetched)
    check("history: console and network are clean", page.clean)


def live(page: Page, address: str) -> None:
    """Two headsets that are being recorded."""
    page.visit(address)
    page.wait("document.querySelectorAll('article.good').length === 2")
    page.shoot("now")
    check("now: both headsets stream", lambda: None)

    def button() -> None:
        page.value(
            "(() => { const input = document.querySelector('input[type=text]'); input.value = 'eyes closed';"
            " [...document.querySelectorAll('button')].find(each => each.textContent === 'Mark').click(); })()"
        )
        page.wait("document.body.textContent.includes('Marked \"eyes closed\"')")
        page.value("window.confirm = () => true")
        page.value("document.querySelector('[aria-label=\"Stop: right\"]').click()")
        page.wait("document.querySelector('[aria-label=\"Record: right\"]')")
        page.value("document.querySelector('[aria-label=\"Record: right\"]').click()")
        page.wait("document.querySelector('[aria-label=\"Stop: right\"]')")

    check("mark, stop and record do it", button)
    check("now: console and network are clean", page.clean)

    page.visit(address + "#signals")
    page.wait("document.querySelector('canvas.trace')?.dataset.channels")
    page.wait("Date.now() - document.querySelector('canvas.trace').dataset.end < 6000")
    page.frames(180)
    first = page.canvas("live")

    def moves() -> None:
        page.frames(30)
        second = page.canvas("live-later")
        assert first.tobytes() != second.tobytes(), "the traces stand still"

    check("live traces scroll", moves)
    page.choose("Filter", "1")
    page.frames(90)
    page.shoot("filtered")
    check(
        "a filter is said to be for display only",
        lambda: page.wait("document.body.textContent.includes('Filtered for display only')"),
    )
    check("live: console and network are clean", page.clean)

    for name, width, height, dark in [("phone", 360, 740, False), ("phone-dark", 360, 740, True), ("dark", 1200, 900, True)]:
        for part in ["now", "signals", "history"]:
            page.visit(f"{address}#{part}", width, height, dark=dark)
            page.wait("document.querySelector('article, canvas.trace, table')")
            page.frames(150 if part == "signals" else 30)
            page.shoot(f"{part}-{name}")

            def fits(width: int = width) -> None:
                wide = page.value("document.documentElement.scrollWidth")
                assert wide <= width, f"{wide} pixels"

            check(f"{part} on a {name} has no pixel beyond the edge", fits)

    def names() -> None:
        """What a screen reader says of everything that can be used."""
        for part in ["now", "signals", "history"]:
            page.visit(f"{address}#{part}")
            page.wait("document.querySelector('article, canvas.trace, table')")
            nameless = page.value(
                "[...document.querySelectorAll('button, select, input, a, canvas, svg')].filter(each =>"
                " !(each.getAttribute('aria-label') || each.textContent.trim() || each.labels?.length"
                " || each.closest('summary, label'))).map(each => each.outerHTML.slice(0, 120))"
            )
            assert not nameless, nameless

    check("everything that can be used has a name", names)


# A machine nearby, in the place of the browser's own Bluetooth; its values are those of the page A phone beside the machine.
NEARBY = """
(() => {
  const uuid = (number) => `9984${number}-8bc2-4951-8f5e-3f8d7b94806a`;
  const view = (bytes) => new DataView(Uint8Array.from(bytes).buffer);
  class Characteristic {
    constructor(bytes) { [this.bytes, this.written, this.subscribed] = [bytes, [], 0]; }
    async startNotifications() { this.subscribed += 1; return this; }
    async readValue() { return view(this.bytes); }
    async writeValueWithResponse(value) {
      if (nearby.refuses) throw new DOMException("GATT Error: Not authorized.", "NotSupportedError");
      this.written.push([...value]);
    }
    notify(bytes) { this.oncharacteristicvaluechanged?.({ target: { value: view(bytes) } }); }
  }
  const nearby = { connections: 0, refuses: false, unreachable: 0 };
  for (const [name, number] of [["status", "0002"], ["headsets", "0003"], ["control", "0004"]]) {
    nearby[name] = new Characteristic([]);
    nearby[uuid(number)] = nearby[name];
  }
  const device = new EventTarget();
  device.name = "eegsync pi-7";
  device.gatt = {
    connected: false,
    async connect() {
      if (nearby.unreachable-- > 0) throw new DOMException("Connection failed.", "NetworkError");
      nearby.connections += 1;
      this.connected = true;
      return this;
    },
    disconnect() { this.connected = false; },
    async getPrimaryService(service) {
      if (service !== uuid("0001")) throw new Error("no such service");
      return { getCharacteristic: async (characteristic) => nearby[characteristic] };
    },
  };
  nearby.lose = () => {
    device.gatt.connected = false;
    device.dispatchEvent(new Event("gattserverdisconnected"));
  };
  const requestDevice = async ({ filters }) => {
    if (filters[0].services[0] !== uuid("0001")) throw new Error("no such service");
    return device;
  };
  Object.defineProperty(navigator, "bluetooth", { value: { requestDevice }, configurable: true });
  globalThis.nearby = nearby;
})();
"""


def headset_record(index: int, battery: int, seconds: int, name: str, *, wanted: bool = True) -> bytes:
    texts = b"".join(bytes([len(text)]) + text for text in (b"streaming", name.encode()))
    return struct.pack("<BBBBIII", index, 1, int(wanted), battery, seconds, 1234, 5) + texts


def phone(page: Page, address: str) -> None:
    """A machine nearby over Bluetooth: values, notifications, commands, a lost link."""
    script = page.browser.call("Page.addScriptToEvaluateOnNewDocument", source=NEARBY)["identifier"]
    records = [headset_record(0, 87, 3, "left"), headset_record(1, 255, 0xFFFFFFFF, "rechts ♪", wanted=False)]
    sentence = "left has been recording for 3 min."

    def give(name: str, value: bytes) -> str:
        return f"nearby.{name}.bytes = {list(value)};"

    def notify(name: str, value: bytes) -> None:
        page.value(f"nearby.{name}.notify({list(value)})")

    def choose() -> None:
        page.visit(f"{address}#phone", 360, 780)
        read = b"".join(bytes([len(each)]) + each for each in records)
        page.value(give("status", bytes([1, 1, 0, 2]) + sentence.encode()) + give("headsets", read))
        page.value("document.querySelector('main button').click()")
        page.wait("document.querySelector('article') !== null")

    def text() -> str:
        return str(page.value("document.querySelector('main').innerText"))

    def shows() -> None:
        choose()
        said = text()
        for word in (sentence, "left", "87 %", "3.0 s ago", "1,234 samples in 5 gaps", "rechts ♪", "not known", "none yet"):
            assert word in said, f"{word} is not in {said}"
        page.shoot("phone")
        assert page.value("document.documentElement.scrollWidth") <= 360

    def follows() -> None:
        # Twenty bytes are what the shortest link holds: the names are cut, and known.
        notify("headsets", headset_record(0, 86, 40, "left")[:20])
        page.wait("document.querySelector('article').innerText.includes('40.0 s ago')")
        assert "86 %" in text() and page.value("document.querySelector('article h2').innerText").startswith("left")
        notify("status", bytes([1, 3, 1, 2]) + b"left waits for you.")
        page.wait("document.querySelector('main .sentence').innerText === 'Paused. left waits for you.'")

    def commands() -> None:
        page.value("document.querySelectorAll('article button')[1].click()")
        page.wait("nearby.control.written.length === 1")
        assert bytes(page.value("nearby.control.written[0]")) == b"\x01" + "rechts ♪".encode()
        notify("control", bytes([1, 0]) + "Recording rechts ♪.".encode())
        page.wait("document.querySelector('main').innerText.includes('Recording rechts ♪.')")
        page.value("document.querySelector('main input').value = ' lights out '")
        page.value("[...document.querySelectorAll('main button')].find(each => each.innerText === 'Mark').click()")
        page.wait("nearby.control.written.length === 2")
        assert bytes(page.value("nearby.control.written[1]")) == b"\x03lights out"
        page.value("nearby.refuses = true; document.querySelectorAll('article button')[1].click()")
        page.wait("document.querySelector('main').innerText.includes('eegsync companion pair')")
        page.wait("document.querySelector('main .lines').classList.contains('bad')")

    def returns() -> None:
        page.value("nearby.unreachable = 1; nearby.lose()")
        page.wait("nearby.connections === 2")
        page.wait("document.querySelector('main').innerText.includes('Connected to eegsync pi-7')")

    def understands() -> None:
        """A value of another version is not shown as if it were understood."""
        notify("status", bytes([2, 1, 0, 2]) + b"good")
        assert "does not understand" in text()

    check("phone: a machine nearby is shown", shows)
    check("phone: what it notifies is shown, also cut", follows)
    check("phone: it is told what to do, and refuses", commands)
    check("phone: a lost link comes back", returns)
    check("phone: another version is said to be one", understands)
    check("phone: nothing in the console, nothing from elsewhere", page.clean)
    records[0] = headset_record(0, 86, 3, "left")
    check("phone: another battery is noticed", lambda: notices(shows))
    page.browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    bare = "Object.defineProperty(navigator, 'bluetooth', { value: undefined, configurable: true })"
    script = page.browser.call("Page.addScriptToEvaluateOnNewDocument", source=bare)["identifier"]
    page.visit(f"{address}?bare#phone")
    check(
        "phone: a browser without Bluetooth is told so",
        lambda: page.wait("document.querySelector('main').innerText.includes('Web Bluetooth')"),
    )
    page.browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def main() -> int:
    known_address, live_address, study_address, screenshots = sys.argv[1:5]
    parts = [(known, known_address), (live, live_address), (phone, live_address), (answers, known_address)]
    with Chromium() as browser:
        page = Page(browser, pathlib.Path(screenshots))
        for part, address in [*parts, (study, study_address)]:
            try:
                part(page, address)
            except Exception:  # noqa: BLE001 - the other part is looked at all the same
                check(part.__name__, lambda: (_ for _ in ()).throw(AssertionError(re.sub(r"\s+", " ", "see above"))))
                traceback.print_exc()
    return conclude()


if __name__ == "__main__":
    sys.exit(main())
