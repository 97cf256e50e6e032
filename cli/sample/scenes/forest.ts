import { type Colour, grey, hex, mix, plus, scale } from '../colour.ts';
import { type Frame, Layer, type Paint } from '../frame.ts';
import { clamp, fractal, lerp, mottle, noise, smooth } from '../noise.ts';
import { between, randomFrom } from '../random.ts';
import { conifer, disc, polygon } from '../shapes.ts';

export interface Forest {
  seed: number;
  fog: Colour;
  trunk: Colour;
  floor: Colour;
  leaves: Colour;
  leavesBright: Colour;
  /** Where the light comes in, of the frame. */
  light: { x: number; y: number; colour: Colour; rays: number };
  birch?: boolean;
  /** How much foliage hangs in from above. */
  canopy: number;
  path?: boolean;
}

/** Among tall trunks, which fade into the mist. */
export function forest(scene: Forest): Paint {
  return (frame) => {
    const { width, height, unit } = frame;
    const random = randomFrom(scene.seed);
    const sun = { x: scene.light.x * width, y: scene.light.y * height };
    frame.paint((x, y) => {
      const away = Math.hypot(x - sun.x, y - sun.y) / unit;
      const depth = mottle((x / unit) * 5 + scene.seed, (y / unit) * 2.2) * 0.16;
      return plus(scale(scene.fog, 0.9 + depth), scene.light.colour, 0.75 * Math.exp(-away * 3.4));
    });
    const rows = 7;
    for (let row = 0; row < rows; row += 1) {
      const near = (row + 1) / rows;
      drawFloor(frame, scene, near);
      const count = Math.round(lerp(26, 4, near ** 0.5) * (width / unit));
      for (let tree = 0; tree < count; tree += 1) {
        const x = ((tree + between(random, 0.05, 0.95)) / count) * width * 1.1 - width * 0.05;
        if (scene.path && Math.abs(x / width - 0.5) < 0.16 * near) continue;
        drawTrunk(frame, scene, sun, x, near, random() * 100);
      }
      drawCanopy(frame, scene, sun, near, row);
      veil(frame, scene, near);
    }
    drawRays(frame, scene, sun);
  };
}

function groundLine(near: number): number {
  return lerp(0.62, 0.86, near ** 1.6);
}

function drawFloor(frame: Frame, scene: Forest, near: number): void {
  const { width, height, unit } = frame;
  const line = groundLine(near) * height;
  for (let x = 0; x < width; x += 1) {
    const bump = fractal((x / unit) * 2.2 + near * 9 + scene.seed, near * 3, 4) * 0.035 * unit;
    const start = Math.max(0, Math.floor(line + bump));
    for (let y = start; y < height; y += 1) {
      const down = (y - line) / (height - line + 1);
      const size = 34 / (0.35 + near);
      const litter = mottle((x / unit) * size, (y / unit) * size * 1.8 + near * 5);
      const moss = smooth(-0.1, 0.35, mottle((x / unit) * 4 + 3, (y / unit) * 7 + near));
      let colour = mix(scene.floor, scale(scene.leaves, 0.8), moss * 0.6);
      if (scene.path) {
        const bend = noise(down * 1.4, scene.seed) * 0.12;
        const path = smooth(
          0.2,
          0.1,
          Math.abs(x / width - 0.5 - bend * (1 - down)) / (0.35 + down),
        );
        colour = mix(colour, hex('#8a6f52', 0.8), path * 0.75);
      }
      colour = scale(colour, 0.75 + litter * 0.9);
      const mist = clamp(1 - near * 1.05) * (1 - down * 0.5);
      frame.cover(x, y, mix(colour, scene.fog, mist), smooth(0, 0.012 * unit, y - line - bump));
    }
  }
}

