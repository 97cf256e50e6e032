import { type Colour, grey, hex, mix, plus, scale } from '../colour.ts';
import type { Frame, Paint } from '../frame.ts';
import { cells, clamp, fractal, mottle, noise, ridged, smooth } from '../noise.ts';
import { between, randomFrom } from '../random.ts';
import { conifer, disc, polygon } from '../shapes.ts';

export interface Night {
  seed: number;
  zenith: Colour;
  horizon: Colour;
  /** The brightness of the milky way, and its slope. */
  milkyWay?: { strength: number; slope: number };
  aurora?: { low: Colour; high: Colour; strength: number };
  moon?: { x: number; y: number; radius: number; tint: Colour };
  stars: number;
  /** Of the frame's height: where the land begins. */
  land: number;
  trees?: number;
  /** A tent with a lamp in it, from the left. */
  tent?: number;
  clouds?: number;
}

export function night(scene: Night): Paint {
  return (frame) => {
    const { height, unit } = frame;
    frame.paint((x, y) => {
      const t = y / (height * scene.land);
      const glow = Math.exp(-Math.max(0, 1 - t) * 4.5);
      let colour = mix(scene.zenith, scene.horizon, glow);
      colour = plus(colour, milkyWay(scene, x / unit, y / unit));
      colour = plus(colour, aurora(scene, x / unit, (scene.land * height - y) / unit));
      return colour;
    });
    drawStars(frame, scene);
    if (scene.moon) drawMoon(frame, scene.moon, scene.seed);
    if (scene.clouds) drawVeil(frame, scene, scene.clouds);
    drawLand(frame, scene);
    if (scene.tent !== undefined) drawTent(frame, scene, scene.tent);
  };
}

function band(scene: Night, u: number, v: number): number {
  if (!scene.milkyWay) return 0;
  const off = (v - 0.42) * 0.9 + (u - 0.6) * scene.milkyWay.slope;
  return off + fractal(u * 2 + scene.seed, v * 2, 3) * 0.06;
}

function milkyWay(scene: Night, u: number, v: number): Colour {
  if (!scene.milkyWay) return grey(0);
  const off = band(scene, u, v);
  const clouds = 0.55 + fractal(u * 3.2 + scene.seed, v * 3.2, 6) * 0.9;
  const glow = Math.exp(-((off / 0.17) ** 2)) * clouds + Math.exp(-((off / 0.07) ** 2)) * 0.5;
  const lane = smooth(0.35, 0.6, ridged(u * 2.6 + 3, v * 2.6 + scene.seed, 5));
  const dust = 1 - lane * Math.exp(-((off / 0.09) ** 2)) * 0.85;
  const warm = mix(hex('#9aa9d8'), hex('#e9b99c'), Math.exp(-((off / 0.1) ** 2)) * 0.8);
  return scale(warm, Math.max(0, glow * dust) * scene.milkyWay.strength);
}

function aurora(scene: Night, u: number, rise: number): Colour {
  if (!scene.aurora) return grey(0);
  const { low, high, strength } = scene.aurora;
  let colour = grey(0);
  for (let curtain = 0; curtain < 3; curtain += 1) {
    const bend = fractal(u * 1.3 + curtain * 5.1 + scene.seed, curtain * 2.7, 3);
    const foot = 0.1 + curtain * 0.16 + bend * 0.34;
    const up = rise - foot;
    if (up < -0.03) continue;
    const swing = u + bend * 0.35 + up * 0.05;
    const rays =
      0.5 + mottle(swing * 9 + curtain * 3, scene.seed) + noise(swing * 2.4, curtain) * 0.8;
    const profile = smooth(-0.03, 0.035, up) * Math.exp(-Math.max(0, up) * (4.4 - curtain * 0.6));
    const light = Math.max(0, rays) * profile * strength * (1 - curtain * 0.22);
    colour = plus(colour, mix(low, high, smooth(0.05, 0.42, up)), light);
  }
  return colour;
}

function drawStars(frame: Frame, scene: Night): void {
  const random = randomFrom(scene.seed + 400);
  const { width, height, unit } = frame;
  for (let star = 0; star < scene.stars; star += 1) {
    const x = random() * width;
    const y = random() * height * scene.land;
    const crowd = scene.milkyWay ? Math.exp(-((band(scene, x / unit, y / unit) / 0.16) ** 2)) : 1;
    if (random() > 0.3 + 0.7 * crowd) continue;
    const magnitude = random() ** 7;
    const tint = mix(hex('#aecbff'), hex('#ffd9ac'), random());
    const radius = (0.0008 + 0.0014 * magnitude) * unit;
    const strength = 0.14 + 2.6 * magnitude;
    const box = {
      left: x - 3 * radius,
      right: x + 3 * radius,
      top: y - 3 * radius,
      bottom: y + 3 * radius,
    };
    frame.within(box, (px, py) => {
      const away = ((px - x) ** 2 + (py - y) ** 2) / (radius * radius);
      frame.shine(px, py, tint, strength * Math.exp(-away * 1.3));
    });
  }
}

