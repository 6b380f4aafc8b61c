"""Looks at the page where answers are late, missing, wrong, or rare: they are made up in the browser."""

import contextlib
import functools
from collections.abc import Callable, Iterator

from checklist import check, notices
from pagescreen import Page, near, traced

# What the page asks for under api/ is answered here; `made.on` says how. Nothing of the page is changed.
MADE = """
if (location.protocol.startsWith("http")) (() => {
  const [own, clock] = [globalThis.fetch.bind(globalThis), Date.now.bind(Date)];
  const answers = [];
  const made = globalThis.made = {
    asked: [], drawn: new Set(), clock, start: clock() - 86400000,
    on(pattern, answer) { answers.unshift([new RegExp(pattern), answer]); },
    never: () => new Promise(() => {}),
    fails: () => { throw new TypeError("made up"); },
    problem: (status, problem) => new Response(JSON.stringify({ problem }), { status }),
    json: (facts) => new Response(JSON.stringify(facts)),
    frame(about, ...arrays) {
      const text = new TextEncoder().encode(JSON.stringify(about));
      const head = new Uint8Array(4 + text.length + (8 - (4 + text.length) % 8) % 8).fill(32);
      new DataView(head.buffer).setUint32(0, head.length - 4, true);
      head.set(text, 4);
      return new Response(new Blob([head, ...arrays]));
    },
  };
  globalThis.fetch = async (path, options) => {
    if (!path.startsWith("api/")) return own(path, options);
    made.asked.push(path);
    return answers.find(([pattern]) => pattern.test(path))[1](new URL(path, location.href).searchParams, options);
  };
  const fillText = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    made.drawn.add(text);
    return fillText.call(this, text, ...rest);
  };

  // Headsets.
  made.names = ["left"];
  made.seconds = 5;
  made.headset = (name) => ({
    name, model: "muse", severity: "good", sentence: "streams", state_seconds: made.seconds, is_wanted: true, recording: 1,
    streams: [], electrodes: [], time_warnings: [], measures_impedance: true, last_gap: made.gap });
  made.now = () => ({
    headsets: made.names.map(made.headset), allows_control: true, database_bytes: 1000, storage: made.storage });
  made.on("^api/now", () => made.json(made.now()));

  // A recording of ten minutes that ended yesterday: a value once in 20 ms, around another level behind each gap.
  made.channel = { name: "A", type: "EEG", unit: "uV", scale: 1, offset: 0 };
  made.stream = { id: 1, name: "eeg", sampling_frequency: 50, channels: [made.channel], start_ms: made.start,
    end_ms: made.start + 600000 };
  made.recording = { id: 1, headset: "left", model: "muse", state: "stopped", rows: 30000, missing: 0, missing_by_design: 0,
    gaps: 0, gaps_by_design: 0, recovered: 0, views: ["eeg_1"] };
  made.others = [];
  made.gaps = [];
  made.level = 0;
  made.lost = () => made.gaps.filter((gap) => gap.recovered < gap.count);
  made.at = (ms) => made.level * made.lost().filter((gap) => gap.start_ms < ms).length;
  made.isLost = (ms) => ms < made.stream.start_ms || ms > made.stream.end_ms ||
    made.lost().some((gap) => gap.start_ms < ms && ms < (gap.end_ms ?? Infinity));
  made.about = (from, to) => ({
    channels: 1, period_ms: 20, start_ms: from, end_ms: to, now_ms: clock(), marks: [],
    gaps: made.gaps.filter((gap) => gap.start_ms < to && (gap.end_ms ?? Infinity) > from) });
  made.rows = (from, to, more = {}) => {
    const times = [];
    for (let ms = Math.ceil(from / 20) * 20; ms < to; ms += 20) if (!made.isLost(ms)) times.push(ms);
    const values = times.map((ms) => Math.round(made.at(ms) + 40 * Math.sin(ms / 16)));
    const start = times[0] ?? from;
    return made.frame({ ...made.about(from, to), kind: "rows", start_ms: start, count: times.length, ...more },
      Float32Array.from(times, (ms) => (ms - start) / 1000), Int32Array.from(values));
  };
  made.columns = (from, to, count) => {
    const step = (to - from) / count;
    const nothing = (column) => made.isLost(from + column * step) && made.isLost(from + (column + 1) * step);
    const ends = [-40, 40].map((end) => Int32Array.from({ length: count }, (_, column) =>
      (nothing(column) ? -2147483648 : end + made.at(from + (column + 0.5) * step))));
    return made.frame({ ...made.about(from, to), kind: "columns", count }, ...ends);
  };
  made.between = (asked) => [Number(asked.get("from_ms")), Number(asked.get("to_ms"))];
  made.list = () => made.json({ recordings: [made.recording, ...made.others], now_ms: clock() });
  made.streams = () => made.json({ streams: [made.stream], now_ms: clock() });
  made.on("^api/recordings$", () => made.list());
  made.on("^api/recordings/[0-9]+/streams", () => made.streams());
  made.on("^api/recordings/[0-9]+/rows", (asked) => made.rows(...made.between(asked)));
  made.on("^api/recordings/[0-9]+/columns", (asked) => made.columns(...made.between(asked), Number(asked.get("columns"))));

  // The same, still running.
  made.run = () => {
    made.recording.state = "recording";
    Object.assign(made.stream, { start_ms: clock() - 60000, end_ms: clock() + 3600000 });
    made.on("^api/recordings/[0-9]+/newest", () => made.rows(clock() - 1000, clock(), { last_n: 1 }));
  };
})();
"""
TRACE = "document.querySelector('canvas.trace')"
LINK = "document.getElementById('link').textContent"
MAIN = "document.querySelector('main').innerText"
NOTE = "document.querySelector('main .note').textContent"
GAP = "cause: 'linkLost', meaning: 'the link broke'"


