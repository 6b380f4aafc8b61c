// Buttons that have something done, where the configuration allows it.

import { post } from "./api.js";
import { element, setText } from "./dom.js";
import { text } from "./text.js";

const words = text.control;

/** `say` takes a sentence, and whether it is a bad one. */
async function wish(body, say, note = words.asked) {
  say(note);
  try {
    say((await post("api/control", body)).sentence);
  } catch (error) {
    say(error.message, true);
  }
}

/** Record or stop, and impedances where the model measures them, for the card of a headset; `said`: of the latest command. */
export function recordButtons(headset, said) {
  const button = (action, label) => element(
    "button", { "data-act": `${action}:${headset.name}`, "aria-label": `${label}: ${headset.name}` }, label);
  return element("div", { class: "tools" },
    button("record", headset.is_wanted ? words.stop : words.record),
    headset.measures_impedance ? button("impedance", words.impedance) : null,
    element("p", { class: `faint lines${said?.isBad ? " bad" : ""}`, role: "status" }, said?.sentence ?? ""));
}

/** What such a button does. */
export function act(action, headset, say) {
  if (action === "impedance") return wish({ action, headset: headset.name }, say, words.measuring);
  if (headset.is_wanted && !confirm(words.sure(headset.name))) return null;
  return wish({ action: headset.is_wanted ? "stop" : "record", headset: headset.name }, say);
}

/** A mark for every open recording: typed, or by the keys 1 ... 9 for the labels of before. */
export function markForm() {
  const result = element("p", { class: "faint", role: "status" });
  const input = element("input", { type: "text", maxlength: 200, placeholder: words.markHint, "aria-label": words.markHint });
  const labels = JSON.parse(sessionStorage.getItem("labels") ?? "[]");
  const keys = element("p", { class: "faint" });
  const list = () => setText(keys, labels.length ? words.keys + labels.map((label, i) => `${i + 1} ${label}`).join(", ") : "");
  const mark = (label) => {
    if (!label.trim()) return;
    if (!labels.includes(label)) labels.unshift(label);
    labels.splice(9);
    sessionStorage.setItem("labels", JSON.stringify(labels));
    list();
    wish({ action: "mark", text: label }, (sentence, isBad = false) => {
      result.classList.toggle("bad", isBad);
      setText(result, sentence);
    });
  };
  const typed = () => {
    mark(input.value);
    input.value = "";
  };
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") typed(); });
  const press = (event) => {
    // A key that is held is one mark.
    if (event.repeat) return;
    const label = labels[Number(event.key) - 1];
    const isTyping = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName);
    if (label && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey) mark(label);
  };
  addEventListener("keydown", press);
  list();
  const node = element("section", { class: "card", "aria-label": words.mark },
    element("div", { class: "tools" }, input, element("button", { onclick: typed }, words.mark)), keys, result);
  return { node, end: () => removeEventListener("keydown", press) };
}
