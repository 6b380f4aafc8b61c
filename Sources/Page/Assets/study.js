// How the machines and headsets of a study are, as its centre knows them: the worst first.

import { get } from "./api.js";
import { element, renew, setText, show } from "./dom.js";
import { text } from "./text.js";

const words = text.study;
const units = text.units;
/** Machines speak every ten seconds. */
const INTERVAL_MS = 5000;

/** Shows the page in an element, and returns what ends it. */
export function study(content, status) {
  const sum = element("p", { role: "status" });
  const notes = element("div");
  const find = element("input", { type: "search", placeholder: words.findHint, oninput: draw });
  const shown = element("span", { class: "faint", role: "status" });
  const list = element("div", { class: "whole scroll", tabindex: 0, role: "region", "aria-label": words.title });
  const foot = element("p", { class: "foot" });
  show(content, element("h1", {}, words.title), sum, notes,
    element("p", { class: "tools" }, element("label", {}, `${words.find} `, find), shown), list, foot);
  let facts = null;
  let ended = false;

  function draw() {
    if (!facts) return;
    const wanted = find.value.trim().toLowerCase().split(/\s+/);
    const rows = facts.rows.filter((row) => {
      const said = [row.study, row.machine, row.headset ?? "", row.sentence].join(" ").toLowerCase();
      return wanted.every((word) => said.includes(word));
    });
    setText(sum, facts.summary);
    setText(shown, words.shown(rows.length, facts.rows.length));
    setText(foot, facts.centre);
    renew(notes, element("div", {}, facts.notes.map((note) => element("p", { class: "note caution" }, note))));
    const next = facts.rows.length ? table(rows, new Set(facts.rows.map((row) => row.study)).size > 1)
      : element("p", {}, words.none);
    if (list.firstChild) renew(list.firstChild, next);
    else list.append(next);
  }

  async function step() {
    try {
      const answer = await get("api/study");
      if (ended) return;
      facts = answer;
      status.heard();
      draw();
    } catch (error) {
      if (ended) return;
      status.failed(error.message);
    }
    if (!ended) setTimeout(step, INTERVAL_MS);
  }
  step();
  return () => { ended = true; };
}

function table(rows, hasStudies) {
  return element(
    "table", { class: "wide study" },
    element("thead", {}, element("tr", {}, words.heads.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => line(row, hasStudies))));
}

function line(row, hasStudies) {
  const seconds = (value) => (value === undefined ? "" : units.duration(value));
  const missing = row.missing_today_seconds > 0 ? units.duration(row.missing_today_seconds) : null;
  const cells = [
    row.headset ?? "",
    null,
    element("span", { class: row.is_silent ? "bad" : null }, seconds(row.newest_seconds)),
    seconds(row.delay_seconds),
    row.gaps_today === undefined ? "" : words.gaps(units.count(row.gaps_today), missing),
    row.battery_percent === undefined ? "" : units.percent(row.battery_percent),
    disk(row), row.version ?? "",
  ];
  cells[1] = [element("span", { class: "lamp", "aria-hidden": "true" }), `${row.headset ?? row.machine} ${row.sentence}.`];
  return element(
    "tr", { class: row.severity },
    element("th", { scope: "row" }, row.machine, hasStudies ? element("small", {}, ` ${words.of(row.study)}`) : null),
    cells.map((cell, index) => element("td", { class: index === 1 ? "sentence" : null }, cell)));
}

function disk(row) {
  if (row.disk_days === undefined) return row.free_bytes === undefined ? "" : units.bytes(row.free_bytes);
  return row.disk_days >= 10000 ? words.decades : units.days(Math.max(0, row.disk_days));
}
