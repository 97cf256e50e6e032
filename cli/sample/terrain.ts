import { type Colour, lit, mix, plus, scale } from './colour.ts';
import type { Frame } from './frame.ts';
import { clamp } from './noise.ts';
import type { View } from './sky.ts';

export interface Ground {
  x: number;
  z: number;
  height: number;
  /** 1 lies flat, 0 is a wall. */
  level: number;
  /** The fineness to be seen at this distance: octaves of noise. */
  octaves: number;
}

export interface Terrain {
  /** Metres; below zero is water, which is left as it is. */
  height: (x: number, z: number, octaves: number) => number;
  surface: (ground: Ground) => Colour;
  near: number;
  far: number;
  /** Octaves close by. */
  detail: number;
  /** How far a shadow is followed, in metres; 0 for none. */
  shadows?: number;
  /** Light that comes through: snow, sand, leaves. 0 to 1. */
  soft?: number;
  /** 0 is a floor of water at height 0; without it there is land everywhere. */
  water?: boolean;
}

export interface Daylight {
  sun: { x: number; y: number; z: number };
  sunlight: Colour;
  ambient: Colour;
  haze: Haze;
}

export interface Haze {
  /** Metres after which two thirds of what is there are gone. */
  reach: number;
  colour: Colour;
  /** Added towards the sun. */
  glow: Colour;
  /** Haze that lies in the valleys: metres of its height; without it, haze is the same all over. */
  floor?: number;
}

/** @returns how far each pixel is: metres, 0 for the sky, -1 for water */
export function drawTerrain(
  frame: Frame,
  view: View,
  terrain: Terrain,
  daylight: Daylight,
): Float32Array {
  const { width, height } = frame;
  const depth = new Float32Array(width * height);
  const sunshine = new Float32Array(width * height);
  const steps = distances(terrain.near, terrain.far);
  const octavesAt = steps.map((z) =>
    Math.round(clamp(terrain.detail - Math.log2(z / terrain.near) * 0.7, 6, terrain.detail)),
  );
  for (let x = 0; x < width; x += 1) {
    const dx = (x - view.centre) / view.focal;
    const edge = drawColumn(x, dx);
    // The outline against the sky, with as much of the pixel as it fills.
    const above = Math.floor(edge);
    if (above >= 0 && above + 1 < height && (depth[(above + 1) * width + x] ?? 0) > 0) {
      frame.cover(x, above, frame.at(x, above + 1), above + 1 - edge);
    }
  }
  return depth;

  function drawColumn(x: number, dx: number): number {
    let top = height;
    let edge = height;
    let lastZ = terrain.near;
    let lastY = height;
    for (let step = 0; step < steps.length; step += 1) {
      const z = steps[step] ?? 0;
      const octaves = octavesAt[step] ?? 4;
      const raw = terrain.height(dx * z, z, Math.min(octaves, 6));
      const ground = terrain.water && raw < 0 ? 0 : raw;
      const y = view.horizon - ((ground - view.height) * view.focal) / z;
      const from = Math.max(0, Math.ceil(y));
      for (let row = top - 1; row >= from; row -= 1) {
        const t = lastY > y ? clamp((lastY - row) / (lastY - y)) : 1;
        shade(x, row, dx, lastZ + (z - lastZ) * t, octaves);
      }
      if (from < top) {
        top = from;
        edge = y;
      }
      lastZ = z;
      lastY = y;
      if (top === 0) break;
    }
    return edge;
  }

  function shade(x: number, y: number, dx: number, z: number, octaves: number): void {
    const wx = dx * z;
    const here = terrain.height(wx, z, octaves);
    if (terrain.water && here < 0) {
      depth[y * width + x] = -1;
      return;
    }
    depth[y * width + x] = z;
    const step = Math.max((z / view.focal) * 1.2, terrain.near * 0.002);
    const slopeX = (terrain.height(wx + step, z, octaves) - here) / step;
    const slopeZ = (terrain.height(wx, z + step, octaves) - here) / step;
    const level = 1 / Math.sqrt(slopeX * slopeX + slopeZ * slopeZ + 1);
    const { sun, haze } = daylight;
    const sunLength = 1 / Math.sqrt(sun.x * sun.x + sun.y * sun.y + sun.z * sun.z);
    const facing = (sun.y - slopeX * sun.x - slopeZ * sun.z) * level * sunLength;
    const soft = terrain.soft ?? 0;
    let direct = clamp((facing + soft) / (1 + soft));
    if (terrain.shadows) direct *= sharedSun(x, y, wx, here, z);
    // On a cliff the row says better than the depth how high this is.
    const seen = view.height + ((view.horizon - y) * z) / view.focal;
    const surface = terrain.surface({ x: wx, z, height: seen, level, octaves });
    const sky = scale(daylight.ambient, 0.45 + 0.55 * level);
    const light = plus(sky, daylight.sunlight, direct);
    let lost = 1 - Math.exp(-z / haze.reach);
    if (haze.floor !== undefined) lost *= 0.35 + 0.65 * Math.exp(-Math.max(0, here) / haze.floor);
    const towards = clamp((dx * sun.x + sun.z) * sunLength * 0.9);
    const air = plus(haze.colour, haze.glow, towards ** 4 * 0.8);
    frame.set(x, y, mix(lit(surface, light), air, lost));
  }

  /** Shadows have soft edges: four pixels of the same ground share one look at the sun. */
  function sharedSun(x: number, y: number, wx: number, here: number, z: number): number {
    const index = y * width + x;
    const other = Math.min(height - 1, y | 1) * width + (x & ~1);
    const otherDepth = depth[other] ?? 0;
    const shared = other !== index && Math.abs(otherDepth - z) < z * 0.03;
    const seen = shared ? (sunshine[other] ?? 0) : sunSeen(wx, here, z);
    sunshine[index] = seen;
    return seen;
  }

  /** 0 behind a mountain, 1 in the sun; between them at the edge of its shadow. */
  function sunSeen(x: number, y: number, z: number): number {
    const { sun } = daylight;
    const reach = terrain.shadows ?? 0;
    let seen = 1;
    for (let step = 1; step <= 7; step += 1) {
      const far = reach * (step / 7) ** 2;
      const free = y + far * sun.y - terrain.height(x + far * sun.x, z + far * sun.z, 4);
      seen = Math.min(seen, 0.5 + free / (far * 0.16));
      if (seen <= 0) return 0;
    }
    return seen;
  }
}

/** Close steps in front, long ones far away: about the same on the picture. */
function distances(near: number, far: number): number[] {
  const steps: number[] = [];
  for (let z = near; z < far; z *= 1.015) steps.push(z);
  return steps;
}
