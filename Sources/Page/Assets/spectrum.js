// The power of a channel by frequency: overlapping windows of some two seconds, each with a Hann taper, averaged (Welch 1967).

/** Names and limits of the usual bands, in hertz. */
export const BANDS = [["delta", 1, 4], ["theta", 4, 8], ["alpha", 8, 13], ["beta", 13, 30], ["gamma", 30, 45]];

/** Within the arrays themselves, radix 2: real and imaginary parts, whose length is a power of two. */
function transform(re, im) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i += 1) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) [re[i], re[j], im[i], im[j]] = [re[j], re[i], im[j], im[i]];
  }
  for (let size = 2; size <= n; size <<= 1) {
    const [stepRe, stepIm] = [Math.cos((-2 * Math.PI) / size), Math.sin((-2 * Math.PI) / size)];
    for (let begin = 0; begin < n; begin += size) {
      let [wRe, wIm] = [1, 0];
      for (let k = begin; k < begin + size / 2; k += 1) {
        const other = k + size / 2;
        const [xRe, xIm] = [re[other] * wRe - im[other] * wIm, re[other] * wIm + im[other] * wRe];
        [re[other], im[other]] = [re[k] - xRe, im[k] - xIm];
        [re[k], im[k]] = [re[k] + xRe, im[k] + xIm];
        [wRe, wIm] = [wRe * stepRe - wIm * stepIm, wRe * stepIm + wIm * stepRe];
      }
    }
  }
}

/** The power density of rows `from` up to `to` of a channel, in its unit squared per hertz; null where no window is whole. */
export function spectrum(rows, channel, from, to) {
  const frequency = rows.stream.sampling_frequency;
  const size = 2 ** Math.ceil(Math.log2(Math.max(16, 2 * frequency)));
  const taper = Float64Array.from({ length: size }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / size));
  const weight = taper.reduce((sum, each) => sum + each * each, 0);
  const power = new Float64Array(size / 2 + 1);
  let windows = 0;
  for (let begin = from; begin + size <= to; begin += size / 2) {
    const re = new Float64Array(size);
    let isWhole = true;
    let sum = 0;
    for (let i = 0; i < size && isWhole; i += 1) {
      re[i] = rows.raw[channel][begin + i];
      sum += re[i];
      isWhole = !Number.isNaN(re[i]) && (i === 0 || !rows.isHole(begin + i));
    }
    if (!isWhole) continue;
    const mean = sum / size;
    for (let i = 0; i < size; i += 1) re[i] = (re[i] - mean) * taper[i];
    const im = new Float64Array(size);
    transform(re, im);
    for (let k = 0; k <= size / 2; k += 1) {
      const both = k === 0 || k === size / 2 ? 1 : 2;
      power[k] += (both * (re[k] * re[k] + im[k] * im[k])) / (frequency * weight);
    }
    windows += 1;
  }
  if (!windows) return null;
  return { step: frequency / size, power: power.map((each) => each / windows), windows };
}

/** The power in each band, in the unit squared. */
export function bandPower(result) {
  return BANDS.map(([name, low, high]) => {
    let sum = 0;
    result.power.forEach((each, k) => {
      if (k * result.step >= low && k * result.step < high) sum += each * result.step;
    });
    return { name, low, high, power: sum };
  });
}