function drawTrunk(
  frame: Frame,
  scene: Forest,
  sun: { x: number; y: number },
  at: number,
  near: number,
  seed: number,
): void {
  const { height, unit } = frame;
  const foot = (groundLine(near) + 0.02 * near) * height;
  const girth = unit * lerp(0.006, 0.042, near ** 1.5) * (1 + noise(seed, 2) * 0.7);
  const lean = noise(seed, 5) * 0.09;
  for (let y = 0; y < Math.min(height, foot); y += 1) {
    const up = (foot - y) / height;
    const root = Math.exp(-up * 34) * 0.7;
    const half = girth * (1 - up * 0.32 + root) * 0.5;
    const centre = at + lean * up * height + noise(seed, up * 3) * girth * 0.5;
    for (let x = Math.floor(centre - half - 1); x <= centre + half + 1; x += 1) {
      const side = (x - centre) / half;
      const bark = mottle((side * 2 + seed) * 0.9, (y / unit) * 9) * 0.6;
      const round = Math.sqrt(Math.max(0, 1 - side * side * 0.85));
      let colour = scale(scene.trunk, (0.45 + 0.6 * round) * (1 + bark));
      if (scene.birch) {
        const scar = smooth(0.18, 0.3, mottle((y / unit) * 16 + seed, side * 1.3 + seed));
        colour = mix(scale(grey(0.62), 0.5 + 0.6 * round), grey(0.04), scar);
      }
      const facing = clamp(0.5 + side * Math.sign(sun.x - centre) * 0.5);
      colour = plus(colour, scene.light.colour, facing ** 3 * 0.12);
      const mist = clamp(1 - near * 1.08) * 0.95;
      frame.cover(x, y, mix(colour, scene.fog, mist), clamp(half + 0.5 - Math.abs(x - centre)));
    }
  }
}

function drawCanopy(
  frame: Frame,
  scene: Forest,
  sun: { x: number; y: number },
  near: number,
  row: number,
): void {
  if (scene.canopy <= 0) return;
  const { width, height, unit } = frame;
  const deep = height * lerp(0.68, 0.4, near) * (0.4 + scene.canopy * 0.6);
  const size = lerp(15, 6.5, near);
  for (let y = 0; y < deep; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const u = (x / unit) * size + row * 17 + scene.seed;
      const v = (y / unit) * size;
      const twigs = mottle(u * 0.35, v * 0.35) + mottle(u * 1.6, v * 1.6) * 0.75;
      const edge = 0.42 - scene.canopy * 0.42 + (y / deep) ** 1.5 * 0.55;
      const opacity = smooth(edge, edge + 0.14, twigs);
      if (opacity <= 0) continue;
      const away = Math.hypot(x - sun.x, y - sun.y) / unit;
      const through = clamp(0.5 + mottle(u * 1.3 + 7, v * 1.3) * 1.1 + 0.6 * Math.exp(-away * 3));
      const colour = mix(scene.leaves, scene.leavesBright, through);
      const mist = clamp(0.9 - near) * 0.9;
      frame.cover(x, y, mix(colour, scene.fog, mist), opacity * 0.92);
    }
  }
}

function veil(frame: Frame, scene: Forest, near: number): void {
  if (near > 0.9) return;
  const { width, height, unit } = frame;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const drift = mottle((x / unit) * 0.9 + near * 5, (y / unit) * 2.4 + scene.seed);
      const low = smooth(0.2, 0.75, y / height);
      frame.cover(x, y, scene.fog, clamp(0.05 + (0.1 + drift * 0.18) * (0.4 + low)));
    }
  }
}

function drawRays(frame: Frame, scene: Forest, sun: { x: number; y: number }): void {
  const { rays, colour } = scene.light;
  if (rays <= 0) return;
  const { width, height, unit } = frame;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const dx = x - sun.x;
      const dy = y - sun.y + unit * 0.25;
      const angle = Math.atan2(dx, Math.abs(dy) + 1);
      const away = Math.hypot(dx, dy) / unit;
      const beam = smooth(
        0.02,
        0.4,
        noise(angle * 9 + scene.seed, 0.5) + noise(angle * 23, 3) * 0.5,
      );
      frame.shine(x, y, colour, beam * rays * Math.exp(-away * 1.7) * smooth(0.05, 0.35, away));
    }
  }
}

export interface Winter {
  seed: number;
  sky: Colour;
  horizon: Colour;
  snow: Colour;
  shade: Colour;
  tree: Colour;
  laden: number;
  trees: number;
  cabin?: number;
  falling?: number;
}

