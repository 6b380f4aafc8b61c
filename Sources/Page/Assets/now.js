// What each headset does now: one card each.

import { get } from "./api.js";
import { markForm, recordButtons } from "./control.js";
import { element, show } from "./dom.js";
import { head } from "./head.js";
import { text } from "./text.js";

const words = text.now;
const units = text.units;

/** Shows the page in an element, and returns what ends it. */
export function now(content, status) {
  const cards = element("div", { class: "cards" });
  const notes = element("div", { role: "status" });
  const foot = element("p", { class: "foot" });
  const tools = element("div");
  let form = null;
  show(content, element("h1", {}, words.title), notes, cards, tools, foot);
  let ended = false;
  let shown = "";
  async function step() {
    try {
      const facts = await get("api/now");
      if (ended) return;
      status.heard();
      show(foot, summary(facts));
      if (facts.allows_control && !form) {
        form = markForm();
        show(tools, form.node);
      }
      const drawn = JSON.stringify([facts.headsets, facts.storage, facts.paused_seconds !== undefined]);
      // Whoever is on a button stays there.
      if (drawn !== shown && !cards.contains(document.activeElement)) {
        shown = drawn;
        show(notes, general(facts));
        show(cards, facts.headsets.map((headset) => card(headset, facts.allows_control)));
        if (!facts.headsets.length) show(cards, element("p", {}, words.none));
      }
    } catch (error) {
      status.failed(error.message);
    }
    if (!ended) setTimeout(step, 1000);
  }
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

function card(headset, allowsControl) {
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
      `${headset.name} ${headset.sentence}${since(headset)}.`),
    headset.remedy ? element("p", { class: "remedy" }, words.youCan + headset.remedy) : null,
    headset.signal ? element("p", { class: "note caution" }, sentence(headset.signal)) : null,
    headset.time_warnings.map((warning) => element("p", { class: "note caution" }, sentence(warning.sentence))),
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
      : element("a", { href: `#signals/${headset.recording}` }, words.toSignals)),
    allowsControl ? recordButtons(headset) : null);
}

function since(headset) {
  return headset.state_seconds === undefined ? "" : ` (for ${units.duration(Math.floor(headset.state_seconds))})`;
}

function gap(headset, missing) {
  const last = headset.last_gap;
  if (!last) return words.noGap;
  const sum = missing > 0 ? `; ${words.missing(units.count(missing))}` : "";
  if (last.duration_seconds === undefined) return words.openGap(last.meaning) + sum;
  return words.gap(units.duration(last.duration_seconds), units.duration(Math.max(0, last.age_seconds)), last.meaning) + sum;
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
