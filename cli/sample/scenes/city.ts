import { type Colour, grey, hex, mix, plus, scale } from '../colour.ts';
import type { Frame, Paint } from '../frame.ts';
import { cellValue, clamp, lerp, mottle, noise, smooth } from '../noise.ts';
import { between, pick, type Random, randomFrom } from '../random.ts';
import { bokehLight, type Point } from '../shapes.ts';
import { type Clouds, cloudsOf, drawSky, HOURS, type HourName, type Sky, viewOf } from '../sky.ts';
import { drawWater } from '../water.ts';

export interface Skyline {
  seed: number;
  hour: HourName;
  sun: Sky['sun'];
  disc?: number;
  /** Share of windows with light. */
  lit: number;
  /** Of the unit. */
  tallest: number;
  facade: Colour;
  /** 0 to 1: how much haze stands between the rows. */
  haze: number;
  clouds?: Omit<Clouds, 'bright' | 'dark'>;
  fireworks?: number;
  horizon?: number;
}

/** A city over its river. */
export function skyline(scene: Skyline): Paint {
  const light = HOURS[scene.hour];
  return (frame) => {
    const { width, unit } = frame;
    const random = randomFrom(scene.seed);
    const view = viewOf(frame, { horizon: scene.horizon ?? 0.64, lens: 1.3, height: 9 });
    drawSky(frame, view, {
      zenith: light.zenith,
      horizon: light.horizon,
      glow: light.glow,
      sun: scene.sun,
      seed: scene.seed,
      ...(scene.clouds && { clouds: cloudsOf(scene.hour, scene.clouds) }),
      ...(scene.disc && { disc: { colour: scale(light.sunlight, 14), radius: scene.disc } }),
    });
    for (let burst = 0; burst < (scene.fireworks ?? 0); burst += 1) {
      drawFirework(frame, view.horizon, random);
    }
    for (let row = 0; row < 4; row += 1) {
      const near = row / 3;
      let left = -unit * 0.05 * random();
      while (left < width) {
        const w = unit * between(random, 0.035, 0.085) * lerp(0.75, 1.15, near);
        const centre = (left + w / 2) / width;
        const cluster = Math.exp(-(((centre - 0.35 - scene.seed * 0.07) % 1) ** 2) * 7);
        const h =
          unit * scene.tallest * lerp(1, 0.42, near) * (0.22 + random() ** 2 * (0.35 + cluster));
        drawBuilding(frame, scene, { left, w, h, foot: view.horizon, near, random });
        left += w * between(random, 0.86, 1.25);
      }
    }
    drawQuay(frame, view.horizon, scene, random);
    drawWater(frame, view, {
      roughness: 0.035,
      swell: 2.4,
      body: scale(mix(hex('#10222c'), light.zenith, 0.5), 0.4),
      seed: scene.seed,
    });
  };
}

interface Building {
  left: number;
  w: number;
  h: number;
  foot: number;
  near: number;
  random: Random;
}

const LAMPS = [hex('#ffcf87'), hex('#ffe2b4'), hex('#ffb45e'), hex('#dfe9ff')] as const;