/** Spruces in the snow, perhaps a lit hut among them. */
export function winter(scene: Winter): Paint {
  return (frame) => {
    const { width, height, unit } = frame;
    const random = randomFrom(scene.seed);
    frame.paint((x, y) => {
      const t = y / (height * 0.6);
      const drift = mottle((x / unit) * 1.2 + scene.seed, (y / unit) * 3) * 0.12;
      return mix(scene.sky, scene.horizon, clamp(t + drift));
    });
    const rows = 6;
    for (let row = 0; row < rows; row += 1) {
      const near = row / (rows - 1);
      const line = lerp(0.56, 0.83, near ** 1.3) * height;
      drawSnow(frame, scene, line, near);
      const mist = clamp(0.82 - near) * 0.95;
      if (scene.cabin !== undefined && row === 4) drawCabin(frame, scene.cabin * width, line, unit);
      const count = Math.round((scene.trees * (width / unit)) / (1 + near * 2.2));
      for (let tree = 0; tree < count; tree += 1) {
        const x = random() * width;
        const gap = Math.abs(x / width - 0.5);
        const tall = unit * lerp(0.1, 0.5, near ** 1.3) * between(random, 0.55, 1.15);
        if (near > 0.5 && gap < 0.2 + (scene.cabin === undefined ? 0 : 0.08)) continue;
        conifer(frame, frame, {
          x,
          foot: line + unit * 0.02 + near * random() * unit * 0.03,
          height: tall,
          colour: mix(scene.tree, scene.horizon, mist),
          snow: scene.laden,
          snowColour: mix(scene.snow, scene.horizon, mist),
          seed: random() * 900,
        });
      }
    }
    if (scene.falling) drawFlakes(frame, scene.falling, scene.seed);
  };
}

function drawSnow(frame: Frame, scene: Winter, line: number, near: number): void {
  const { width, height, unit } = frame;
  for (let x = 0; x < width; x += 1) {
    const bump = fractal((x / unit) * 1.3 + near * 7 + scene.seed, near * 2, 3) * 0.06 * unit;
    for (let y = Math.max(0, Math.floor(line + bump)); y < height; y += 1) {
      const u = x / unit;
      const v = (y / unit) * 2.6;
      const slope =
        fractal(u * 2.2 + scene.seed, v * 1.6 + near * 3, 4) + mottle(u * 14, v * 14) * 0.14;
      const colour = mix(scene.shade, scene.snow, clamp(0.55 + slope * 0.85));
      const mist = clamp(0.7 - near);
      frame.cover(x, y, mix(colour, scene.horizon, mist), smooth(0, 3, y - line - bump));
    }
  }
}

function drawCabin(frame: Frame, x: number, foot: number, unit: number): void {
  const w = unit * 0.13;
  const h = unit * 0.085;
  const y = foot + unit * 0.035;
  disc(frame, { x, y: y - h * 0.4 }, w * 2.4, 1, (px, py, opacity) => {
    frame.shine(px, py, hex('#ff9a45', 0.22), opacity * opacity);
  });
  const wall = [
    { x: x - w, y },
    { x: x - w, y: y - h },
    { x: x + w, y: y - h },
    { x: x + w, y },
  ];
  polygon(frame, wall, (px, py) =>
    scale(
      hex('#4a3222'),
      0.7 + 0.5 * Math.abs(Math.sin(((py - y) / h) * 20)) + mottle(px / 9, py / 3) * 0.3,
    ),
  );
  const roof = [
    { x: x - w * 1.2, y: y - h * 0.9 },
    { x: x - w * 0.75, y: y - h * 1.95 },
    { x: x + w * 0.75, y: y - h * 1.95 },
    { x: x + w * 1.2, y: y - h * 0.9 },
  ];
  polygon(frame, roof, (px, py) =>
    scale(hex('#b9c6e2', 0.8), 0.85 + mottle(px / 30, py / 30) * 0.3 - ((py - y) / h + 1) * 0.15),
  );
  for (const at of [-0.62, -0.08, 0.46]) {
    const left = x + at * w;
    const pane = [
      { x: left, y: y - h * 0.72 },
      { x: left + w * 0.26, y: y - h * 0.72 },
      { x: left + w * 0.26, y: y - h * 0.26 },
      { x: left, y: y - h * 0.26 },
    ];
    polygon(frame, pane, (px) =>
      Math.abs(px - left - w * 0.13) < 1 ? hex('#3a2616') : hex('#ffc169', 3.4),
    );
  }
}

function drawFlakes(frame: Frame, count: number, seed: number): void {
  const random = randomFrom(seed + 77);
  const { width, height, unit } = frame;
  const layer = new Layer(frame);
  for (let flake = 0; flake < count; flake += 1) {
    const radius = unit * (0.0015 + 0.008 * random() ** 6);
    const centre = { x: random() * width, y: random() * height };
    const opacity = radius > unit * 0.004 ? 0.4 : 0.8;
    disc(frame, centre, Math.max(1.2, radius), 0.7, (x, y, inside) => {
      layer.cover(x, y, grey(0.9), inside * opacity);
    });
  }
  layer.onto(frame);
}
