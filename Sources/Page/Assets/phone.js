// The machine as a phone beside it sees it: over Bluetooth, without any network.

import { command, CONTROL, HEADSETS, outcome, record, records, SERVICE, STATUS, status as read } from "./companion.js";
import { element, setText, show } from "./dom.js";
import { text } from "./text.js";

const words = text.phone;
const units = text.units;
/** Before a link that was lost is tried again, in milliseconds; then twice as long, up to the second. */
const [FIRST_PAUSE, LONGEST_PAUSE] = [500, 8000];

/** Shows the page in an element, and returns what ends it. */
export function phone(content) {
  const state = element("p", { role: "status" });
  const problem = element("p", { class: "note bad", role: "alert" });
  const sentence = element("p", { class: "sentence" });
  const cards = element("div", { class: "cards" });
  const result = element("p", { class: "faint lines", role: "status" });
  const input = element("input", { type: "text", maxlength: 200, placeholder: words.markHint, "aria-label": words.markHint });
  const marking = element("div", { class: "tools" }, input, element("button", { onclick: () => {
    ask("mark", input.value.trim());
    input.value = "";
  } }, words.mark));
  const button = element("button", { onclick: choose }, words.connect);
  const panel = element("section", { hidden: true }, sentence, cards, marking, result);
  const bluetooth = navigator.bluetooth;
  show(content, element("h1", {}, words.title), element("p", {}, words.about),
    bluetooth ? element("div", { class: "tools" }, button) : element("p", { class: "note caution" }, words.none),
    state, problem, panel);

  let device = null;
  let control = null;
  let isConnecting = false;
  let ended = false;
  const headsets = new Map();

  async function choose() {
    setText(problem, "");
    try {
      device = await bluetooth.requestDevice({ filters: [{ services: [SERVICE] }] });
    } catch (error) {
      // Nothing was chosen, which the person knows.
      if (error.name !== "NotFoundError") setText(problem, words.failed(error.message));
      return;
    }
    device.addEventListener("gattserverdisconnected", lost);
    button.disabled = true;
    connect(FIRST_PAUSE);
  }

  async function connect(pause) {
    if (ended) return;
    isConnecting = true;
    setText(state, words.connecting(device.name ?? "eegsync"));
    try {
      const service = await (await device.gatt.connect()).getPrimaryService(SERVICE);
      await follow(await service.getCharacteristic(STATUS), (view) => general(read(view)));
      const values = await service.getCharacteristic(HEADSETS);
      await follow(values, (view) => {
        const one = record(view);
        if (one) take([one]);
      }, (view) => {
        headsets.clear();
        take(records(view));
      });
      control = await service.getCharacteristic(CONTROL);
      setText(state, words.connected(device.name ?? "eegsync"));
      panel.hidden = false;
      isConnecting = false;
      if (!device.gatt.connected) lost();
    } catch (error) {
      setText(state, words.again(error.message));
      setTimeout(() => connect(Math.min(LONGEST_PAUSE, pause * 2)), pause);
    }
  }

  /** Takes what a characteristic holds now, and what it notifies from then on. */
  async function follow(characteristic, notified, first = notified) {
    characteristic.oncharacteristicvaluechanged = (event) => notified(event.target.value);
    await characteristic.startNotifications();
    first(await characteristic.readValue());
  }

  function lost() {
    control = null;
    // An attempt that is under way fails by itself, and is followed by the next one.
    if (ended || isConnecting) return;
    setText(state, words.lost);
    connect(FIRST_PAUSE);
  }

  function general(facts) {
    if (!facts) return setText(problem, words.version);
    panel.className = `card ${facts.severity}`;
    setText(sentence, facts.paused ? `${words.paused} ${facts.sentence}` : facts.sentence);
  }

  function take(found) {
    for (const one of found) {
      const known = headsets.get(one.index);
      // What a short notification leaves out is as it was.
      headsets.set(one.index, { ...one, name: one.name ?? known?.name ?? null, state: one.state ?? known?.state ?? null });
    }
    const focused = document.activeElement?.dataset?.headset;
    show(cards, [...headsets.values()].sort((a, b) => a.index - b.index).map((each) => card(each)));
    if (focused !== undefined) cards.querySelector(`button[data-headset="${focused}"]`)?.focus();
  }

  function card(headset) {
    const name = headset.name ?? words.unnamed(headset.index + 1);
    const asked = headset.wanted ? "stop" : "record";
    return element("article", { class: `card ${headset.severity}`, "aria-label": name },
      element("h2", {}, name, element("small", {}, headset.state ? ` ${headset.state}` : "")),
      element("dl", {},
        pair(words.battery, headset.battery === null ? words.unknown : units.percent(headset.battery)),
        pair(words.last, headset.seconds === null ? words.never : words.ago(units.duration(headset.seconds))),
        pair(words.missing, words.gaps(units.count(headset.missing), units.count(headset.gaps)))),
      headset.name === null ? null : element("button", {
        "data-headset": headset.index, "aria-label": `${words[asked]}: ${name}`,
        onclick: () => { if (asked === "record" || confirm(words.sure(name))) ask(asked, name); },
      }, words[asked]));
  }

  /** Has something done. The first time, the phone asks for what `eegsync companion pair` shows. */
  async function ask(name, argument) {
    if (!control || !argument) return;
    result.classList.remove("bad");
    setText(result, words.asked);
    try {
      if (!control.oncharacteristicvaluechanged) {
        control.oncharacteristicvaluechanged = (event) => {
          const { code, sentence: said } = outcome(event.target.value);
          result.classList.toggle("bad", code !== 0);
          setText(result, said);
        };
        await control.startNotifications();
      }
      await control.writeValueWithResponse(command(name, argument));
    } catch (error) {
      // The subscription is asked for again with the next command.
      if (control) control.oncharacteristicvaluechanged = null;
      result.classList.add("bad");
      setText(result, `${words.refused} ${error.message}`);
    }
  }

  return () => {
    ended = true;
    device?.gatt.disconnect();
  };
}

const pair = (name, value) => [element("dt", {}, name), element("dd", {}, value)];
