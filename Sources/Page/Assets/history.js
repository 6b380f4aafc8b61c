// Recordings: their gaps on a line, how fast headsets came back, and files to fetch.

import { get, post } from "./api.js";
import { drawing, element, setText, show } from "./dom.js";
import { text } from "./text.js";

const words = text.history;
const units = text.units;

export function history(content, status, [wanted]) {
  const list = element("div", {});
  const detail = element("section", { "aria-live": "polite" });
  show(content, element("h1", {}, words.title), list, detail);
  let ended = false;
  const begin = async () => {
    try {
      const { recordings } = await get("api/recordings");
      if (ended) return;
      status.heard();
      show(list, recordings.length ? table(recordings.reverse(), wanted) : element("p", {}, words.none));
      if (wanted) show(detail, await recording(wanted));
    } catch (error) {
      status.failed(error.message);
      show(detail, element("p", { class: "note bad" }, error.message));
    }
  };
  begin();
  return () => { ended = true; };
}

function table(recordings, wanted) {
  const row = (each) => element(
    "tr", { class: String(each.id) === wanted ? "chosen" : null },
    element("td", {}, element("a", { href: `#history/${each.id}` }, String(each.id))),
    element("td", {}, each.headset), element("td", {}, words.states[each.state] ?? each.state),
    element("td", {}, each.start_unix_nanoseconds ? moment(each.start_unix_nanoseconds / 1e6) : "–"),
    element("td", {}, each.duration_seconds === undefined ? "–" : units.duration(each.duration_seconds)),
    element("td", {}, units.count(each.missing - each.missing_by_design)),
    element("td", {}, units.count(each.gaps - each.gaps_by_design)),
    element("td", {}, [each.label, each.subject, each.task].filter(Boolean).join(", ")));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": words.title }, element(
    "table", { class: "wide" }, element("thead", {}, element("tr", {}, words.heads.map((name) => element("th", {}, name)))),
    element("tbody", {}, recordings.map(row))));
}

const moment = (ms) => new Date(ms).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "medium" });

async function recording(id) {
  const facts = await get(`api/recordings/${id}`);
  const about = facts.recording;
  return [
    element("h2", {}, words.of(about.id, about.headset)),
    element("p", {}, element("a", { href: `#signals/${id}` }, words.toSignals)),
    timeline(facts), gaps(facts), latency(facts), downloads(facts),
  ];
}

/** When samples were stored, and when not. */
function timeline({ recording: about, gaps: all, marks, gaps_left_out: more }) {
  if (!about.start_unix_nanoseconds || !about.end_unix_nanoseconds) return null;
  const [start, end] = [about.start_unix_nanoseconds / 1e6, about.end_unix_nanoseconds / 1e6];
  const x = (ms) => (1000 * (ms - start)) / Math.max(1, end - start);
  const block = (gap) => {
    const [from, to] = [Math.max(0, x(gap.start_ms)), Math.min(1000, x(gap.end_ms ?? end))];
    return drawing("rect", { x: from, y: 0, width: Math.max(1, to - from), height: 40, class: `gap ${gap.cause}` },
      drawing("title", {}, `${moment(gap.start_ms)}: ${gap.meaning}`));
  };
  const line = (mark) => drawing("rect", { x: x(mark.start_ms), y: 0, width: 1.5, height: 40, class: "mark" },
    drawing("title", {}, `${moment(mark.start_ms)}: ${mark.text}`));
  const missing = all.reduce((sum, gap) => sum + (gap.duration_seconds ?? 0), 0);
  const stored = Math.max(0, 1 - missing / Math.max(1, about.duration_seconds));
  return element("figure", {}, drawing(
    "svg", { viewBox: "0 0 1000 40", preserveAspectRatio: "none", class: "timeline", role: "img",
      "aria-label": words.timeline(all.length, units.percent(stored * 100)) },
    drawing("rect", { x: 0, y: 0, width: 1000, height: 40, class: "stored" }), all.map(block), marks.map(line)),
  element("figcaption", { class: "faint" }, `${moment(start)} – ${moment(end)}. `,
    more ? words.leftOut(more) : "", words.legend));
}

function gaps({ gaps: all }) {
  if (!all.length) return element("p", {}, words.noGaps);
  const longest = [...all].sort((a, b) => (b.duration_seconds ?? Infinity) - (a.duration_seconds ?? Infinity)).slice(0, 20);
  return element("details", { class: "card" }, element("summary", {}, words.longest),
    element("table", {}, element("thead", {}, element("tr", {}, words.gapHeads.map((name) => element("th", {}, name)))),
      element("tbody", {}, longest.map((gap) => element("tr", {},
        element("td", {}, moment(gap.start_ms)),
        element("td", {}, gap.duration_seconds === undefined ? words.open : units.duration(gap.duration_seconds)),
        element("td", {}, gap.stream), element("td", {}, gap.meaning))))));
}

function latency({ latency: groups }) {
  if (!groups.length) return null;
  const seconds = (value) => units.duration(value);
  return element("details", { class: "card" }, element("summary", {}, words.latency),
    element("table", {}, element("thead", {}, element("tr", {}, words.latencyHeads.map((name) => element("th", {}, name)))),
      element("tbody", {}, groups.map((group) => element("tr", {},
        element("td", {}, group.layer), element("td", {}, group.cause), element("td", {}, String(group.returns)),
        element("td", {}, seconds(group.in_reach.p50_seconds)), element("td", {}, seconds(group.in_reach.p95_seconds)),
        element("td", {}, seconds(group.in_reach.maximum_seconds)))))));
}

function downloads({ recording: about, formats }) {
  const result = element("div", { role: "status" });
  const buttons = formats.map((format) => element("button", {
    title: format.summary, onclick: () => fetchFile(about.id, format.name, result),
  }, format.name));
  return element("section", { class: "card" }, element("h3", {}, words.download), element("p", { class: "tools" }, buttons),
    element("ul", { class: "faint" }, formats.map((format) => element("li", {}, `${format.name}: ${format.summary}`))), result);
}

async function fetchFile(recording, format, result) {
  const bar = element("progress", { max: 1, value: 0, "aria-label": words.exporting(format) });
  const line = element("p", {}, words.exporting(format), " ", bar);
  result.append(line);
  try {
    let job = await post("api/exports", { recording, format });
    while (!job.files && !job.problem) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      job = await get(`api/exports/${job.id}`);
      bar.value = job.fraction;
    }
    if (job.problem) throw new Error(job.problem);
    const link = (file, index) => element(
      "a", { href: `api/exports/${job.id}/${index}`, download: file.name }, `${file.name} (${units.bytes(file.bytes)})`);
    show(line, `${format}: `, job.files.flatMap((file, index) => [link(file, index), " "]));
  } catch (error) {
    line.classList.add("bad");
    setText(line, `${format}: ${error.message}`);
  }
}
