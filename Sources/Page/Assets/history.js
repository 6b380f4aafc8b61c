// Recordings: their gaps on a line, how fast headsets came back, and files to fetch.

import { get, post } from "./api.js";
import { drawing, element, setText, show } from "./dom.js";
import { isRecovered } from "./rows.js";
import { text } from "./text.js";

const words = text.history;
const units = text.units;
const { moment } = units;

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
      if (!wanted) return;
      const shown = await recording(wanted);
      if (!ended) show(detail, shown);
    } catch (error) {
      if (ended) return;
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
    element("td", {}, (each.duration_seconds ?? null) === null ? "–" : units.duration(each.duration_seconds)),
    element("td", {}, units.count(each.missing - each.missing_by_design)),
    element("td", {}, units.count(each.gaps - each.gaps_by_design)),
    element("td", {}, [each.label, each.subject, each.task].filter(Boolean).join(", ")));
  return element("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": words.title }, element(
    "table", { class: "wide" }, element("thead", {}, element("tr", {}, words.heads.map((name) => element("th", {}, name)))),
    element("tbody", {}, recordings.map(row))));
}

async function recording(id) {
  const path = `api/recordings/${encodeURIComponent(id)}`;
  const [facts, { streams, now_ms: now }] = await Promise.all([get(path), get(`${path}/streams`)]);
  const about = facts.recording;
  return [
    element("h2", {}, words.of(about.id, about.headset)),
    element("p", {}, element("a", { href: `#signals/${id}` }, words.toSignals)),
    timeline(facts, streams, now ?? Date.now()), gaps(facts), latency(facts), downloads(facts),
  ];
}

const meaning = (gap) => (isRecovered(gap) ? words.recovered(gap.meaning) : gap.meaning);

/** When samples were stored, and when not: a line for each stream. */
function timeline({ recording: about, gaps: all, marks, gaps_left_out: more }, streams, now) {
  if (!about.start_unix_nanoseconds || !about.end_unix_nanoseconds) return null;
  const [start, newest] = [about.start_unix_nanoseconds / 1e6, about.end_unix_nanoseconds / 1e6];
  // A gap that is open at the end lasts beyond the newest sample. Without one nothing is known of what came behind that: the
  // file may be a copy, and the daemon dead.
  const stopped = about.stopped_unix_nanoseconds ? about.stopped_unix_nanoseconds / 1e6 : newest;
  const open = about.state === "stopped" ? stopped : now;
  const end = Math.max(newest, ...all.map((gap) => gap.end_ms ?? open));
  const x = (ms) => (1000 * (ms - start)) / Math.max(1, end - start);
  const block = (first, last, kind, ...children) => {
    const [from, to] = [Math.max(0, x(first)), Math.min(1000, x(last))];
    return drawing("rect", { x: from, y: 0, width: Math.max(1, to - from), height: 40, class: kind }, ...children);
  };
  const hole = (gap) => block(gap.start_ms, gap.end_ms ?? end, `gap ${gap.cause}${isRecovered(gap) ? " recovered" : ""}`,
    drawing("title", {}, `${moment(gap.start_ms)}: ${meaning(gap)}`));
  const line = (mark) => drawing("rect", { x: x(mark.start_ms), y: 0, width: 1.5, height: 40, class: "mark" },
    drawing("title", {}, `${moment(mark.start_ms)}: ${mark.text}`));
  const lane = (name) => {
    const own = all.filter((gap) => gap.stream === name);
    const stored = streams.filter((stream) => stream.name === name && (stream.start_ms ?? null) !== null);
    return [element("span", { class: "faint", "aria-hidden": "true" }, name), drawing(
      "svg", { viewBox: "0 0 1000 40", preserveAspectRatio: "none", class: "timeline", role: "img",
        "aria-label": words.timeline(name, own.length) },
      stored.map((stream) => block(stream.start_ms, stream.end_ms, "stored")), own.map(hole), marks.map(line))];
  };
  // Those that say no name of their own have gaps at least.
  const names = new Set([...streams.map((stream) => stream.name), ...all.map((gap) => gap.stream)]);
  return element("figure", {}, element("div", { class: "lanes" }, [...names].flatMap(lane)),
    element("figcaption", { class: "faint" }, `${moment(start)} – ${moment(end)}. `, words.stored(share(about)),
      more ? words.leftOut(more) : "", words.legend));
}

/** What was stored of what was to be; 100 % only where that is all. */
function share(about) {
  const wanted = about.rows + about.missing - about.missing_by_design;
  return units.percent(wanted > 0 ? Math.floor((100 * about.rows) / wanted) : 0);
}

function gaps({ gaps: all }) {
  if (!all.length) return element("p", {}, words.noGaps);
  const longest = [...all].sort((a, b) => (b.duration_seconds ?? Infinity) - (a.duration_seconds ?? Infinity)).slice(0, 20);
  return element("details", { class: "card" }, element("summary", {}, words.longest),
    element("table", {}, element("thead", {}, element("tr", {}, words.gapHeads.map((name) => element("th", {}, name)))),
      element("tbody", {}, longest.map((gap) => element("tr", {},
        element("td", {}, moment(gap.start_ms)),
        element("td", {}, length(gap)), element("td", {}, gap.stream), element("td", {}, meaning(gap)))))));
}

function length(gap) {
  const seconds = gap.duration_seconds ?? null;
  if (seconds !== null) return units.duration(seconds);
  return (gap.end_ms ?? null) === null ? words.open : words.unknown;
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
