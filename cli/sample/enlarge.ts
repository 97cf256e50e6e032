import { randomFrom } from './random.ts';

export interface Pixels {
  /** Red, green and blue. */
  data: Uint8Array;
  width: number;
  height: number;
}

const GRAIN = grainTable();

function grainTable(): Float32Array {
  const random = randomFrom(4711);
  const table = new Float32Array(1 << 16);
  for (let index = 0; index < table.length; index += 1) {
    table[index] = random() + random() + random() - 1.5;
  }
  return table;
}

/**
 * Enlarges a developed picture and puts the sensor's noise on it: mostly of brightness, a little
 * of colour, least in the highlights. The noise is what makes it look taken at its size. Both in
 * one pass over the large picture: libvips takes three times as long for the enlarging alone.
 *
 * @param grain levels of 255
 */
export function enlarge(
  source: Pixels,
  size: { width: number; height: number },
  grain: number,
  seed: number,
): Pixels {
  const wide = widen(source, size.width);
  const row = size.width * 3;
  const data = new Uint8ClampedArray(row * size.height);
  const noise = new Float32Array(row);
  const random = randomFrom(seed);
  for (let y = 0; y < size.height; y += 1) {
    const [first, weights] = cubic(y, source.height, size.height);
    const line = (tap: number) => {
      const at = Math.min(source.height - 1, Math.max(0, first + tap)) * row;
      return wide.subarray(at, at + row);
    };
    const out = data.subarray(y * row, (y + 1) * row);
    blend(line(0), line(1), line(2), line(3), weights, noise);
    // Another place in the table each line, or its length would show as stripes.
    addGrain(noise, out, grain, (random() * GRAIN.length) | 0);
  }
  return { data: new Uint8Array(data.buffer), ...size };
}

function blend(
  a: Float32Array,
  b: Float32Array,
  c: Float32Array,
  d: Float32Array,
  [ka, kb, kc, kd]: Weights,
  into: Float32Array,
): void {
  for (let x = 0; x < into.length; x += 1) {
    into[x] = (a[x] ?? 0) * ka + (b[x] ?? 0) * kb + (c[x] ?? 0) * kc + (d[x] ?? 0) * kd;
  }
}

function addGrain(line: Float32Array, out: Uint8ClampedArray, grain: number, start: number): void {
  const mask = GRAIN.length - 1;
  let at = start;
  for (let x = 0; x < line.length; x += 3) {
    const green = line[x + 1] ?? 0;
    const k = grain * (1.25 - green * 0.0035);
    const common = (GRAIN[at & mask] ?? 0) * k;
    const tinted = (GRAIN[(at + 7919) & mask] ?? 0) * k * 0.35;
    at += 1;
    out[x] = (line[x] ?? 0) + common + tinted;
    out[x + 1] = green + common;
    out[x + 2] = (line[x + 2] ?? 0) + common - tinted;
  }
}

function widen({ data, width, height }: Pixels, to: number): Float32Array {
  const wide = new Float32Array(to * height * 3);
  const columns = new Int32Array(to * 4);
  const shares = new Float32Array(to * 4);
  for (let x = 0; x < to; x += 1) {
    const [first, weights] = cubic(x, width, to);
    for (const [tap, weight] of weights.entries()) {
      columns[x * 4 + tap] = Math.min(width - 1, Math.max(0, first + tap)) * 3;
      shares[x * 4 + tap] = weight;
    }
  }
  for (let y = 0; y < height; y += 1) {
    widenLine(
      data.subarray(y * width * 3, (y + 1) * width * 3),
      wide.subarray(y * to * 3, (y + 1) * to * 3),
      columns,
      shares,
    );
  }
  return wide;
}

function widenLine(
  line: Uint8Array,
  out: Float32Array,
  columns: Int32Array,
  shares: Float32Array,
): void {
  for (let x = 0, tap = 0; x < out.length; x += 3, tap += 4) {
    const a = columns[tap] ?? 0;
    const b = columns[tap + 1] ?? 0;
    const c = columns[tap + 2] ?? 0;
    const d = columns[tap + 3] ?? 0;
    const ka = shares[tap] ?? 0;
    const kb = shares[tap + 1] ?? 0;
    const kc = shares[tap + 2] ?? 0;
    const kd = shares[tap + 3] ?? 0;
    for (let channel = 0; channel < 3; channel += 1) {
      out[x + channel] =
        (line[a + channel] ?? 0) * ka +
        (line[b + channel] ?? 0) * kb +
        (line[c + channel] ?? 0) * kc +
        (line[d + channel] ?? 0) * kd;
    }
  }
}

type Weights = readonly [number, number, number, number];

/** The first of the four source lines that make a line of the target, and how much of each. */
function cubic(index: number, from: number, to: number): readonly [first: number, Weights] {
  const place = ((index + 0.5) * from) / to - 0.5;
  const t = place - Math.floor(place);
  const t2 = t * t;
  const t3 = t2 * t;
  // A softened Catmull-Rom spline: no bright seams along the horizon.
  return [
    Math.floor(place) - 1,
    [
      -0.35 * (t3 - 2 * t2 + t),
      1.65 * t3 - 2.65 * t2 + 1,
      -1.65 * t3 + 2.3 * t2 + 0.35 * t,
      0.35 * (t3 - t2),
    ],
  ];
}
