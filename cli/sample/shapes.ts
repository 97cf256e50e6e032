import { type Colour, mix, scale } from './colour.ts';
import type { Frame } from './frame.ts';
import { clamp, mottle, noise, smooth } from './noise.ts';

/** What takes colour: a frame, or a layer over one. */
export interface Canvas {
  cover: (x: number, y: number, colour: Colour, opacity: number) => void;
}

export interface Point {
  x: number;
  y: number;
}

/** A soft-edged disc; `softness` is the part of the radius over which it fades. */
export function disc(
  frame: Frame,
  centre: Point,
  radius: number,
  softness: number,
  draw: (x: number, y: number, opacity: number) => void,
): void {
  const box = {
    left: centre.x - radius - 1,
    right: centre.x + radius + 1,
    top: centre.y - radius - 1,
    bottom: centre.y + radius + 1,
  };
  const inner = Math.min(radius - 1, radius * (1 - softness));
  frame.within(box, (x, y) => {
    const distance = Math.hypot(x - centre.x, y - centre.y);
    if (distance < radius) draw(x, y, smooth(radius, inner, distance));
  });
}

/** How far inside a polygon a point is, in pixels: negative outside. */
export function insideOf(corners: readonly Point[], x: number, y: number): number {
  let inside = false;
  let nearest = Number.POSITIVE_INFINITY;
  for (const [index, a] of corners.entries()) {
    const b = corners[(index + 1) % corners.length] ?? a;
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) inside = !inside;
    const ex = b.x - a.x;
    const ey = b.y - a.y;
    const along = clamp(((x - a.x) * ex + (y - a.y) * ey) / (ex * ex + ey * ey || 1));
    nearest = Math.min(nearest, Math.hypot(x - a.x - ex * along, y - a.y - ey * along));
  }
  return inside ? nearest : -nearest;
}

export function polygon(
  frame: Frame,
  corners: readonly Point[],
  colourAt: (x: number, y: number) => Colour,
  opacity = 1,
): void {
  const xs = corners.map(({ x }) => x);
  const ys = corners.map(({ y }) => y);
  const box = {
    left: Math.min(...xs) - 1,
    right: Math.max(...xs) + 1,
    top: Math.min(...ys) - 1,
    bottom: Math.max(...ys) + 1,
  };
  frame.within(box, (x, y) => {
    const edge = insideOf(corners, x, y);
    if (edge > -0.7) frame.cover(x, y, colourAt(x, y), clamp(edge + 0.5) * opacity);
  });
}

export interface Conifer {
  /** Foot and height in pixels. */
  x: number;
  foot: number;
  height: number;
  colour: Colour;
  /** 0 bare, 1 laden. */
  snow?: number;
  snowColour?: Colour;
  seed: number;
}

/** A spruce: whorls of boughs that widen downwards, ragged at their ends. */
export function conifer(frame: Frame, canvas: Canvas, tree: Conifer): void {
  const { x: centre, foot, height, seed } = tree;
  const whorls = 9 + Math.floor(Math.abs(noise(seed * 3.3, 1.5)) * 8);
  const breadth = height * (0.17 + noise(seed * 1.9, 7.7) * 0.06);
  const top = foot - height;
  frame.within(
    { left: centre - breadth * 1.3, right: centre + breadth * 1.3, top, bottom: foot },
    (x, y) => {
      const t = clamp((y - top) / height);
      const side = (x - centre) / breadth;
      const droop = Math.abs(side) * 0.05;
      const whorl = (t - droop) * whorls + noise(seed, t * 5 + side * 0.7) * 0.8;
      const bough = whorl - Math.floor(whorl);
      const ragged = mottle(x * (9 / breadth) * 0.35 + seed, y * (9 / breadth) * 0.35) * 0.55;
      const reach = t ** 0.85 * (0.5 + 0.5 * bough + ragged);
      const trunk = Math.abs(side) < 0.03 + 0.03 * t ? 1 : 0;
      const pixel = 1.6 / breadth;
      const opacity = Math.max(clamp((reach - Math.abs(side)) / pixel), trunk);
      if (opacity <= 0) return;
      const shade = 0.7 + 0.5 * bough + ragged * 0.8 - side * 0.15;
      let colour = scale(tree.colour, Math.max(0.15, shade));
      if (tree.snow && tree.snowColour) {
        const laden = smooth(0.85, 0.35, bough + ragged * 0.6) * tree.snow;
        colour = mix(colour, scale(tree.snowColour, 0.8 + ragged * 0.5), laden);
      }
      canvas.cover(x, y, colour, opacity * clamp((foot - y) / 2));
    },
  );
}

/** Lights out of focus are images of the diaphragm: even discs, a little brighter at the rim. */
export function bokehLight(frame: Frame, centre: Point, radius: number, light: Colour): void {
  disc(frame, centre, radius, 0.12, (x, y, opacity) => {
    const rim = Math.hypot(x - centre.x, y - centre.y) / radius;
    frame.shine(x, y, light, opacity * (0.72 + 0.4 * rim ** 4));
  });
}

/** A blurred backdrop of leaves and light between them. */
export function softBackdrop(
  frame: Frame,
  colours: readonly [dark: Colour, middle: Colour, bright: Colour],
  seed: number,
  size = 3,
): void {
  const { unit } = frame;
  frame.paint((x, y) => {
    const u = (x / unit) * size;
    const v = (y / unit) * size;
    const n = noise(u + seed, v) * 0.9 + noise(u * 2.1 + 4, v * 2.1 + seed) * 0.4;
    const base = mix(colours[0], colours[1], smooth(-0.5, 0.35, n));
    return mix(base, colours[2], smooth(0.15, 0.75, n));
  });
}

/** Planks or a board: long grain along x, in the unit's measure. */
export function wood(u: number, v: number, dark: Colour, bright: Colour, plank: number): Colour {
  const row = Math.floor(v / plank);
  const within = v / plank - row;
  const shift = row * 7.31;
  const rings = noise(u * 1.1 + shift, v * 9 + shift) * 2.6 + mottle(u * 1.5 + shift, v * 34) * 0.5;
  const fibre = mottle(u * 5 + shift, v * 150) * 0.35;
  const tone = 0.5 + 0.32 * Math.sin(rings * 5) + fibre + noise(row * 3.7, 0.5) * 0.4;
  const seam = smooth(0.0, 0.025, within) * smooth(1, 0.975, within);
  return scale(mix(dark, bright, tone), 0.35 + 0.65 * seam);
}
