// The spectrum of one channel, and the power in its bands.

import { element, setText, show } from "./dom.js";
import { bandPower, spectrum } from "./spectrum.js";
import { text } from "./text.js";

const words = text.signals;
const TOP_HERTZ = 60;

export class SpectrumPanel {
  constructor() {
    this.channel = element("select", { "aria-label": words.channel });
    this.canvas = element("canvas", { class: "spectrum", role: "img", "aria-label": words.spectrum });
    this.table = element("tbody");
    this.about = element("p", { class: "faint" });
    this.node = element("details", { class: "card" }, element("summary", {}, words.spectrum),
      element("p", {}, this.channel), element("div", { class: "facts" }, this.canvas,
        element("table", {}, element("thead", {}, element("tr", {}, words.bandHeads.map((name) => element("th", {}, name)))),
          this.table)), this.about);
    this.stream = null;
  }

  /** Draws rows `from` up to `to` of a stream, where the panel is open; `rows` is null where there are none. */
  draw(stream, rows, from, to, colours) {
    if (this.stream !== stream) {
      this.stream = stream;
      show(this.channel, stream.channels.map((channel, index) => element("option", { value: index }, channel.name)));
    }
    if (!this.node.open || !colours) return;
    const index = Number(this.channel.value || 0);
    const result = rows && spectrum(rows, index, from, to);
    if (!result) return this.empty(words.noSpectrum);
    setText(this.about, words.windows(result.windows));
    const unit = text.units.unit(stream.channels[index].unit);
    const bands = bandPower(result);
    const sum = bands.reduce((total, band) => total + band.power, 0);
    show(this.table, bands.map((band) => element("tr", {},
      element("td", {}, `${band.name} ${band.low}–${band.high} Hz`), element("td", {}, `${band.power.toFixed(1)} ${unit}²`),
      element("td", {}, sum > 0 ? text.units.percent((100 * band.power) / sum) : "–"))));
    this.paint(result, unit, colours);
  }

  /** Nothing is known of any stream. */
  clear() {
    this.stream = null;
    show(this.channel);
    this.empty("");
  }

  /** There is no spectrum; `why` is said instead. */
  empty(why) {
    setText(this.about, why);
    show(this.table);
    // An empty canvas, by the HTML standard.
    this.canvas.width = 0;
  }

  paint(result, unit, colours) {
    const context = this.canvas.getContext("2d");
    const ratio = devicePixelRatio || 1;
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    [this.canvas.width, this.canvas.height] = [width * ratio, height * ratio];
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const top = Math.min(TOP_HERTZ, (result.power.length - 1) * result.step);
    const level = result.power.map((each) => 10 * Math.log10(Math.max(each, 1e-9)));
    const seen = Array.from(level).filter((_, k) => k * result.step >= 0.5 && k * result.step <= top);
    const [low, high] = [Math.floor(Math.min(...seen) / 10) * 10, Math.ceil(Math.max(...seen) / 10) * 10];
    const x = (hertz) => 34 + ((width - 40) * hertz) / top;
    const y = (decibel) => 6 + (height - 26) * (1 - (decibel - low) / Math.max(1, high - low));
    context.clearRect(0, 0, width, height);
    context.fillStyle = colours.faint;
    context.strokeStyle = colours.line;
    context.font = "11px system-ui, sans-serif";
    for (let hertz = 0; hertz <= top; hertz += 10) context.fillText(`${hertz}`, x(hertz) - 5, height - 6);
    for (let decibel = low; decibel <= high; decibel += 10) {
      context.fillText(`${decibel}`, 4, y(decibel) + 4);
      context.strokeRect(34, y(decibel), width - 40, 0);
    }
    context.fillText(`dB (${unit}²/Hz)`, 38, 16);
    context.strokeStyle = colours.accent;
    context.lineWidth = 1.5;
    context.beginPath();
    level.forEach((decibel, k) => { if (k > 0 && k * result.step <= top) context.lineTo(x(k * result.step), y(decibel)); });
    context.stroke();
  }
}