function drawBuilding(frame: Frame, scene: Skyline, building: Building): void {
  const { left, w, h, foot, near, random } = building;
  const { unit } = frame;
  const light = HOURS[scene.hour];
  const seed = random() * 1000;
  const top = foot - h;
  const storey = unit * lerp(0.0072, 0.0105, near);
  const bay = storey * pick(random, [0.8, 1, 1.5]);
  const crown = pick(random, ['flat', 'flat', 'step', 'spire', 'slope']);
  const glassy = random() < 0.4;
  const haze = scene.haze * (1 - near * 0.75);
  const body = mix(scale(scene.facade, between(random, 0.6, 1.3)), light.ambient, 0.25);
  const sunward = scene.sun.x > 0 ? 1 : -1;
  const peak = crown === 'spire' ? unit * 0.06 : crown === 'step' ? unit * 0.02 : 0;
  frame.within({ left, right: left + w, top: top - peak, bottom: foot }, (x, y) => {
    const side = (x - left) / w;
    const edge = clamp(Math.min(x - left, left + w - x) + 0.5);
    let roof = top;
    if (crown === 'slope') roof += side * w * 0.45;
    if (crown === 'step') roof -= Math.abs(side - 0.5) < 0.28 ? peak : 0;
    if (crown === 'spire')
      roof -= Math.abs(x - left - w / 2) < Math.max(0.7, unit * 0.0016) ? peak : 0;
    const inside = clamp(y - roof + 0.5) * edge;
    if (inside <= 0) return;
    const face = side > 0.62 === sunward > 0 ? 1.15 : 0.8;
    let colour = scale(body, face * (0.9 + mottle(x / unit + seed, y / unit) * 0.25));
    if (glassy) colour = mix(colour, mix(light.zenith, light.horizon, (y - top) / h), 0.45);
    colour = windowed(scene, colour, x - left, y - top, storey, bay, seed, w);
    const air = plus(light.horizon, light.glow, 0.12);
    frame.cover(x, y, mix(colour, air, haze * (0.65 + 0.35 * smooth(0, h, y - top))), inside);
  });
}

function windowed(
  scene: Skyline,
  wall: Colour,
  x: number,
  y: number,
  storey: number,
  bay: number,
  seed: number,
  w: number,
): Colour {
  if (y < storey || x < bay * 0.4 || x > w - bay * 0.4) return wall;
  const column = Math.floor(x / bay);
  const floor = Math.floor(y / storey);
  const inX = x / bay - column;
  const inY = y / storey - floor;
  if (inX < 0.18 || inX > 0.86 || inY < 0.22 || inY > 0.84) return wall;
  const chance = cellValue(column + Math.floor(seed), floor + Math.floor(seed * 3));
  const whole = cellValue(Math.floor(seed), floor) < 0.1 ? 0.35 : 0;
  if (chance > scene.lit + whole * scene.lit * 3) return scale(wall, 0.72);
  const lamp = LAMPS[Math.floor(chance * 997) % LAMPS.length] ?? LAMPS[0];
  return scale(lamp, 0.55 + 1.5 * cellValue(floor + 31, column + Math.floor(seed)) ** 2);
}

/** The street lamps along the water, which draw the long reflections. */
function drawQuay(frame: Frame, foot: number, scene: Skyline, random: Random): void {
  const { width, unit } = frame;
  for (let x = 0; x < width; x += 1) {
    const top = foot - unit * (0.012 + 0.012 * Math.abs(noise((x / unit) * 22, scene.seed)));
    for (let y = Math.floor(top); y <= foot + 1; y += 1)
      frame.cover(x, y, hex('#14181b', 0.8), 0.95);
  }
  if (scene.lit < 0.1) return;
  for (let lamp = 0; lamp < 46 * (width / unit); lamp += 1) {
    const x = random() * width;
    const y = foot - unit * between(random, 0.004, 0.02);
    const colour = pick(random, LAMPS);
    frame.within({ left: x - 2, right: x + 2, top: y - 2, bottom: y + 2 }, (px, py) => {
      frame.shine(px, py, colour, 5 * Math.exp(-((px - x) ** 2 + (py - y) ** 2) / 1.4));
    });
  }
}

const SPARKS = [
  hex('#ffcf6b'),
  hex('#ff6a55'),
  hex('#7fd0ff'),
  hex('#ffd9ef'),
  hex('#8dff9a'),
] as const;

function drawFirework(frame: Frame, horizon: number, random: Random): void {
  const { width, unit } = frame;
  const centre = {
    x: between(random, 0.15, 0.85) * width,
    y: between(random, 0.14, 0.5) * horizon,
  };
  const reach = unit * between(random, 0.09, 0.2);
  const colour = pick(random, SPARKS);
  for (let spark = 0; spark < 110; spark += 1) {
    const angle = random() * Math.PI * 2;
    const speed = Math.sqrt(random()) * reach;
    for (let t = 0.25; t <= 1; t += 0.02) {
      const out = speed * (1 - (1 - t) ** 2);
      const x = centre.x + Math.cos(angle) * out;
      const y = centre.y + Math.sin(angle) * out + t * t * reach * 0.22;
      const heat = mix(grey(1), colour, smooth(0.2, 0.6, t));
      frame.shine(Math.round(x), Math.round(y), heat, 0.5 * t * t);
      frame.shine(Math.round(x + 0.6), Math.round(y), heat, 0.25 * t * t);
    }
  }
}

