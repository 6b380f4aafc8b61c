// Traces: live, or of any time of a recording.

import { frame, get } from "./api.js";
import { element, setText, show } from "./dom.js";
import { Picture, Rows } from "./rows.js";
import { SpectrumPanel } from "./spectrumpanel.js";
import { text } from "./text.js";
import { Trace } from "./trace.js";

const words = text.signals;
const LENGTHS = [2, 5, 10, 20, 30, 60, 300, 1800, 7200, 43200, 172800, 604800];
const SCALES = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
/** Up to here every row is sent and can be filtered; beyond, the program sends what is least and greatest in each column. */
const ROWS_SECONDS = 30;
/** So much before a picture is fetched with it, for the filters to settle. */
const PRELUDE_MS = 4000;
/** So much later than taken samples are shown at first. */
const FIRST_LAG_MS = 1500;
/** Before what could not be had is asked for again. */
const RETRY_MS = 2000;
/** What ended so long ago is looked at, not waited for. */
const LONG_AGO_MS = 3600000;

export function signals(content, status, [wanted]) {
  const page = new Signals(content, status, wanted);
  page.begin();
  return () => page.end();
}

class Signals {
  constructor(content, status, wanted) {
    Object.assign(this, { status, wanted, ended: false, seconds: 10, automatic: true, wishes: { band: false, notch: 0 } });
    this.view = { start: 0, end: 0, rows: null, picture: null, gaps: [], marks: [], stream: null };
    this.isLive = true;
    this.all = [];
    this.facts = null;
    this.build(content);
  }