@contextlib.contextmanager
def made(page: Page, address: str, rules: str = "", zone: str = "") -> Iterator[None]:
    """The page under an address, where answers are as the rules say; console and network stay clean."""
    source = f"{MADE}\nif (globalThis.made) {{ {rules} }}"
    script = page.browser.call("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
    page.browser.call("Emulation.setTimezoneOverride", timezoneId=zone)
    try:
        page.visit(address)
        yield
        page.clean()
    finally:
        page.browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
        page.browser.call("Emulation.setTimezoneOverride", timezoneId="")


def now(page: Page, address: str) -> None:
    """The page Now, while somebody uses it."""
    focus = "document.activeElement.getAttribute('aria-label')"

    def redraws() -> None:
        """Another answer has been drawn."""
        page.value("made.seconds += 60")
        page.wait(f"{MAIN}.includes(`(for ${{Math.floor(made.seconds / 60)}} min 05 s)`)")

    def focused() -> None:
        with made(page, address):
            page.wait("document.querySelector('article button')")
            page.value("document.querySelector('article button').focus()")
            redraws()
            assert page.value(focus) == "Stop: left"
            # Cards move, and the focus with its own.
            page.value("made.names = ['another', 'left']")
            page.wait("document.querySelectorAll('article').length === 2")
            redraws()
            assert page.value(focus) == "Stop: left"
            page.value("document.querySelectorAll('article')[1].querySelector('a').focus()")
            page.value("made.names = ['left']")
            page.wait("document.querySelectorAll('article').length === 1")
            redraws()
            assert page.value("document.activeElement.textContent") == "See its signals"

    def selected() -> None:
        with made(page, address):
            page.wait("document.querySelector('article h2')")
            page.value("getSelection().selectAllChildren(document.querySelector('article h2'))")
            redraws()
            redraws()
            assert page.value("getSelection().toString()") == "left muse"

    def said() -> None:
        rules = (
            "made.on('^api/control', () => made.json({ sentence: 'Measured, and all is well.' }));"
            "made.names = ['left', 'right']; window.confirm = () => true;"
        )
        with made(page, address, rules):
            page.wait("document.querySelector('article button')")
            page.value("document.querySelector('[aria-label=\"Impedances: right\"]').click()")
            page.wait("document.querySelectorAll('article')[1].innerText.includes('all is well')")
            redraws()
            assert "all is well" in page.value("document.querySelectorAll('article')[1].innerText")
            assert "all is well" not in page.value("document.querySelectorAll('article')[0].innerText")
            page.value("made.on('^api/control', () => made.problem(409, 'The disk is full.'))")
            page.value("document.querySelector('[aria-label=\"Stop: right\"]').click()")
            page.wait("document.querySelector('article .lines.bad')?.textContent === 'The disk is full.'")
            redraws()
            assert page.value("document.querySelector('article .lines.bad')?.textContent") == "The disk is full."

    def noted() -> None:
        rules = "made.storage = { sentence: 'the disk is full.', remedy: 'make room.' };"
        with made(page, address, rules):
            page.wait(f"{MAIN}.includes('the disk is full')")
            page.value(
                "made.changes = 0; new MutationObserver(() => { made.changes += 1; }).observe("
                "document.querySelector('main > [role=status]'), { childList: true, subtree: true, characterData: true })"
            )
            redraws()
            assert page.value("made.changes") == 0
            page.value("made.storage.sentence = 'the disk is gone.'")
            page.wait(f"{MAIN}.includes('the disk is gone')")

    def gaps() -> None:
        with made(page, address, f"made.gap = {{ {GAP}, is_open: false, duration_seconds: null, age_seconds: 3 }};"):
            page.wait(f"{MAIN}.includes('of unknown length, 3.0 s ago: the link broke')")
            page.value("made.gap = { ...made.gap, is_open: true, duration_seconds: null }")
            page.wait(f"{MAIN}.includes('since a moment: the link broke')")
            page.value("made.gap = { meaning: 'the link broke', duration_seconds: 2, age_seconds: 3 }")
            page.wait(f"{MAIN}.includes('2.0 s, 3.0 s ago: the link broke')")

    def held() -> None:
        rules = (
            "sessionStorage.setItem('labels', '[\"lights out\"]');"
            "made.on('^api/control', () => made.json({ sentence: 'Marked.' }));"
        )
        press = "dispatchEvent(new KeyboardEvent('keydown', { key: '1', repeat: REPEAT }))"
        with made(page, address, rules):
            page.wait(f"{MAIN}.includes('1 lights out')")
            page.value(press.replace("REPEAT", "true"))
            page.value(press.replace("REPEAT", "false"))
            page.wait(f"{MAIN}.includes('Marked.')")
            assert page.value("made.asked.filter((path) => path === 'api/control').length") == 1
            page.value("sessionStorage.clear()")

    check("now: who is on a button stays there, and sees what changes", focused)
    check("now: text that is selected stays selected", selected)
    check("now: what became of a command stays, for its headset", said)
    check("now: what has not changed is not said again", noted)
    check("now: a gap that is open, and one of unknown length", gaps)
    check("now: a key that is held makes one mark", held)


def silence(page: Page, address: str) -> None:
    """Nothing answers, and the page says so."""

    def silent(part: str, rules: str, hush: str) -> None:
        with made(page, f"{address}#{part}", rules):
            page.wait(f"{LINK} === 'up to date'")
            page.value(f"made.on('{hush}', made.never)")
            page.wait(f"{LINK}.startsWith('eegsync serve does not answer. (no answer for ')")

    def returns() -> None:
        with made(page, address):
            page.wait(f"{LINK} === 'up to date'")
            page.value("made.on('^api/now', made.fails)")
            page.wait(f"{LINK}.startsWith('eegsync serve does not answer.')")
            page.value("made.on('^api/now', () => made.json(made.now()))")
            page.wait(f"{LINK} === 'up to date'")

    check("now: silence is seen", lambda: silent("now", "", "^api/now"))
    check("signals: silence is seen", lambda: silent("signals", "made.run();", "^api/recordings/1/newest"))
    check("now: an answer after silence is seen", returns)


def history(page: Page, address: str) -> None:
    """Gaps of a recording on a line."""
    # A hundred seconds until now, of which samples came for half.
    running = """
        const start = made.clock() - 100000;
        Object.assign(made.recording, { state: "recording", rows: 900, missing: 100, start_unix_nanoseconds: start * 1e6,
            end_unix_nanoseconds: (start + 50000) * 1e6, duration_seconds: 50 });
        Object.assign(made.stream, { start_ms: start, end_ms: start + 50000 });
        made.history = { recording: made.recording, gaps_left_out: 0, marks: [], latency: [], formats: [], gaps: [
            { stream: "eeg", start_ms: start + 10000, end_ms: start + 20000, duration_seconds: 10, ALL },
            { stream: "eeg", start_ms: start + 30000, end_ms: start + 40000, duration_seconds: 9, count: 9, recovered: 8, GAP },
            { stream: "eeg", start_ms: start + 50000, duration_seconds: null, recovered: 0, GAP },
            { stream: "ppg", start_ms: start + 10000, end_ms: start + 40000, duration_seconds: 30, ALL }] };
        made.on("^api/recordings/1$", () => made.json(made.history));
    """.replace("ALL", "count: 9, recovered: 9, GAP").replace("GAP", GAP)

    def block(number: int, kind: str = "gap") -> list[float]:
        """Where on the line of the first stream a gap is drawn, or what was stored, and how long."""
        rect = f"document.querySelectorAll('svg.timeline')[0].querySelectorAll('.{kind}')[{number}]"
        where: list[float] = page.value(f"(({{ x, width }}) => [x.baseVal.value, width.baseVal.value])({rect})")
        return where

    def shown(rules: str = "") -> None:
        with made(page, f"{address}#history/1", running + rules):
            page.wait("document.querySelector('svg.timeline')")
            page.shoot("history-running")
            assert page.value("document.querySelectorAll('svg.timeline').length") == 2
            assert "90 % stored" in page.value("document.querySelector('figcaption').innerText")
            pale = page.value("[...document.querySelectorAll('.gap')].map((gap) => getComputedStyle(gap).fillOpacity < 0.5)")
            assert pale == [True, False, False, True], pale
            titles = page.value("[...document.querySelectorAll('.gap title')].map((title) => title.textContent)")
            assert [title.endswith("arrived after all") for title in titles] == pale, titles
            table = page.value("document.querySelector('details.card').textContent")
            assert table.count("arrived after all") == 2 and "still open" in table, table

    def runs(rules: str = "") -> None:
        with made(page, f"{address}#history/1", running + rules):
            page.wait("document.querySelector('svg.timeline')")
            x, width = block(2)
            assert abs(x - 500) < 100 and abs(width - 500) < 100, f"{x}, {width}"
            begin, length = block(0, "stored")
            assert abs(begin) < 1 and abs(length - 500) < 100, f"{begin}, {length}"

    def known(stored: float, rules: str = "") -> None:
        """No gap is open: the line ends with the newest sample, whatever the time is."""
        with made(page, f"{address}#history/1", f"{running} made.history.gaps.splice(2, 1); {rules}"):
            page.wait("document.querySelector('svg.timeline')")
            x, width = block(1)
            assert abs(x - 600) < 1 and abs(width - 200) < 1, f"{x}, {width}"
            begin, length = block(0, "stored")
            assert abs(begin) < 1 and abs(length - stored) < 1, f"{begin}, {length}"
            # Of a stream that has gaps alone, nothing was stored.
            other = page.value("document.querySelectorAll('svg.timeline')[1].querySelectorAll('.stored').length")
            assert other == 0, other

    def stopped() -> None:
        rules = "made.recording.state = 'stopped'; made.recording.stopped_unix_nanoseconds = (start + 62500) * 1e6;"
        with made(page, f"{address}#history/1", running + rules):
            page.wait("document.querySelector('svg.timeline')")
            x, width = block(2)
            assert abs(x - 800) < 1 and abs(width - 200) < 1, f"{x}, {width}"

    def zoned() -> None:
        with made(page, f"{address}#history/1", running, zone="Asia/Tokyo"):
            page.wait("document.querySelector('figcaption')")
            for part in ["figcaption", "tbody td:nth-child(4)", ".gap title", "details tbody td"]:
                assert "GMT+9" in page.value(f"document.querySelector('{part}').textContent"), part

    check("history: a line for each stream, and pale what arrived after all", shown)
    check("history: another share is noticed", lambda: notices(lambda: shown("made.recording.rows = 500;")))
    check("history: a gap that is open at the end is seen", runs)
    ahead = "Date.now = () => made.clock() + 3600000;"
    check("history: the browser's clock may be wrong", lambda: runs(ahead))
    old = f"{ahead} made.streams = () => made.json({{ streams: [made.stream] }});"
    check("history: a wrong clock is noticed where there is no other", lambda: notices(lambda: runs(old)))
    check("history: what was never stored is not drawn as stored", lambda: known(1000))
    ended = "made.stream.end_ms = start + 25000;"
    check("history: a stream that ended before the others has its own length", lambda: known(500, ended))
    check("history: another length is noticed", lambda: notices(lambda: known(1000, ended)))
    check("history: the line of a recording ends where it was stopped", stopped)
    check("history: times say their zone", zoned)


def opening(page: Page, address: str) -> None:
    """Recordings that are opened early, in vain, or one soon after the other."""
    opened = f"{TRACE}?.dataset.channels === '1'"

    def recovers(rules: str, said: str) -> None:
        with made(page, f"{address}#signals", f"const [list, streams] = [made.list, made.streams]; {rules}"):
            page.wait(f"({LINK} + {MAIN}).includes('{said}')")
            page.value("made.mend()")
            page.wait(opened)
            page.wait(f"{LINK} === 'up to date'")

    cases = {
        "the program does not answer": ("made.list = made.fails; made.mend = () => { made.list = list; };", "does not answer"),
        "there is no recording": (
            "made.list = () => made.json({ recordings: [] }); made.mend = () => { made.list = list; };",
            "There is no sample to show yet",
        ),
        "streams are refused": (
            "made.streams = () => made.problem(503, 'The database is busy.'); made.mend = () => { made.streams = streams; };",
            "The database is busy.",
        ),
        "there is no sample": (
            "made.streams = () => made.json({ streams: [{ id: 1 }] }); made.mend = () => { made.streams = streams; };",
            "There is no sample to show yet",
        ),
    }
    for name, (rules, said) in cases.items():
        check(f"signals: traces come where at first {name}", functools.partial(recovers, rules, said))

    def unknown() -> None:
        with made(page, f"{address}#signals/99"):
            page.wait(f"{NOTE} === 'There is no recording 99.'")
            page.choose("Recording", "1")
            page.wait(opened)
            page.wait(f"{NOTE} === ''")

    def quick() -> None:
        rules = """
            made.others = [2, 3].map((id) => ({ ...made.recording, id }));
            made.on("^api/recordings/2/streams", () => new Promise((done) => {
                made.release = () => done(made.json({ streams: [{ ...made.stream, name: "slow" }] }));
            }));
            made.on("^api/recordings/3/streams", () => made.json({ streams: [{ ...made.stream, name: "quick" }] }));
        """
        streams = "[...document.querySelectorAll('label')].find((each) => each.textContent.startsWith('Stream')).textContent"
        with made(page, f"{address}#signals/1", rules):
            page.wait(opened)
            page.choose("Recording", "2")
            page.wait("made.release")
            page.choose("Recording", "3")
            page.wait(f"{streams}.includes('quick')")
            page.value("made.release()")
            page.frames(10)
            assert "slow" not in page.value(streams)
            page.wait("made.asked.at(-1).startsWith('api/recordings/3/')")

    def running(rules: str) -> None:
        with made(page, f"{address}#signals", f"made.run(); {rules}"):
            page.wait(f"Math.abs(made.clock() - {TRACE}.dataset.end) < 10000")
            assert "Pause" in page.value(MAIN)

    def past(rules: str) -> None:
        with made(page, f"{address}#signals/1", rules):
            page.fetched()
            assert "Go live" in page.value(MAIN)
            asked = page.value(
                "made.asked.filter((path) => path.includes('/rows'))"
                ".map((path) => new URL(path, location.href).searchParams.get('from_ms'))"
            )
            begin = page.value("made.stream.start_ms")
            assert asked and all(float(each) > begin - 60_000 for each in asked), asked

    check("signals: an unknown recording is said to be one", unknown)
    check("signals: of two quick choices the latter is shown", quick)
    check(
        "signals: what runs is live, by any clock of the browser", lambda: running("Date.now = () => made.clock() + 7200000;")
    )
    recent = "Object.assign(made.stream, { start_ms: made.clock() - 600000, end_ms: made.clock() - 60000 });"
    check("signals: what was stopped is looked at from its end", lambda: past(recent))
    check("signals: nothing is asked about 1970", lambda: past(""))


def traces(page: Page, address: str) -> None:
    """What is drawn of made-up samples."""
    lost = "made.gaps = [{ start_ms: made.start + A, end_ms: made.start + B, count: 50, recovered: 0, GAP }];".replace(
        "GAP", GAP
    )

    @contextlib.contextmanager
    def seen(rules: str, seconds: int, zone: str = "") -> Iterator[None]:
        """A window over the beginning, a lane of 200 µV."""
        with made(page, f"{address}#signals/1", rules, zone):
            page.fetched()
            page.choose("Scale", "200")
            page.choose("Window", str(seconds))
            page.value("document.querySelector('[aria-label=\"To the beginning\"]').click()")
            page.fetched()
            yield

    def around_the_middle(name: str, *parts: float) -> None:
        """At parts of the width, the trace goes from 40 µV below to 40 µV above the middle of its lane."""
        image = page.canvas(name)
        lane = image.height - 24
        for part in parts:
            x = round(part * image.width)
            columns = traced(image.crop((x - 15, 0, x + 15, lane)), page.colour("accent"), page.colour("card"), 20, lane)
            some = [each for each in columns if each]
            assert some, f"nothing at {part}"
            top, bottom = min(each[0] for each in some) / lane, max(each[1] for each in some) / lane
            assert abs(top - 0.3) < 0.05 and abs(bottom - 0.7) < 0.05, f"{top} ... {bottom} at {part}"

    def pieces(gap: str, seconds: int) -> None:
        with seen(gap + "made.level = 1000;", seconds):
            around_the_middle(f"pieces-{seconds}", 0.25, 0.8)

    def negative() -> None:
        with seen("made.channel.scale = -1;", 60):
            around_the_middle("negative", 0.25, 0.8)

    def fits() -> None:
        with seen(lost.replace("A", "29990").replace("B", "30010") + "made.level = 100000;", 60):
            page.choose("Scale", "auto")
            page.wait(f"{MAIN}.includes('automatic: 200 µV')")
            around_the_middle("fits", 0.25, 0.8)

    def recovered(count: int) -> None:
        gap = lost.replace("A", "2000").replace("B", "8000").replace("recovered: 0", f"recovered: {count}")
        with seen(gap, 10):
            image = page.canvas(f"recovered-{count}")
            pixel = image.getpixel((image.width // 2, 40))
            assert isinstance(pixel, tuple)
            ground, full = page.colour("card"), page.colour("gap")
            pale = tuple(round(0.65 * a + 0.35 * b) for a, b in zip(ground, full, strict=True))
            assert near((int(pixel[0]), int(pixel[1]), int(pixel[2])), (pale[0], pale[1], pale[2]), 4), f"{pixel}, not {pale}"
            assert page.value("[...made.drawn].some((text) => text.includes('the link broke (6.0 s, arrived after all)'))")

    def zoned() -> None:
        with seen("", 10, "Asia/Tokyo"):
            assert page.value("made.drawn.has('GMT+9')")

    check(
        "signals: each piece of a short window is in its lane",
        lambda: pieces(lost.replace("A", "4000").replace("B", "6000"), 10),
    )
    check(
        "signals: each piece of a long window is in its lane",
        lambda: pieces(lost.replace("A", "20000").replace("B", "40000"), 60),
    )
    narrow = lost.replace("A", "29990").replace("B", "30010")
    check("signals: and where no column of pixels is empty between them", lambda: pieces(narrow, 60))
    unsaid = "const about = made.about; made.about = (...time) => ({ ...about(...time), gaps: [] });"
    check("signals: pieces that are taken for one are noticed", lambda: notices(lambda: pieces(narrow + unsaid, 60)))
    check("signals: the automatic scale is that of the pieces", fits)
    check("signals: a negative scale is drawn in long windows", negative)
    check("signals: a gap whose samples arrived after all is pale", lambda: recovered(50))
    check("signals: a gap that is as dark as others is noticed", lambda: notices(lambda: recovered(49)))
    check("signals: the axis says its zone", zoned)

    def days() -> None:
        # A week in which a day has 25 hours.
        week = "Object.assign(made.stream, { start_ms: Date.UTC(2026, 9, 21, 22), end_ms: Date.UTC(2026, 9, 28, 22) });"
        with seen(week, 604800, "Europe/Berlin"):
            labels = page.value("[...made.drawn].filter((text) => /^[0-9]+ [A-Z][a-z]+ [0-9]+:[0-9]+$/.test(text))")
            assert "24 Oct 00:00" in labels and "27 Oct 00:00" in labels, labels
            assert all(label.endswith(" 00:00") for label in labels), labels

    check("signals: days begin at midnight over a change of the clock", days)

    def cut() -> None:
        rules = "made.on('^api/recordings/1/rows', (asked) => made.rows(...made.between(asked), { is_complete: false }));"
        with seen(rules, 10):
            page.wait(f"{NOTE}.includes('the end of this window is left out')")
            page.choose("Window", "60")
            page.wait(f"{NOTE} === ''")

    check("signals: what is left out of a window is said", cut)

    rows = "document.querySelectorAll('details.card tbody tr').length"

    def spectra() -> None:
        with seen("", 10):
            page.value("document.querySelector('details.card').open = true")
            page.wait(f"{rows} === 5")
            page.choose("Window", "60")
            page.wait(f"{rows} === 0 && {MAIN}.includes('A spectrum needs some seconds')")
            assert page.value("document.querySelector('canvas.spectrum').width") == 0
            page.choose("Window", "10")
            page.wait(f"{rows} === 5")
            # Behind the end there is nothing.
            page.value("document.querySelector('[aria-label=\"To the beginning\"]').click()")
            page.value("made.stream.end_ms = made.stream.start_ms - 10000")
            page.value("document.querySelector('[aria-label=\"To the beginning\"]').click()")
            page.wait(f"{rows} === 0 && {MAIN}.includes('A spectrum needs some seconds')")

    check("signals: without a spectrum none is shown", spectra)

    def closed() -> None:
        rules = """
            made.others = [{ ...made.recording, id: 2 }];
            made.on("^api/recordings/2/streams", made.never);
        """
        with seen(rules, 10):
            page.value("document.querySelector('details.card').open = true")
            page.wait(f"{rows} === 5 && {TRACE}.getAttribute('aria-label').startsWith('Traces of eeg')")
            page.choose("Recording", "2")
            page.wait(f"{rows} === 0")
            page.frames(90)
            assert page.value(rows) == 0 and page.value("document.querySelector('canvas.spectrum').width") == 0
            assert page.value(f"{TRACE}.getAttribute('aria-label')") == "Signals"
            assert "windows of two seconds" not in page.value(MAIN)

    check("signals: nothing stays of the recording that was shown before", closed)


def live(page: Page, address: str) -> None:
    """Windows that follow what is recorded."""

    def slow() -> None:
        rules = """
            made.run();
            made.open = made.most = 0;
            made.on("^api/recordings/1/columns", async (asked) => {
                made.most = Math.max(made.most, made.open += 1);
                await new Promise((done) => setTimeout(done, 1500));
                made.open -= 1;
                return made.columns(...made.between(asked), Number(asked.get("columns")));
            });
        """
        with made(page, f"{address}#signals", rules):
            page.wait(f"{TRACE}.dataset.end > 0")
            page.choose("Window", "60")
            page.wait(f"{TRACE}.dataset.fetched > 0")
            assert page.value("made.most") == 1

    def many() -> None:
        rules = """
            made.run();
            for (let i = 0; i < 500; i += 1) {
                made.gaps.push({ start_ms: made.clock() - 50000 + i * 50, end_ms: made.clock() - 49980 + i * 50, count: 1,
                    recovered: 0, GAP });
            }
        """.replace("GAP", GAP)
        with made(page, f"{address}#signals", rules):
            page.wait(f"{TRACE}.dataset.end > 0")
            page.choose("Window", "300")
            page.wait(f"{TRACE}.getAttribute('aria-label').includes('live, 500 gaps')")

    def late() -> None:
        rules = """
            made.run();
            made.stream.start_ms -= 86400000;
            made.others = [{ ...made.recording, id: 2 }];
            made.on("^api/recordings/1/newest", () =>
                made.rows(made.clock() - 36001000, made.clock() - 36000000, { last_n: 1 }));
        """
        with made(page, f"{address}#signals/1", rules):
            page.wait(f"{TRACE}.dataset.end > 0 && {TRACE}.dataset.end < made.clock() - 30000000")
            page.choose("Recording", "2")
            page.wait(f"{TRACE}.dataset.end > made.clock() - 5000")

    check("signals: a slow answer is waited for, and shown", slow)
    check("signals: a long window has all its gaps", many)
    check("signals: a stream is not late because another one was", late)


def addresses(page: Page, address: str) -> None:
    """Addresses that nobody meant."""
    title = "document.querySelector('h1').textContent"

    def wrong(part: str, wanted: str) -> None:
        with made(page, f"{address}#{part}"):
            page.wait(f"{title} === '{wanted}'")
            for each, heading in [("signals", "Signals"), ("history", "History"), ("now", "Now")]:
                page.value(f"location.hash = '#{each}'")
                page.wait(f"{title} === '{heading}'")

    def skips() -> None:
        with made(page, f"{address}#signals/1"):
            page.value("document.getElementById('skip').click()")
            page.frames(3)
            assert page.value(title) == "Signals"
            assert page.value("document.activeElement.id") == "content"

    check("an address that is not well encoded is one", lambda: wrong("history/%", "History"))
    for name in ["constructor", "toString/1", "__proto__"]:
        check(f"#{name} is no page", functools.partial(wrong, name, "Now"))
    check("the way to the content leads to no other page", skips)


PARTS: list[Callable[[Page, str], None]] = [now, silence, history, opening, traces, live, addresses]


def answers(page: Page, address: str) -> None:
    """All of them; the address is that of any page."""
    for part in PARTS:
        part(page, address)
