// Which page is shown: the part of the address behind the #.

import { element, setText, show } from "./dom.js";
import { history } from "./history.js";
import { now } from "./now.js";
import { phone } from "./phone.js";
import { signals } from "./signals.js";
import { study } from "./study.js";
import { text } from "./text.js";

// Who serves a study has no headsets of its own.
const PAGES = document.body.dataset.pages === "study" ? { study } : { now, signals, history, phone };

/** A page that asks again and again says after so many seconds that nothing answers. */
const SILENCE_SECONDS = 5;

const content = document.getElementById("content");
const link = document.getElementById("link");
const sentence = element("span");
// It changes each second, which nobody wants read aloud.
const silence = element("span", { "aria-hidden": "true" });
link.append(sentence, silence);
const skip = document.getElementById("skip");
setText(skip, text.skip);
skip.addEventListener("click", (event) => {
  // The part behind the # is the page that is shown.
  event.preventDefault();
  content.focus();
});

/** Whether the program answers. */
const status = {
  last: performance.now(),
  problem: null,
  isAwaited: false,
  heard() { [this.last, this.problem] = [performance.now(), null]; this.show(); },
  failed(problem) { this.problem = problem; this.show(); },
  /** Whether the page asks again and again. */
  awaits(isAwaited) {
    if (isAwaited && !this.isAwaited && this.problem === null) this.last = performance.now();
    this.isAwaited = isAwaited;
  },
  look() { if (this.isAwaited && this.silent >= SILENCE_SECONDS) this.show(); },
  get silent() { return Math.floor((performance.now() - this.last) / 1000); },
  show() {
    const isSilent = this.isAwaited && this.silent >= SILENCE_SECONDS;
    const problem = this.problem ?? (isSilent ? text.unreachable : null);
    link.classList.toggle("bad", problem !== null);
    setText(sentence, problem ?? text.connected);
    setText(silence, isSilent ? ` (${text.stale(this.silent)})` : "");
  },
};
setInterval(() => status.look(), 1000);

let end = () => {};

function route() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const page = Object.hasOwn(PAGES, name) ? name : Object.keys(PAGES)[0];
  end();
  end = () => {};
  status.awaits(false);
  show(document.getElementById("nav"), Object.keys(PAGES).map((each) =>
    element("a", { href: `#${each}`, "aria-current": each === page ? "page" : null }, text.pages[each])));
  document.title = `${text.pages[page]} – eegsync`;
  end = PAGES[page](content, status, rest.map(decoded));
}

/** A part of the address; as it stands there where it is not encoded as it should be. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

addEventListener("hashchange", route);
route();
