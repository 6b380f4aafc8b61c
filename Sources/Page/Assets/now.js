// What each headset does now: one card each.

import { get } from "./api.js";
import { act, markForm, recordButtons } from "./control.js";
import { element, renew, setText, show } from "./dom.js";
import { head } from "./head.js";
import { text } from "./text.js";

const words = text.now;
const units = text.units;
/** What became of a command is said for so long. */
const SAID_MS = 60000;

/** Shows the page in an element, and returns what ends it. */
export function now(content, status) {
  const cards = element("div", { class: "cards", onclick: pressed });
  const notes = element("div", { role: "status" });
  const foot = element("p", { class: "foot" });
  const tools = element("div");
  let form = null;
  show(content, element("h1", {}, words.title), notes, cards, tools, foot);
  const none = element("p", {}, words.none);
  /** The card of each headset, and what became of its latest command, by its name. */
  const [shown, said] = [new Map(), new Map()];
  let facts = null;
  let ended = false;

  function draw() {
    const focused = document.activeElement?.dataset.act;
    renew(notes, element("div", { role: "status" }, general(facts)));
    const nodes = facts.headsets.map((headset) => {
      const latest = said.get(headset.name);
      if (latest && performance.now() - latest.at > SAID_MS) said.delete(headset.name);
      const next = card(headset, facts.allows_control, said.get(headset.name));
      const node = shown.get(headset.name) ?? next;
      renew(node, next);
      return node;
    });
    shown.clear();
    facts.headsets.forEach((headset, index) => shown.set(headset.name, nodes[index]));
    const wanted = nodes.length ? nodes : [none];
    if (wanted.length !== cards.children.length || wanted.some((node, index) => node !== cards.children[index])) {
      show(cards, wanted);
    }
    // Whoever is on a button stays there.
    if (focused === undefined || document.activeElement?.dataset.act === focused) return;
    [...cards.querySelectorAll("[data-act]")].find((each) => each.dataset.act === focused)?.focus({ preventScroll: true });
  }

  function pressed(event) {
    const name = event.target.closest("button[data-act]")?.dataset.act;
    const headset = facts?.headsets.find((each) => name === `record:${each.name}` || name === `impedance:${each.name}`);
    if (!headset) return;
    act(name.split(":")[0], headset, (sentence, isBad = false) => {
      said.set(headset.name, { sentence, isBad, at: performance.now() });
      if (!ended) draw();
    });
  }

  async function step() {
    try {
      const answer = await get("api/now");
      if (ended) return;
      facts = answer;
      status.heard();
      setText(foot, summary(facts));
      if (facts.allows_control && !form) {
        form = markForm();
        show(tools, form.node);
      }
      draw();
    } catch (error) {
      if (ended) return;
      status.failed(error.message);
    }
    if (!ended) setTimeout(step, 1000);
  }
  status.awaits(true);
  step();
  return () => {
    ended = true;
    form?.end();
  };
}

function summary(facts) {
  const free = facts.free_bytes === undefined ? null : units.bytes(facts.free_bytes);
  const days = facts.days_left === undefined ? null : units.days(facts.days_left);
  return `${words.daemon(facts.daemon_pid)}; ${words.disk(units.bytes(facts.database_bytes), free, days)}`;
}

function general(facts) {
  const lines = [];
  if (facts.paused_seconds !== undefined) lines.push(element("p", { class: "note bad" }, words.paused));
  if (facts.storage) {
    lines.push(element("p", { class: "note bad" }, words.nothingStored + facts.storage.sentence));
    lines.push(element("p", {}, words.youCan + facts.storage.remedy));
  }
  return lines;
}

function card(headset, allowsControl, said) {
  const rows = headset.streams.map((stream) => `${stream.name} ${units.hertz(stream.rows_per_second)}`);
  const missing = headset.streams.reduce((sum, stream) => sum + stream.missing - stream.missing_by_design, 0);
  const measured = headset.electrodes.filter((electrode) => electrode.condition);
  const good = measured.filter((electrode) => ["good", "lineNoise"].includes(electrode.condition));
  const contact = measured.length ? words.contacts(good.length, measured.length) : words.noContactKnown;
  const battery = headset.battery_percent === undefined ? words.unknown : units.percent(headset.battery_percent);
  return element(
    "article", { class: `card ${headset.severity}`, "aria-label": headset.name },
    element("h2", {}, headset.name, element("small", {}, ` ${headset.model}`)),
    element("p", { class: "sentence" }, element("span", { class: "lamp", "aria-hidden": "true" }),
      `${headset.name} ${headset.sentence}`, since(headset), "."),
    // What comes and goes has an element of its own: what is behind it stays what it is.
    element("div", {}, headset.remedy ? element("p", { class: "remedy" }, words.youCan + headset.remedy) : null,
      headset.signal ? element("p", { class: "note caution" }, sentence(headset.signal)) : null,
      headset.time_warnings.map((warning) => element("p", { class: "note caution" }, sentence(warning.sentence)))),
    element(
      "div", { class: "facts" },
      element(
        "dl", {},
        pair(words.recording, headset.recording === undefined ? "–" : String(headset.recording)),
        pair(words.battery, battery), pair(words.contact, contact),
        pair(words.rate, rows.length ? rows.join(", ") : "–"),
        pair(words.lastGap, gap(headset, missing))),
      electrodes(headset)),
    element("p", {}, headset.recording === undefined ? null
      : element("a", { href: `#signals/${headset.recording}`, "data-act": `signals:${headset.name}` }, words.toSignals)),
    allowsControl ? recordButtons(headset, said) : null);
}

function since(headset) {
  return headset.state_seconds === undefined ? "" : ` (for ${units.duration(Math.floor(headset.state_seconds))})`;
}

function gap(headset, missing) {
  const last = headset.last_gap;
  if (!last) return words.noGap;
  const sum = missing > 0 ? `; ${words.missing(units.count(missing))}` : "";
  // A gap may have ended without anybody knowing how long it was.
  const length = last.duration_seconds ?? null;
  if (last.is_open ?? length === null) return words.openGap(last.meaning) + sum;
  const age = last.age_seconds ?? null;
  return words.gap(
    length === null ? null : units.duration(length), age === null ? null : units.duration(Math.max(0, age)), last.meaning) + sum;
}

function electrodes(headset) {
  const placed = headset.electrodes.filter((electrode) => electrode.x !== undefined);
  const others = headset.electrodes.filter((electrode) => electrode.x === undefined && electrode.condition);
  const list = others.map((each) => `${each.name} ${text.conditions[each.condition] ?? each.condition}`).join(", ");
  return element(
    "div", { class: "contact" }, placed.length ? head(headset.name, placed) : null,
    list ? element("p", { class: "faint" }, words.elsewhere + list) : null);
}

const pair = (name, value) => [element("dt", {}, name), element("dd", {}, value)];
const sentence = (words) => words.charAt(0).toUpperCase() + words.slice(1) + (words.endsWith(".") ? "" : ".");
