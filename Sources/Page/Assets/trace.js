// Draws traces: a lane for each channel, gaps as gaps, marks, the time below.

import { isRecovered } from "./rows.js";
import { text } from "./text.js";

const words = text.signals;
const AXIS = 24;
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800];

export class Trace {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.scale = 100;
    addEventListener("resize", () => { this.colours = null; });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.colours = null; });
  }

  /** Makes the canvas as sharp as the screen, and finds the colours of the page. */
  prepare() {
    const ratio = Math.min(devicePixelRatio || 1, 3);
    const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      [this.canvas.width, this.canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
      this.colours = null;
    }
    if (!this.colours) {
      const style = getComputedStyle(document.documentElement);
      this.colours = Object.fromEntries(["card", "ink", "faint", "line", "accent", "gap", "mark", "bad"].map(
        (name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    [this.width, this.height] = [width, height - AXIS];
  }

  /** Draws `view`: `start`, `end` (ms), `stream`, and `rows` (Rows) or `picture` (a frame of columns), `gaps`, `marks`. */
  draw(view) {
    this.clear();
    const { context, colours } = this;
    this.view = view;
    this.perMs = this.width / (view.end - view.start);
    this.drawGaps(view.gaps);
    this.drawAxis();
    const lane = this.height / view.stream.channels.length;
    context.save();
    context.beginPath();
    context.rect(0, 0, this.width, this.height);
    context.clip();
    view.stream.channels.forEach((channel, index) => {
      const middle = (index + 0.5) * lane;
      context.strokeStyle = colours.line;
      context.lineWidth = 1;
      context.strokeRect(0, Math.round((index + 1) * lane) + 0.5, this.width, 0);
      context.strokeStyle = colours.accent;
      context.lineWidth = 1.25;
      context.beginPath();
      if (view.rows) this.traceRows(index, middle, lane);
      else if (view.picture) this.tracePicture(index, middle, lane);
      context.stroke();
    });
    context.restore();
    this.drawNames(lane);
    this.drawMarks(view.marks);
  }

  /** Draws nothing. */
  clear() {
    this.prepare();
    this.context.fillStyle = this.colours.card;
    this.context.fillRect(0, 0, this.width, this.height + AXIS);
  }

  x(time) { return (time - this.view.start) * this.perMs; }

  /** Each unbroken run lies around the middle of its lane: amplifiers begin anew with another offset. */
  traceRows(channel, middle, lane) {
    const { rows, start, end } = this.view;
    const [from, to] = [Math.max(0, rows.at(start) - 1), Math.min(rows.count, rows.at(end) + 1)];
    const perPixel = (to - from) / Math.max(1, this.width);
    const values = rows.shown[channel];
    for (const run of rows.runs(channel, from, to)) {
      const y = (value) => middle - ((value - run.mean) * lane) / this.scale;
      this.context.moveTo(this.x(rows.times[run.begin]), y(values[run.begin]));
      for (let row = run.begin; row < run.end; row += 1) {
        // Many to a pixel: the least and the greatest of it stand for all.
        if (perPixel > 4) row = this.tracePixel(rows.times, values, row, run.end, y);
        else this.context.lineTo(this.x(rows.times[row]), y(values[row]));
      }
    }
  }

  tracePixel(times, values, first, to, y) {
    const end = times[first] + 1 / this.perMs;
    let [row, low, high] = [first, values[first], values[first]];
    while (row + 1 < to && times[row + 1] < end) {
      row += 1;
      if (values[row] < low) low = values[row];
      if (values[row] > high) high = values[row];
    }
    const x = this.x(times[first]);
    this.context.lineTo(x, y(low));
    this.context.lineTo(x, y(high));
    this.context.lineTo(this.x(times[row]), y(values[row]));
    return row;
  }

  /** The same of columns. */
  tracePicture(channel, middle, lane) {
    const { picture } = this.view;
    const { about, low, high } = picture;
    const { scale } = this.view.stream.channels[channel];
    const first = channel * about.count;
    const factor = (lane / this.scale) * scale;
    const step = (about.end_ms - about.start_ms) / about.count;
    for (const run of picture.runs(channel)) {
      for (let column = run.begin; column < run.end; column += 1) {
        const x = this.x(about.start_ms + (column + 0.5) * step);
        // The greatest lies below the least where the scale of a channel is negative.
        const [one, other] = [high[first + column], low[first + column]].map((each) => middle - (each - run.mean) * factor);
        const [top, bottom] = [Math.min(one, other), Math.max(one, other)];
        if (column > run.begin) this.context.lineTo(x, top);
        else this.context.moveTo(x, top);
        // A column of one value is seen, too.
        this.context.lineTo(x, bottom - top < 1 ? top + 1 : bottom);
      }
    }
  }

  drawGaps(gaps) {
    const { context, colours } = this;
    for (const gap of gaps) {
      const [from, to] = [Math.max(0, this.x(gap.start_ms)), Math.min(this.width, this.x(gap.end_ms ?? this.view.end))];
      if (to < 0 || from > this.width) continue;
      const width = Math.max(2, to - from);
      context.fillStyle = colours.gap;
      context.globalAlpha = isRecovered(gap) ? 0.35 : 1;
      context.fillRect(from, 0, width, this.height);
      context.globalAlpha = 1;
      if (width < 60) continue;
      context.save();
      context.beginPath();
      context.rect(from, 0, width, this.height);
      context.clip();
      context.fillStyle = colours.ink;
      context.font = "13px system-ui, sans-serif";
      context.textAlign = "left";
      const end = gap.end_ms ?? null;
      const length = end === null ? words.open : text.units.duration((end - gap.start_ms) / 1000);
      const after = isRecovered(gap) ? `, ${words.recovered}` : "";
      context.fillText(`${words.gap}: ${gap.meaning} (${length}${after})`, from + 6, this.height - 8);
      context.restore();
    }
  }

  drawMarks(marks) {
    const { context, colours } = this;
    context.font = "12px system-ui, sans-serif";
    context.textAlign = "left";
    for (const mark of marks) {
      const [x, to] = [this.x(mark.start_ms), this.x(mark.start_ms + (mark.duration_seconds ?? 0) * 1000)];
      if (to < 0 || x > this.width) continue;
      context.fillStyle = colours.mark;
      context.globalAlpha = 0.15;
      if (to > x) context.fillRect(x, 0, to - x, this.height);
      context.globalAlpha = 1;
      context.fillRect(x, 0, 1.5, this.height);
      context.fillText(mark.text, x + 4, 26);
    }
  }

  drawNames(lane) {
    const { context, colours } = this;
    context.font = "600 13px system-ui, sans-serif";
    context.textAlign = "left";
    this.view.stream.channels.forEach((channel, index) => {
      const y = index * lane + Math.min(lane - 3, 15);
      const width = context.measureText(channel.name).width;
      context.globalAlpha = 0.75;
      context.fillStyle = colours.card;
      context.fillRect(3, y - 12, width + 6, 15);
      context.globalAlpha = 1;
      context.fillStyle = colours.ink;
      context.fillText(channel.name, 6, y);
    });
  }

  drawAxis() {
    const { context, colours, view } = this;
    const seconds = (view.end - view.start) / 1000;
    const most = Math.max(2, Math.floor(this.width / 90));
    const step = (STEPS.find((each) => seconds / each <= most) ?? 604800) * 1000;
    context.fillStyle = colours.faint;
    context.font = "12px system-ui, sans-serif";
    const name = words.zone(new Date(view.end));
    const limit = this.width - context.measureText(name).width - 4;
    context.textAlign = "left";
    context.fillText(name, limit, this.height + 18);
    context.textAlign = "center";
    for (const time of ticks(view.start, view.end, step)) {
      const x = this.x(time);
      context.fillRect(x, this.height, 1, 5);
      const label = words.time(new Date(time), step);
      if (x + context.measureText(label).width / 2 < limit - 8) context.fillText(label, x, this.height + 18);
    }
  }
}

const HOUR = 3600000;

/**
 * When the clock of the browser's zone shows full steps. Steps of more than an hour follow it where it is changed: a day has 23
 * hours or 25, and begins where the clock goes on. Shorter ones go on as they are: an hour that is shown twice has them twice.
 */
function ticks(start, end, step) {
  const shown = (time) => time - new Date(time).getTimezoneOffset() * 60000;
  const found = [];
  // By the constructor, milliseconds behind a midnight are those of the clock.
  const instant = (clock) => (step > HOUR ? new Date(1970, 0, 1, 0, 0, 0, clock).getTime() : clock + start - shown(start));
  for (let clock = Math.ceil(shown(start) / step) * step; ; clock += step) {
    const time = instant(clock);
    if (!(time <= end)) return found;
    if (time >= start) found.push(time);
  }
}
