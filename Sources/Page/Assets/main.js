// Which page is shown: the part of the address behind the #.

import { element, setText, show } from "./dom.js";
import { history } from "./history.js";
import { now } from "./now.js";
import { phone } from "./phone.js";
import { signals } from "./signals.js";
import { text } from "./text.js";

const PAGES = { now, signals, history, phone };

const content = document.getElementById("content");
const link = document.getElementById("link");
setText(document.getElementById("skip"), text.skip);

/** Whether the program answers. */
const status = {
  last: performance.now(),
  problem: null,
  heard() { [this.last, this.problem] = [performance.now(), null]; this.show(); },
  failed(problem) { this.problem = problem; this.show(); },
  show() {
    const silent = Math.floor((performance.now() - this.last) / 1000);
    link.classList.toggle("bad", this.problem !== null);
    setText(link, this.problem === null ? text.connected : `${this.problem} (${text.stale(silent)})`);
  },
};

let end = () => {};

function route() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const page = PAGES[name] ? name : "now";
  end();
  show(document.getElementById("nav"), Object.keys(PAGES).map((each) =>
    element("a", { href: `#${each}`, "aria-current": each === page ? "page" : null }, text.pages[each])));
  document.title = `${text.pages[page]} – eegsync`;
  end = PAGES[page](content, status, rest.map(decodeURIComponent));
}

addEventListener("hashchange", route);
route();
