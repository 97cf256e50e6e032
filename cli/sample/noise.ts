import { randomFrom } from './random.ts';

// Coherent noise, the grain of nature: everything that should not look drawn by hand takes its
// shape from here. All functions are pure; another place in the plane is another picture.

const LATTICE = 1024;
const MASK = LATTICE - 1;
const PERMUTATION = permutation();
const GRADIENT_X = new Float32Array(LATTICE);
const GRADIENT_Y = new Float32Array(LATTICE);
const VALUE = new Float32Array(LATTICE);
fillTables();

function permutation(): Uint16Array {
  const random = randomFrom(20_011);
  const table = new Uint16Array(LATTICE * 2);
  for (let index = 0; index < LATTICE; index += 1) table[index] = index;
  for (let index = LATTICE - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    const kept = table[index] ?? 0;
    table[index] = table[other] ?? 0;
    table[other] = kept;
  }
  table.copyWithin(LATTICE, 0, LATTICE);
  return table;
}

function fillTables(): void {
  const random = randomFrom(77);
  for (let index = 0; index < LATTICE; index += 1) {
    const angle = random() * Math.PI * 2;
    GRADIENT_X[index] = Math.cos(angle);
    GRADIENT_Y[index] = Math.sin(angle);
    VALUE[index] = random();
  }
}

function hash(column: number, row: number): number {
  return PERMUTATION[(PERMUTATION[row & MASK] ?? 0) + (column & MASK)] ?? 0;
}

/** One random value in [0, 1) for each cell of the integer grid. */
export function cellValue(column: number, row: number): number {
  return VALUE[hash(column, row)] ?? 0;
}

/** Gradient noise, about -0.7 to 0.7, features one unit wide. */
export function noise(x: number, y: number): number {
  const column = Math.floor(x);
  const row = Math.floor(y);
  const fx = x - column;
  const fy = y - row;
  const corner = (cx: number, cy: number) => {
    const at = hash(column + cx, row + cy);
    return (GRADIENT_X[at] ?? 0) * (fx - cx) + (GRADIENT_Y[at] ?? 0) * (fy - cy);
  };
  const sx = fx * fx * fx * (fx * (fx * 6 - 15) + 10);
  const sy = fy * fy * fy * (fy * (fy * 6 - 15) + 10);
  const a = corner(0, 0);
  const b = corner(1, 0);
  const c = corner(0, 1);
  const d = corner(1, 1);
  const top = a + (b - a) * sx;
  return top + (c + (d - c) * sx - top) * sy;
}

/**
 * Octaves of noise, each twice as fine and `gain` as strong as the one before. Each octave is
 * turned against the last, so that the grid does not show.
 */
export function fractal(x: number, y: number, octaves: number, gain = 0.5): number {
  let sum = 0;
  let strength = 1;
  for (let octave = 0; octave < octaves; octave += 1) {
    sum += strength * noise(x, y);
    strength *= gain;
    const turned = 1.6 * x + 1.2 * y + 5.3;
    y = 1.6 * y - 1.2 * x + 2.7;
    x = turned;
  }
  return sum;
}

const TILE = 512;
/** Units after which the table repeats. */
const TILE_UNITS = 16;
let mottleTable: Float32Array | undefined;

/**
 * Like `fractal` with five octaves, from a table: a tenth of the cost, for surfaces, where nobody
 * sees that it repeats.
 */
export function mottle(x: number, y: number): number {
  mottleTable ??= makeMottle();
  const px = x * (TILE / TILE_UNITS);
  const py = y * (TILE / TILE_UNITS);
  const column = Math.floor(px);
  const row = Math.floor(py);
  const fx = px - column;
  const fy = py - row;
  const left = column & (TILE - 1);
  const right = (column + 1) & (TILE - 1);
  const top = (row & (TILE - 1)) * TILE;
  const below = ((row + 1) & (TILE - 1)) * TILE;
  const a = mottleTable[top + left] ?? 0;
  const b = mottleTable[top + right] ?? 0;
  const c = mottleTable[below + left] ?? 0;
  const d = mottleTable[below + right] ?? 0;
  const upper = a + (b - a) * fx;
  return upper + (c + (d - c) * fx - upper) * fy;
}