  build(content) {
    const choice = (label, options, chosen, change) => {
      const select = element("select", { onchange: () => change(select.value) },
        options.map(([value, name]) => element("option", { value, selected: String(value) === String(chosen) }, name)));
      return [element("label", {}, label, " ", select), select];
    };
    let label;
    [label, this.recordings] = choice(words.recording, [], null, (value) => this.open(value));
    const first = label;
    [label, this.streams] = choice(words.stream, [], null, (value) => this.choose(value));
    const second = label;
    const [length, lengths] = choice(words.length, LENGTHS.map((each) => [each, text.units.short(each)]), 10,
      (value) => this.zoom(Number(value)));
    this.lengths = lengths;
    const sizes = [["auto", words.automatic], ...SCALES.map((each) => [each, String(each)])];
    const [scale, scales] = choice(words.scale, sizes, "auto", (value) => {
      this.automatic = value === "auto";
      if (!this.automatic) this.trace.scale = Number(value);
    });
    this.scales = scales;
    const [band] = choice(words.filter, [["", words.none], ["1", words.band]], "", (value) =>
      this.filter({ ...this.wishes, band: value === "1" }));
    const [notch] = choice(words.notch, [[0, words.none], [50, "50 Hz"], [60, "60 Hz"]], 0, (value) =>
      this.filter({ ...this.wishes, notch: Number(value) }));
    this.pause = element("button", { onclick: () => this.live(!this.isLive) }, words.pause);
    const button = (name, label, action) => element("button", { onclick: action, "aria-label": label, title: label }, name);
    this.canvas = element("canvas", { class: "trace", tabindex: 0, role: "img", "aria-label": words.title });
    this.note = element("p", { class: "note faint", role: "status" });
    this.spectrumPanel = new SpectrumPanel();
    show(content, element("h1", {}, words.title),
      element("div", { class: "tools" }, first, second, length, scale, band, notch),
      element("div", { class: "tools" }, this.pause, button("⏮", words.toStart, () => this.moveTo(this.facts?.start_ms)),
        button("◀", words.back, () => this.move(-0.5)), button("▶", words.forward, () => this.move(0.5)),
        button("−", words.longer, () => this.step(1)), button("+", words.shorter, () => this.step(-1)),
        element("span", { class: "faint" }, words.keys)),
      this.note, this.canvas, this.spectrumPanel.node);
    this.trace = new Trace(this.canvas);
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    this.canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.grab(event));
  }

  begin() {
    this.open(this.wanted || undefined);
    this.poll();
    const draw = (now) => {
      if (this.ended) return;
      this.draw(now);
      requestAnimationFrame(draw);
    };
    requestAnimationFrame(draw);
    this.slow = setInterval(() => this.everySecond(), 1000);
  }

  end() {
    this.ended = true;
    clearInterval(this.slow);
  }

  /** Opens a recording, or the one that runs: again and again until there is a stream, as it may only begin, or the program may. */
  async open(wanted) {
    const token = (this.opening = {});
    const isCurrent = () => !this.ended && token === this.opening;
    this.close();
    this.status.awaits(true);
    while (isCurrent()) {
      try {
        if (await this.find(wanted, isCurrent)) return;
      } catch (error) {
        if (isCurrent()) this.status.failed(error.message);
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }

  /** Nothing is shown until something else is opened. */
  close() {
    [this.facts, this.rows, this.past] = [null, null, null];
    this.forget();
    show(this.streams);
    this.trace.clear();
    this.spectrumPanel.clear();
    this.canvas.setAttribute("aria-label", words.title);
    delete this.canvas.dataset.channels;
  }

  /** Whether there is a stream to show. */
  async find(wanted, isCurrent) {
    const { recordings } = await get("api/recordings");
    if (!isCurrent()) return false;
    this.status.heard();
    const some = recordings.filter((each) => each.rows > 0 || each.state !== "stopped").reverse();
    const isChosen = (each) => String(each.id) === String(wanted);
    const chosen = wanted === undefined ? some.find((each) => each.state === "recording") ?? some[0] : some.find(isChosen);
    // Whoever is choosing is not disturbed.
    const options = element("select", {}, some.map((each) => element("option", { value: each.id }, words.name(each))));
    if (!this.recordings.isEqualNode(options)) show(this.recordings, [...options.children]);
    this.recordings.value = chosen?.id ?? "";
    if (!chosen) {
      const isKnown = recordings.some(isChosen);
      setText(this.note, wanted === undefined ? words.nothing : (isKnown ? words.empty : words.unknownRecording)(wanted));
      return false;
    }
    const { streams, now_ms: now } = await get(`api/recordings/${chosen.id}/streams`);
    if (!isCurrent()) return false;
    this.status.heard();
    this.all = streams.filter((stream) => (stream.start_ms ?? null) !== null);
    if (!this.all.length) {
      setText(this.note, words.nothing);
      return false;
    }
    this.recording = chosen.id;
    // By the program's clock: that of the browser may be wrong.
    this.isOver = (stream) => chosen.state === "stopped" || (now ?? stream.end_ms) - stream.end_ms >= LONG_AGO_MS;
    show(this.streams, this.all.map((stream) => element("option", { value: stream.id }, words.streamName(stream))));
    this.choose(this.all[0].id);
    return true;
  }

  choose(id) {
    this.facts = this.all.find((stream) => String(stream.id) === String(id));
    this.rows = new Rows(this.facts, Math.ceil(this.facts.sampling_frequency * (ROWS_SECONDS * 2 + 10)));
    this.rows.filter(this.wishes);
    this.past = null;
    this.edge = null;
    this.lag = FIRST_LAG_MS;
    this.forget();
    Object.assign(this.view, { stream: this.facts, rows: null, picture: null, gaps: [], marks: [] });
    if (this.isOver(this.facts)) this.toEnd();
    else this.live(true);
  }

  /** An answer that is under way comes to nothing. */
  forget() { [this.token, this.underWay] = [null, null]; }

  toEnd() { this.moveTo(this.facts?.end_ms - this.seconds * 1000); }

  filter(wishes) {
    this.wishes = wishes;
    this.rows?.filter(wishes);
    this.past?.filter(wishes);
    this.say();
  }

  say() {
    const isRows = this.seconds <= ROWS_SECONDS;
    const isFiltered = this.wishes.band || this.wishes.notch;
    const parts = [];
    if (isFiltered) parts.push(isRows ? words.displayOnly : words.notFiltered);
    if (this.view.picture && this.view.picture.about.is_complete === false) parts.push(words.building);
    if (isRows && !this.isLive && this.isCut) parts.push(words.cut);
    setText(this.note, parts.join(" "));
  }

  live(isLive) {
    this.setLive(isLive);
    this.edge = null;
    if (isLive) {
      this.view.picture = null;
      this.forget();
    } else if (this.view.end > this.view.start) this.fetch();
    else this.toEnd();
    this.say();
  }

  setLive(isLive) {
    this.isLive = isLive;
    this.status.awaits(isLive);
    setText(this.pause, isLive ? words.pause : words.goLive);
  }

  zoom(seconds) {
    const middle = (this.view.start + this.view.end) / 2;
    this.seconds = seconds;
    this.lengths.value = seconds;
    if (!this.isLive) this.moveTo(middle - seconds * 500);
    else {
      this.view.picture = null;
      this.forget();
    }
    this.say();
  }

  step(direction) {
    const index = LENGTHS.indexOf(this.seconds) + direction;
    if (LENGTHS[index]) this.zoom(LENGTHS[index]);
  }

  move(part) { this.moveTo(this.view.start + part * this.seconds * 1000); }

  moveTo(start) {
    if (start === undefined || Number.isNaN(start)) return;
    this.setLive(false);
    this.view.start = start;
    this.view.end = start + this.seconds * 1000;
    this.canvas.dataset.wanted = Math.round(start);
    delete this.canvas.dataset.fetched;
    clearTimeout(this.delay);
    this.delay = setTimeout(() => this.fetch(), 60);
  }

  key(event) {
    const actions = {
      ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25), PageUp: () => this.move(-1),
      PageDown: () => this.move(1), Home: () => this.moveTo(this.facts?.start_ms), End: () => this.live(true),
      "+": () => this.step(-1), "-": () => this.step(1), " ": () => this.live(!this.isLive),
    };
    if (!actions[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    actions[event.key]();
  }

  wheel(event) {
    event.preventDefault();
    if (event.ctrlKey || Math.abs(event.deltaY) > Math.abs(event.deltaX)) this.step(Math.sign(event.deltaY));
    else this.move(event.deltaX / this.canvas.clientWidth);
  }

  grab(event) {
    const [begin, start] = [event.clientX, this.view.start];
    const drag = (moved) => {
      if (Math.abs(moved.clientX - begin) > 3) this.moveTo(start - (moved.clientX - begin) / this.trace.perMs);
    };
    const release = () => removeEventListener("pointermove", drag);
    addEventListener("pointermove", drag);
    addEventListener("pointerup", release, { once: true });
    addEventListener("pointercancel", release, { once: true });
  }

  get width() { return Math.max(200, Math.min(4096, Math.round(this.canvas.clientWidth))); }

  path(kind, parameters) {
    const query = new URLSearchParams({ stream: this.facts.id, ...parameters });
    return `api/recordings/${this.recording}/${kind}?${query}`;
  }

  /** The newest rows, four times a second. */
  async poll() {
    while (!this.ended) {
      if (this.isLive && this.facts) await this.follow().catch((error) => this.ended || this.status.failed(error.message));
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  async follow() {
    const rows = this.rows;
    const answer = await frame(this.path("newest", rows.lastN === null ? {} : { after: rows.lastN }));
    if (rows !== this.rows) return;
    this.status.heard();
    rows.append(answer);
    const { about } = answer;
    this.clock = { server: about.now_ms, own: performance.now() };
    if (about.count) this.lag = Math.max(this.lag * 0.98, about.now_ms - rows.times[rows.count - 1]);
    // A picture of a longer time comes with all that lies in it.
    if (this.seconds > ROWS_SECONDS) return;
    if (about.count || about.gaps.length) this.view.gaps = merged(this.view.gaps, about.gaps);
    this.view.marks = mergedMarks(this.view.marks, about.marks);
  }

  /** What is seen of the past: rows where the time is short, else columns. */
  async fetch() {
    const { start, end } = this.view;
    if (!this.facts || this.ended || end <= start) return;
    const token = (this.token = this.underWay = {});
    try {
      if (this.seconds <= ROWS_SECONDS) {
        const answer = await frame(this.path("rows", { from_ms: start - PRELUDE_MS, to_ms: end }));
        if (token !== this.token) return;
        const past = new Rows(this.facts, answer.about.count);
        past.wishes = this.wishes;
        past.renew();
        past.append(answer);
        this.past = past;
        this.isCut = answer.about.is_complete === false;
        Object.assign(this.view, { picture: null, gaps: answer.about.gaps, marks: answer.about.marks });
      } else {
        const answer = await frame(this.path("columns", { from_ms: start, to_ms: end, columns: this.width }));
        if (token !== this.token) return;
        Object.assign(this.view, { picture: new Picture(answer), gaps: answer.about.gaps, marks: answer.about.marks });
        if (answer.about.is_complete === false) setTimeout(() => token === this.token && this.fetch(), 1000);
      }
      this.canvas.dataset.fetched = Math.round(start);
      this.status.heard();
    } catch (error) {
      if (this.ended || token !== this.token) return;
      this.status.failed(error.message);
      // Live, the next second does.
      setTimeout(() => token === this.token && !this.isLive && this.fetch(), RETRY_MS);
    } finally {
      if (token === this.underWay) this.underWay = null;
    }
    this.say();
  }

  draw(now) {
    if (!this.facts) return;
    if (this.isLive) this.advance(now);
    const isRows = this.seconds <= ROWS_SECONDS;
    this.view.rows = isRows ? (this.isLive ? this.rows : this.past) : null;
    this.trace.draw(this.view);
  }

  /** The right edge follows the program's clock, late by what samples need to be stored; evenly, so that nothing jerks. */
  advance(now) {
    if (!this.clock) return;
    const target = this.clock.server + (now - this.clock.own) - this.lag - 60;
    const passed = now - (this.drawn ?? now);
    this.drawn = now;
    if (this.edge === null || Math.abs(target - this.edge) > 3000) this.edge = target;
    else this.edge += passed + (target - this.edge - passed) * 0.04;
    this.view.end = this.edge;
    this.view.start = this.edge - this.seconds * 1000;
  }

  everySecond() {
    if (!this.facts) return;
    // A slow answer is waited for: the next question would make it void.
    if (this.isLive && this.seconds > ROWS_SECONDS && !this.underWay) this.fetch();
    if (this.automatic) this.fit();
    const { rows, start, end } = this.view;
    const unit = text.units.unit(this.facts.channels[0].unit);
    const labels = words.label(this.facts, this.seconds, this.trace.scale, unit, this.isLive, this.view.gaps.length);
    this.canvas.setAttribute("aria-label", labels);
    Object.assign(this.canvas.dataset, { scale: this.trace.scale, start, end, channels: this.facts.channels.length });
    const [from, to] = rows ? [Math.max(rows.at(start), rows.at(end - 20000)), rows.at(end)] : [0, 0];
    this.spectrumPanel.draw(this.facts, rows, from, to, this.trace.colours);
  }

  /** A scale in which the widest of the usual values fit their lanes. */
  fit() {
    const { rows, picture, start, end } = this.view;
    const spans = this.facts.channels.map((channel, index) => {
      if (rows) return rows.spread(index, rows.at(start), rows.at(end));
      return picture ? Math.abs(channel.scale) * picture.spread(index) : 0;
    }).filter((each) => each > 0).sort((a, b) => a - b);
    if (!spans.length) return;
    const span = spans[Math.floor(spans.length / 2)] * 1.2;
    const power = 10 ** Math.floor(Math.log10(span));
    const nice = [1, 2, 5, 10].find((each) => each * power >= span) * power;
    const isFar = nice > this.trace.scale || nice < this.trace.scale / 2.5;
    if (isFar) this.trace.scale = nice;
    setText(this.scales.options[0], `${words.automatic}: ${this.trace.scale} ${text.units.unit(this.facts.channels[0].unit)}`);
  }
}

/** The later word about a gap counts. */
function merged(known, news) {
  const begins = new Set(news.map((gap) => Math.round(gap.start_ms)));
  return [...known.filter((gap) => (gap.end_ms ?? null) !== null && !begins.has(Math.round(gap.start_ms))), ...news].slice(-200);
}

function mergedMarks(known, news) {
  const names = new Set(news.map((mark) => mark.start_ms + mark.text));
  return [...known.filter((mark) => !names.has(mark.start_ms + mark.text)), ...news].slice(-200);
}
