// Rows of one stream in memory, for drawing: raw, and filtered as the person wishes.

import { Filter } from "./filter.js";

/** Stands in a frame where a sample is missing. */
export const NOTHING = -2147483648;

/** Whether all samples of a gap arrived after all. */
export const isRecovered = (gap) => gap.count > 0 && gap.recovered === gap.count;

export class Rows {
  /** `stream`: as the program describes it; `capacity`: the most rows kept. */
  constructor(stream, capacity) {
    this.stream = stream;
    this.capacity = Math.max(64, capacity);
    this.filters = null;
    this.wishes = { band: false, notch: 0 };
    this.clear();
  }

  clear() {
    this.count = 0;
    this.lastN = null;
    this.times = new Float64Array(this.capacity);
    this.raw = this.stream.channels.map(() => new Float32Array(this.capacity));
    this.shown = this.stream.channels.map(() => new Float32Array(this.capacity));
    this.renew();
  }

  renew() {
    this.filters = this.stream.channels.map(() => new Filter(this.wishes, this.stream.sampling_frequency));
  }

  get isFiltered() { return this.wishes.band || this.wishes.notch > 0; }

  /** Filters everything anew. */
  filter(wishes) {
    this.wishes = wishes;
    this.renew();
    for (let row = 0; row < this.count; row += 1) this.show(row);
  }

  /** Appends a frame of rows; the oldest go. */
  append({ about, buffer, offset }) {
    const { count, channels } = about;
    if (!count) return;
    const seconds = new Float32Array(buffer, offset, count);
    const values = new Int32Array(buffer, offset + 4 * count, count * channels);
    const skipped = Math.max(0, count - this.capacity);
    const excess = Math.max(0, this.count + count - skipped - this.capacity);
    if (excess) this.drop(excess);
    for (let row = skipped; row < count; row += 1) {
      const index = this.count;
      this.times[index] = about.start_ms + seconds[row] * 1000;
      for (let channel = 0; channel < channels; channel += 1) {
        const value = values[row * channels + channel];
        const { scale, offset: zero } = this.stream.channels[channel];
        this.raw[channel][index] = value === NOTHING ? NaN : value * scale + zero;
      }
      this.show(index);
      this.count += 1;
    }
    this.lastN = about.last_n ?? this.lastN;
  }

  drop(excess) {
    const kept = this.count - excess;
    for (const array of [this.times, ...this.raw, ...this.shown]) array.copyWithin(0, excess, this.count);
    this.count = Math.max(0, kept);
  }

  show(row) {
    if (row > 0 && this.isHole(row)) this.renew();
    for (let channel = 0; channel < this.raw.length; channel += 1) {
      const value = this.raw[channel][row];
      if (!this.isFiltered || Number.isNaN(value)) this.shown[channel][row] = value;
      else this.shown[channel][row] = this.filters[channel].next(value);
    }
  }

  /** Whether samples are missing before a row. */
  isHole(row) {
    return this.times[row] - this.times[row - 1] > 1600 / this.stream.sampling_frequency;
  }

  /** The unbroken runs of a channel among rows `from` up to `to`: where each begins and ends, and the mean of what is shown. */
  runs(channel, from, to) {
    const values = this.shown[channel];
    const runs = [];
    let [begin, sum] = [from, 0];
    const end = (row) => {
      if (row > begin) runs.push({ begin, end: row, mean: sum / (row - begin) });
    };
    for (let row = from; row < to; row += 1) {
      const isNothing = Number.isNaN(values[row]);
      if (isNothing || (row > begin && this.isHole(row))) {
        end(row);
        [begin, sum] = [isNothing ? row + 1 : row, 0];
      }
      if (!isNothing) sum += values[row];
    }
    end(to);
    return runs;
  }

  /** How far the usual values of a channel are apart among rows: in the unbroken run in which that is most. */
  spread(channel, from, to) {
    const runs = this.runs(channel, from, to);
    return Math.max(0, ...runs.map((run) => spread(this.shown[channel].subarray(run.begin, run.end))));
  }

  /** The first row at or behind a time. */
  at(time) {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Columns of one stream: in each the least and the greatest value of each channel, raw. */
export class Picture {
  /** A frame of columns. */
  constructor({ about, buffer, offset }) {
    const size = about.count * about.channels;
    Object.assign(this, {
      about, low: new Int32Array(buffer, offset, size), high: new Int32Array(buffer, offset + 4 * size, size),
      breaks: breaks(about),
    });
  }

  /** The unbroken runs of a channel, as those of rows; the mean is of the middles of its columns. */
  runs(channel) {
    const first = channel * this.about.count;
    const runs = [];
    let [begin, sum] = [0, 0];
    const end = (column) => {
      if (column > begin) runs.push({ begin, end: column, mean: sum / (column - begin) });
    };
    for (let column = 0; column < this.about.count; column += 1) {
      const least = this.low[first + column];
      const isNothing = least === NOTHING;
      if (isNothing || this.breaks.has(column)) {
        end(column);
        [begin, sum] = [isNothing ? column + 1 : column, 0];
      }
      if (!isNothing) sum += (least + this.high[first + column]) / 2;
    }
    end(this.about.count);
    return runs;
  }

  /** How far the usual values of a channel are apart, each run around its own mean. */
  spread(channel) {
    const first = channel * this.about.count;
    const runs = this.runs(channel);
    return spread([this.low, this.high].flatMap((values) => runs.flatMap((run) =>
      Array.from(values.subarray(first + run.begin, first + run.end), (value) => value - run.mean))));
  }
}

/** From the 2nd to the 98th of a hundred values. */
function spread(values) {
  const step = Math.max(1, Math.floor(values.length / 2000));
  const some = [];
  for (let i = 0; i < values.length; i += step) {
    if (!Number.isNaN(values[i])) some.push(values[i]);
  }
  if (some.length < 2) return 0;
  some.sort((a, b) => a - b);
  return some[Math.floor(some.length * 0.98)] - some[Math.floor(some.length * 0.02)];
}

/** The columns that begin a run, as samples are missing before them. A column with both sides of a gap is a run of its own. */
function breaks({ gaps, start_ms: start, end_ms: end, count }) {
  const found = new Set();
  const column = (ms) => Math.floor(((ms - start) * count) / (end - start));
  for (const gap of gaps) {
    if (isRecovered(gap)) continue;
    const [from, to] = [column(gap.start_ms), column(gap.end_ms ?? end)];
    found.add(to);
    if (from === to) found.add(to + 1);
  }
  return found;
}
