// Filters for display only: what is stored is never changed. Second-order sections, one after the other.

/** A section: its coefficients, and its memory. */
class Section {
  constructor(b0, b1, b2, a0, a1, a2) {
    [this.b0, this.b1, this.b2, this.a1, this.a2] = [b0 / a0, b1 / a0, b2 / a0, a1 / a0, a2 / a0];
    this.reset(0);
  }

  /** As if a value had always come: no step at the beginning. */
  reset(value) {
    const gain = (this.b0 + this.b1 + this.b2) / (1 + this.a1 + this.a2);
    const out = gain * value;
    this.z2 = this.b2 * value - this.a2 * out;
    this.z1 = this.b1 * value - this.a1 * out + this.z2;
    return out;
  }

  next(value) {
    const out = this.b0 * value + this.z1;
    this.z1 = this.b1 * value - this.a1 * out + this.z2;
    this.z2 = this.b2 * value - this.a2 * out;
    return out;
  }
}

// The bilinear transform of the analogue prototypes of second order, with the frequency warped to be exact.
function section(kind, hertz, frequency, quality = Math.SQRT1_2) {
  const w = (2 * Math.PI * hertz) / frequency;
  const [cosine, alpha] = [Math.cos(w), Math.sin(w) / (2 * quality)];
  const [a0, a1, a2] = [1 + alpha, -2 * cosine, 1 - alpha];
  if (kind === "low") return new Section((1 - cosine) / 2, 1 - cosine, (1 - cosine) / 2, a0, a1, a2);
  if (kind === "high") return new Section((1 + cosine) / 2, -(1 + cosine), (1 + cosine) / 2, a0, a1, a2);
  return new Section(1, -2 * cosine, 1, a0, a1, a2);
}

/** Filters one channel; made anew where the samples have a hole. */
export class Filter {
  /** `band`: 1 ... 45 Hz or not; `notch`: 50, 60, or 0 for none; `frequency`: samples a second. */
  constructor({ band, notch }, frequency) {
    this.sections = [];
    const limit = frequency / 2;
    if (band) this.sections.push(section("high", 1, frequency));
    if (band && 45 < limit * 0.95) this.sections.push(section("low", 45, frequency));
    if (notch && notch < limit * 0.95) this.sections.push(section("notch", notch, frequency, 12));
    this.isFresh = true;
  }

  get isNothing() { return this.sections.length === 0; }

  next(value) {
    if (this.isFresh) {
      this.isFresh = false;
      return this.sections.reduce((input, each) => each.reset(input), value);
    }
    return this.sections.reduce((input, each) => each.next(input), value);
  }
}