function drawMoon(frame: Frame, moon: NonNullable<Night['moon']>, seed: number): void {
  const { width, height, unit } = frame;
  const centre = { x: moon.x * width, y: moon.y * height };
  const radius = moon.radius * unit;
  const reach = radius * 6;
  disc(frame, centre, reach, 1, (x, y) => {
    const away = Math.hypot(x - centre.x, y - centre.y) / radius;
    frame.shine(
      x,
      y,
      moon.tint,
      0.35 * Math.exp(-Math.max(0, away - 1) * 1.6) * smooth(6, 3, away),
    );
  });
  disc(frame, centre, radius, 0.03, (x, y, opacity) => {
    const u = (x - centre.x) / radius;
    const v = (y - centre.y) / radius;
    const bulge = 1 / Math.sqrt(Math.max(0.15, 1 - (u * u + v * v) * 0.8));
    const seas = smooth(-0.35, 0.45, fractal(u * bulge * 1.4 + seed, v * bulge * 1.4, 5));
    const crater = cells(u * bulge * 7 + seed, v * bulge * 7);
    const rim = Math.exp(-(((crater.nearest - 0.22) / 0.06) ** 2)) * crater.value * 0.3;
    const rays = mottle(u * 9, v * 9) * 0.12;
    const limb = Math.sqrt(Math.max(0, 1 - u * u - v * v));
    const albedo = (0.95 - seas * 0.45 + rim + rays) * (0.55 + 0.45 * limb ** 0.5);
    frame.cover(x, y, scale(moon.tint, albedo * 1.15), opacity);
  });
}

function drawVeil(frame: Frame, scene: Night, strength: number): void {
  const { width, height, unit } = frame;
  const moon = scene.moon;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const n = fractal((x / unit) * 2.2 + scene.seed, (y / unit) * 5.5, 5);
      const near = moon
        ? Math.exp(-Math.hypot(x - moon.x * width, y - moon.y * height) / (unit * 0.3))
        : 0;
      const colour = plus(scale(scene.horizon, 0.7), moon?.tint ?? scene.horizon, near * 0.6);
      frame.cover(x, y, colour, smooth(-0.05, 0.5, n) * strength);
    }
  }
}

function drawLand(frame: Frame, scene: Night): void {
  const { width, height, unit } = frame;
  const random = randomFrom(scene.seed + 9);
  const far = mix(scale(scene.horizon, 0.25), scene.zenith, 0.4);
  for (let ridge = 0; ridge < 3; ridge += 1) {
    const base = (scene.land + ridge * 0.07) * height;
    const colour = scale(far, [0.75, 0.35, 0.1][ridge] ?? 0.1);
    for (let x = 0; x < width; x += 1) {
      const outline = ridged((x / unit) * (1.1 + ridge * 0.4) + ridge * 4 + scene.seed, ridge, 5);
      const top = base - (outline - 0.35) * unit * (0.17 - ridge * 0.04);
      const first = Math.floor(top);
      frame.cover(x, first, colour, first + 1 - top);
      for (let y = Math.max(0, first + 1); y < height; y += 1) {
        frame.set(x, y, scale(colour, 1 + mottle((x / unit) * 12, (y / unit) * 30) * 0.5));
      }
    }
  }
  const trees = scene.trees ?? 0;
  for (let tree = 0; tree < trees; tree += 1) {
    const x = random() * width;
    conifer(frame, frame, {
      x,
      foot: height * 1.02,
      height: unit * between(random, 0.08, 0.3) * (0.6 + Math.abs(x / width - 0.5)),
      colour: scale(far, 0.08),
      seed: scene.seed + tree,
    });
  }
}

function drawTent(frame: Frame, scene: Night, at: number): void {
  const { width, height, unit } = frame;
  const foot = height * Math.min(0.95, scene.land + 0.16);
  const x = at * width;
  const size = unit * 0.085;
  disc(frame, { x, y: foot - size * 0.3 }, size * 3.4, 1, (px, py) => {
    const away = Math.hypot(px - x, (py - foot + size * 0.3) * 1.5) / size;
    frame.shine(px, py, hex('#ff9d4a', 0.22), Math.exp(-away * 1.3));
  });
  const corners = [
    { x: x - size * 1.25, y: foot },
    { x: x - size * 0.15, y: foot - size },
    { x: x + size * 0.3, y: foot - size * 0.92 },
    { x: x + size * 1.3, y: foot },
  ];
  polygon(frame, corners, (px, py) => {
    const away = Math.hypot(px - x, py - foot + size * 0.3) / size;
    const seam = Math.abs((px - x) / size + (py - foot) * (0.25 / size)) < 0.035 ? 0.55 : 1;
    return scale(mix(hex('#ffd08a'), hex('#e0642a'), clamp(away * 0.9)), seam * (2.2 - away * 1.1));
  });
}