function makeMottle(): Float32Array {
  const table = new Float32Array(TILE * TILE);
  for (let octave = 0; octave < 5; octave += 1) {
    const period = TILE_UNITS << octave;
    const corner = (column: number, row: number, fx: number, fy: number) => {
      const at = hash((column % period) + octave * 131, row % period);
      return (GRADIENT_X[at] ?? 0) * fx + (GRADIENT_Y[at] ?? 0) * fy;
    };
    for (let row = 0; row < TILE; row += 1) {
      for (let column = 0; column < TILE; column += 1) {
        const x = (column / TILE) * period;
        const y = (row / TILE) * period;
        const cx = Math.floor(x);
        const cy = Math.floor(y);
        const fx = x - cx;
        const fy = y - cy;
        const sx = fx * fx * (3 - 2 * fx);
        const top = lerp(corner(cx, cy, fx, fy), corner(cx + 1, cy, fx - 1, fy), sx);
        const bottom = lerp(
          corner(cx, cy + 1, fx, fy - 1),
          corner(cx + 1, cy + 1, fx - 1, fy - 1),
          sx,
        );
        const at = row * TILE + column;
        table[at] = (table[at] ?? 0) + lerp(top, bottom, fy * fy * (3 - 2 * fy)) * 0.5 ** octave;
      }
    }
  }
  return table;
}

/** 0 to about 1, with sharp crests: mountains, veins, currents. */
export function ridged(x: number, y: number, octaves: number): number {
  let sum = 0;
  let strength = 0.5;
  let carried = 1;
  for (let octave = 0; octave < octaves; octave += 1) {
    const crest = Math.max(0, 1 - Math.abs(noise(x, y)) * 1.6);
    // Detail gathers on the crests and leaves the valleys smooth, as erosion does.
    sum += crest * crest * strength * carried;
    carried = 0.25 + 0.75 * crest;
    strength *= 0.5;
    const turned = 1.6 * x + 1.2 * y + 3.1;
    y = 1.6 * y - 1.2 * x + 8.9;
    x = turned;
  }
  return sum;
}

/** Value noise in space, 0 to 1. */
export function noise3(x: number, y: number, z: number): number {
  const layer = Math.floor(z);
  const fz = z - layer;
  const near = flat(x + layer * 37.7, y + layer * 17.3);
  const far = flat(x + layer * 37.7 + 37.7, y + layer * 17.3 + 17.3);
  return near + (far - near) * fz * fz * (3 - 2 * fz);
}

function flat(x: number, y: number): number {
  const column = Math.floor(x);
  const row = Math.floor(y);
  const fx = x - column;
  const fy = y - row;
  const sx = fx * fx * (3 - 2 * fx);
  const sy = fy * fy * (3 - 2 * fy);
  const a = cellValue(column, row);
  const b = cellValue(column + 1, row);
  const c = cellValue(column, row + 1);
  const d = cellValue(column + 1, row + 1);
  const top = a + (b - a) * sx;
  return top + (c + (d - c) * sx - top) * sy;
}

export interface Cell {
  /** To the nearest seed point, and to the second nearest. */
  nearest: number;
  second: number;
  /** From that point to here. */
  dx: number;
  dy: number;
  /** [0, 1), one for each cell; `other` is independent of it. */
  value: number;
  other: number;
}

/** Cells around scattered points: stones, foam, the light on a sea floor. */
export function cells(x: number, y: number, irregularity = 1): Cell {
  const column = Math.floor(x);
  const row = Math.floor(y);
  const cell: Cell = { nearest: 9, second: 9, dx: 0, dy: 0, value: 0, other: 0 };
  for (let cy = row - 1; cy <= row + 1; cy += 1) {
    for (let cx = column - 1; cx <= column + 1; cx += 1) {
      const at = hash(cx, cy);
      const value = VALUE[at] ?? 0;
      const other = VALUE[(at + 311) & MASK] ?? 0;
      const dx = x - cx - 0.5 - (value - 0.5) * irregularity;
      const dy = y - cy - 0.5 - (other - 0.5) * irregularity;
      const distance = dx * dx + dy * dy;
      if (distance < cell.nearest) {
        cell.second = cell.nearest;
        cell.nearest = distance;
        cell.dx = dx;
        cell.dy = dy;
        cell.value = VALUE[(at + 97) & MASK] ?? 0;
        cell.other = VALUE[(at + 533) & MASK] ?? 0;
      } else if (distance < cell.second) cell.second = distance;
    }
  }
  cell.nearest = Math.sqrt(cell.nearest);
  cell.second = Math.sqrt(cell.second);
  return cell;
}

export function smooth(from: number, to: number, value: number): number {
  const t = clamp((value - from) / (to - from));
  return t * t * (3 - 2 * t);
}

export function clamp(value: number, low = 0, high = 1): number {
  return Math.min(high, Math.max(low, value));
}

export function lerp(from: number, to: number, t: number): number {
  return from + (to - from) * t;
}