export interface Lights {
  seed: number;
  ground: Colour;
  top: Colour;
  lamps: readonly [Colour, ...Colour[]];
  count: number;
  /** Of the unit. */
  size: number;
  /** Drops on the window pane before it; none for a clear view. */
  drops?: number;
  street?: boolean;
}

/** A street at night out of focus, perhaps behind a wet window. */
export function cityLights(scene: Lights): Paint {
  return (frame) => {
    const { height, unit } = frame;
    const random = randomFrom(scene.seed);
    frame.paint((x, y) => {
      const n = noise((x / unit) * 2.2 + scene.seed, (y / unit) * 2.2);
      return scale(mix(scene.top, scene.ground, y / height), 1 + n * 0.7);
    });
    for (let lamp = 0; lamp < scene.count; lamp += 1) {
      const depth = random() ** 0.7;
      const centre = scene.street ? alongStreet(frame, random, depth) : anywhere(frame, random);
      const radius =
        unit * scene.size * (scene.street ? 0.3 + depth * 0.9 : between(random, 0.4, 1.1));
      bokehLight(
        frame,
        centre,
        radius,
        scale(pick(random, scene.lamps), between(random, 0.12, 0.5)),
      );
    }
    if (scene.drops) drawDrops(frame, scene.drops, random);
  };
}

function anywhere(frame: Frame, random: Random): Point {
  const band = (random() + random() + random()) / 3;
  return { x: random() * frame.width, y: (0.15 + band * 0.75) * frame.height };
}

function alongStreet(frame: Frame, random: Random, depth: number): Point {
  const side = random() < 0.5 ? -1 : 1;
  const spread = 0.04 + depth * between(random, 0.15, 0.62);
  const rise = between(random, -0.5, 0.24) * (0.12 + depth);
  return { x: (0.5 + side * spread) * frame.width, y: (0.52 + rise * 0.7) * frame.height };
}

/** A drop is a lens: what is behind it stands upside down in it. */
function drawDrops(frame: Frame, count: number, random: Random): void {
  const { width, height, unit } = frame;
  const behind = frame.smaller(3);
  behind.fill(frame);
  behind.blur(behind.unit * 0.012);
  frame.fill(behind);
  for (let drop = 0; drop < count; drop += 1) {
    const radius = unit * (0.003 + 0.024 * random() ** 5);
    const centre = { x: random() * width, y: random() * height };
    const tall = 1 + random() * 0.4 * (radius / (unit * 0.01));
    const wobble = random() * 50;
    const box = {
      left: centre.x - radius * 1.3,
      right: centre.x + radius * 1.3,
      top: centre.y - radius * tall * 1.3,
      bottom: centre.y + radius * tall * 1.3,
    };
    frame.within(box, (x, y) => {
      const u = (x - centre.x) / radius;
      const v = (y - centre.y) / (radius * tall);
      const r = Math.hypot(u, v) * (1 + noise(u * 0.9 + wobble, v * 0.9) * 0.28);
      if (r >= 1) return;
      const bend = 0.1 + r * r * 0.5;
      const seen = behind.sample(
        (centre.x - u * bend * unit * 0.5) / 3,
        (centre.y - v * bend * unit * 0.5) / 3,
      );
      const rim = 1.25 - smooth(0.55, 1, r) * 0.95 + v * 0.35;
      const glint = Math.exp(-((u + 0.35) ** 2 + (v + 0.45) ** 2) * 26) * 0.5;
      frame.cover(
        x,
        y,
        plus(scale(seen, Math.max(0.1, rim)), grey(1), glint),
        clamp((1 - r) * radius * 0.9),
      );
    });
  }
}
