// Buttons that have something done, where the configuration allows it.

import { post } from "./api.js";
import { element, setText } from "./dom.js";
import { text } from "./text.js";

const words = text.control;

async function wish(body, result, note = words.asked) {
  setText(result, note);
  result.classList.remove("bad");
  try {
    setText(result, (await post("api/control", body)).sentence);
  } catch (error) {
    result.classList.add("bad");
    setText(result, error.message);
  }
}

/** Record or stop, and impedances where the model measures them, for the card of a headset. */
export function recordButtons(headset) {
  const result = element("p", { class: "faint lines", role: "status" });
  const isWanted = headset.is_wanted;
  const ask = () => {
    if (isWanted && !confirm(words.sure(headset.name))) return;
    wish({ action: isWanted ? "stop" : "record", headset: headset.name }, result);
  };
  return element("div", { class: "tools" },
    element("button", { onclick: ask, "aria-label": `${isWanted ? words.stop : words.record}: ${headset.name}` },
      isWanted ? words.stop : words.record),
    headset.measures_impedance ? element("button", {
      onclick: () => wish({ action: "impedance", headset: headset.name }, result, words.measuring),
      "aria-label": `${words.impedance}: ${headset.name}`,
    }, words.impedance) : null, result);
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
    wish({ action: "mark", text: label }, result);
  };
  const typed = () => {
    mark(input.value);
    input.value = "";
  };
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") typed(); });
  const press = (event) => {
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
