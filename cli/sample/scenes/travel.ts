import { type Colour, grey, hex, lit, mix, plus, scale } from '../colour.ts';
import type { Frame, Paint } from '../frame.ts';
import { clamp, fractal, lerp, mottle, noise, ridged, smooth } from '../noise.ts';
import { randomFrom } from '../random.ts';
import { disc } from '../shapes.ts';
import {
  type Camera,
  type Clouds,
  cloudsOf,
  drawSky,
  HOURS,
  type HourName,
  type Sky,
  viewOf,
} from '../sky.ts';
import { drawTerrain } from '../terrain.ts';

export interface Road {
  seed: number;
  hour: HourName;
  sun: Sky['sun'];
  disc?: number;
  clouds?: Omit<Clouds, 'bright' | 'dark'>;
  verge: readonly [Colour, Colour];
  hills: Colour;
  hillHeight: number;
  paint: Colour;
  /** How the road bends away, in metres at a kilometre. */
  bend: number;
  wet?: number;
}

export function road(scene: Road): Paint {
  const light = HOURS[scene.hour];
  return (frame) => {
    const { width, height, unit } = frame;
    const view = viewOf(frame, { horizon: 0.47, lens: 1, height: 1.5 });
    drawSky(frame, view, {
      zenith: light.zenith,
      horizon: light.horizon,
      glow: light.glow,
      sun: scene.sun,
      seed: scene.seed,
      ...(scene.clouds && { clouds: cloudsOf(scene.hour, scene.clouds) }),
      ...(scene.disc && { disc: { colour: scale(light.sunlight, 14), radius: scene.disc } }),
    });
    drawHills(frame, view.horizon, scene);
    const bright = plus(scale(light.ambient, 0.8), light.sunlight, 0.5);
    for (let y = Math.floor(view.horizon); y < height; y += 1) {
      const down = Math.max(0.5, y - view.horizon);
      const z = (view.height * view.focal) / down;
      const centre =
        (scene.bend * (z / 1000) ** 2 * 1000) / (z + 60) + noise(z / 160, scene.seed) * z * 0.02;
      for (let x = 0; x < width; x += 1) {
        const wx = ((x - view.centre) / view.focal) * z - centre + 0.9;
        const side = Math.abs(wx);
        const tufts = mottle(wx * 1.4 + scene.seed, z * 0.5) + mottle(wx * 6, z * 1.7) * 0.7;
        const field = mix(
          scene.verge[0],
          scene.verge[1],
          0.45 + tufts * 0.8 + noise(wx / 30, z / 60) * 0.5,
        );
        const worn = smooth(0.5, 0, Math.abs(side - 1.7)) * 0.1;
        const stones =
          mottle(wx * 30, z * 22) * 0.22 * Math.exp(-z / 12) + mottle(wx * 1.5, z * 0.2) * 0.14;
        let asphalt = scale(hex('#56555a'), 0.85 + stones - worn);
        if (scene.wet) {
          const shine = frame.sample(x, 2 * view.horizon - y + mottle(wx * 4, z) * 6);
          asphalt = mix(
            scale(asphalt, 0.5),
            scale(shine, 1 / Math.max(0.3, bright.g)),
            scene.wet * (0.45 + noise(wx, z / 4) * 0.4),
          );
        }
        const dash = Math.abs(wx) < 0.075 && z % 9 < 4.2;
        const edgeLine = Math.abs(side - 3.25) < 0.07;
        const rubbed = 0.85 + mottle(wx * 20, z * 6) * 0.3;
        if (dash || edgeLine) asphalt = mix(asphalt, dash ? scene.paint : grey(0.7), rubbed * 0.85);
        const ground = mix(asphalt, field, smooth(3.45, 3.75, side + tufts * 0.3));
        const air = plus(light.horizon, light.glow, 0.1);
        const haze = 1 - Math.exp(-z / 700);
        frame.cover(x, y, mix(lit(ground, bright), air, haze), smooth(0, 0.004 * unit, down));
      }
    }
  };
}

function drawHills(frame: Frame, horizon: number, scene: Road): void {
  const { width, unit } = frame;
  const light = HOURS[scene.hour];
  for (let layer = 0; layer < 3; layer += 1) {
    const near = layer / 2;
    const base = mix(
      lit(scene.hills, plus(light.ambient, light.sunlight, 0.35)),
      light.horizon,
      0.6 - near * 0.35,
    );
    for (let x = 0; x < width; x += 1) {
      const u = (x / unit) * (1 + near) + layer * 7.7 + scene.seed;
      const outline = ridged(u * 0.9, layer + scene.seed, 6) * (1 - near * 0.6) - 0.16;
      const top = horizon - Math.max(0, outline) * scene.hillHeight * unit - 1;
      for (let y = Math.max(0, Math.floor(top)); y <= horizon + 2; y += 1) {
        const v = (y - top) / unit;
        const slope = noise(u * 9 + v * 14, v * 22) * 0.4 + mottle(u * 9, v * 20) * 0.4;
        frame.cover(
          x,
          y,
          scale(mix(base, light.horizon, clamp(v * 2.2)), 1 + slope),
          clamp(y - top),
        );
      }
    }
  }
}

export interface Balloon {
  /** Of the frame, and of the unit. */
  x: number;
  y: number;
  size: number;
  colours: readonly [Colour, ...Colour[]];
  /** 0 near, 1 lost in the haze. */
  haze: number;
}

/** Hot-air balloons over another scene. */
export function balloons(
  under: Paint,
  scene: { light: Colour; shade: Colour; air: Colour; from: number; balloons: readonly Balloon[] },
): Paint {
  return (frame) => {
    under(frame);
    for (const balloon of scene.balloons) drawBalloon(frame, scene, balloon);
  };
}

function drawBalloon(
  frame: Frame,
  scene: { light: Colour; shade: Colour; air: Colour; from: number },
  balloon: Balloon,
): void {
  const { width, height, unit } = frame;
  const cx = balloon.x * width;
  const cy = balloon.y * height;
  const radius = balloon.size * unit;
  const outline = (v: number) => {
    if (v < -1) return 0;
    if (v < 0.25) return Math.sqrt(Math.max(0, 1 - v * v));
    return Math.max(0, lerp(0.97, 0.17, ((v - 0.25) / 1.15) ** 1.12));
  };
  const cover = (x: number, y: number, colour: Colour, opacity: number) =>
    frame.cover(x, y, mix(colour, scene.air, balloon.haze), opacity);
  frame.within(
    {
      left: cx - radius * 1.05,
      right: cx + radius * 1.05,
      top: cy - radius * 1.02,
      bottom: cy + radius * 1.42,
    },
    (x, y) => {
      const v = (y - cy) / radius;
      const w = outline(v);
      const u = (x - cx) / radius;
      const inside = Math.min((w - Math.abs(u)) * radius, (1.4 - v) * radius);
      if (inside < -0.5) return;
      const across = clamp(u / (w || 1), -1, 1);
      const gore = Math.asin(across) / Math.PI;
      const index = Math.floor((gore + 0.5) * 12 + (v > 0.1 && v < 0.35 ? 1 : 0));
      const cloth = balloon.colours[index % balloon.colours.length] ?? balloon.colours[0];
      const seam = Math.abs(Math.cos(gore * Math.PI * 12)) ** 0.4;
      const facing = clamp(0.42 + across * scene.from * 0.5 - v * 0.3);
      const through = smooth(0.9, 0.2, Math.abs(across)) * 0.12;
      const light = plus(scene.shade, scene.light, facing + through);
      cover(x, y, scale(lit(cloth, light), 0.82 + seam * 0.18), clamp(inside + 0.5));
    },
  );
  const basket = radius * 0.13;
  const foot = cy + radius * 1.72;
  frame.within(
    { left: cx - radius * 0.2, right: cx + radius * 0.2, top: cy + radius * 1.38, bottom: foot },
    (x, y) => {
      const u = Math.abs(x - cx);
      const inBasket = y > foot - basket * 1.5;
      const weave = 0.75 + mottle(x * (9 / basket), y * (9 / basket)) * 0.5;
      if (inBasket)
        cover(
          x,
          y,
          scale(hex('#6b4526'), weave * (x > cx === scene.from > 0 ? 1 : 0.5)),
          clamp(basket - u + 0.5),
        );
      else cover(x, y, hex('#2c2620'), clamp(1 - Math.abs(u - basket * 0.95)) * 0.7);
    },
  );
}

export interface AboveClouds {
  seed: number;
  hour: HourName;
  sun: Sky['sun'];
  disc?: number;
  /** Metres from one billow to the next. */
  billow: number;
  camera?: Partial<Camera>;
  peaks?: number;
  clouds?: Omit<Clouds, 'bright' | 'dark'>;
}

/** Over a sea of clouds, out of which summits may stand. */
export function aboveClouds(scene: AboveClouds): Paint {
  const light = HOURS[scene.hour];
  const { seed, billow } = scene;
  const peak = (x: number, z: number, octaves: number) =>
    scene.peaks
      ? (ridged(x / 5200 + seed * 1.3, z / 5200 + seed, octaves) - 0.4) *
        scene.peaks *
        smooth(1500, 6000, z)
      : -900;
  const puffs = (x: number, z: number, octaves: number) => {
    let height = 0;
    let size = billow;
    for (let octave = 0; octave < Math.min(octaves, 6); octave += 1) {
      const n = 1 - Math.abs(noise(x / size + octave * 7 + seed, z / size + seed)) * 2;
      height += n * size * 0.1 * (octave === 0 ? 1.3 : 1);
      size *= 0.5;
    }
    return height + fractal(x / (billow * 6), z / (billow * 6) + seed, 2) * billow * 0.4;
  };
  return (frame) => {
    const view = viewOf(frame, { horizon: 0.42, lens: 1, height: billow * 0.9, ...scene.camera });
    drawSky(frame, view, {
      zenith: light.zenith,
      horizon: light.horizon,
      glow: light.glow,
      sun: scene.sun,
      seed,
      ...(scene.clouds && { clouds: cloudsOf(scene.hour, scene.clouds) }),
      ...(scene.disc && { disc: { colour: scale(light.sunlight, 16), radius: scene.disc } }),
    });
    drawTerrain(
      frame,
      view,
      {
        height: (x, z, octaves) => Math.max(peak(x, z, octaves), puffs(x, z, octaves)),
        surface: ({ x, z, height, octaves }) => {
          const rock = peak(x, z, octaves) > puffs(x, z, octaves) - 1;
          if (!rock) return hex('#ffffff', 0.92);
          const snow = smooth(-0.2, 0.2, mottle(x / 300, z / 300) + height / 3000 - 0.15);
          return mix(hex('#57534f'), hex('#eef2f8'), snow);
        },
        near: billow * 0.35,
        far: billow * 90,
        detail: 9,
        shadows: billow * 0.8,
        soft: 0.55,
      },
      {
        sun: scene.sun,
        sunlight: scale(light.sunlight, 0.62),
        ambient: light.ambient,
        haze: {
          reach: billow * 34,
          colour: mix(light.horizon, light.zenith, 0.12),
          glow: scale(light.glow, 0.4),
        },
      },
    );
  };
}

export interface Wall {
  seed: number;
  plaster: Colour;
  shutters: Colour;
  flowers: Colour;
  /** Windows side by side. */
  windows: number;
  light: Colour;
  shade: Colour;
}

/** A house front in the sun, with shutters and the shadow of a tree. */
export function wall(scene: Wall): Paint {
  return (frame) => {
    const { width, height, unit } = frame;
    const random = randomFrom(scene.seed);
    const tall = unit * 0.42;
    const broad = tall * 0.56;
    const sill = height * 0.6;
    const centres = Array.from(
      { length: scene.windows },
      (_, index) => ((index + 0.5) / scene.windows) * width,
    );
    frame.paint((x, y) => {
      const u = x / unit;
      const v = y / unit;
      const stains = fractal(u * 2 + scene.seed, v * 1.1, 5) * 0.22 + mottle(u * 30, v * 30) * 0.07;
      const runs = smooth(0.15, 0.5, noise(u * 14, v * 0.7 + scene.seed)) * 0.14;
      let colour = scale(scene.plaster, 0.95 + stains - runs);
      const bare = smooth(0.62, 0.66, fractal(u * 1.6 + 9, v * 1.6 + scene.seed, 5) + v * 0.12);
      const bricks =
        Math.abs(((v * 17) % 1) - 0.5) > 0.42 ||
        Math.abs(((u * 7 + Math.floor(v * 17) * 0.5) % 1) - 0.5) > 0.46;
      colour = mix(
        colour,
        bricks ? hex('#b9a58c') : hex('#a5573a', 0.8 + mottle(u * 20, v * 20) * 0.4),
        bare,
      );
      let relief = 0;
      for (const centre of centres) {
        const part = windowAt(scene, (x - centre) / broad, (y - sill) / tall, u, v);
        if (part) {
          colour = part.colour;
          relief = part.deep;
        }
      }
      const tree =
        mottle((u - v * 0.5) * 1.7 + scene.seed, (v + u * 0.3) * 1.7) +
        mottle(u * 5 - v * 2, v * 5 + u) * 0.5;
      const dapple = smooth(0.02, 0.2, tree + (1 - u * 0.5 - v * 0.6) * 0.42);
      const eaves = smooth(0.08, 0.1, v - u * 0.03);
      const sunny = (1 - dapple * 0.85) * eaves * (1 - relief);
      return lit(colour, plus(scene.shade, scene.light, sunny));
    });
    for (const centre of centres) {
      for (let petal = 0; petal < 420; petal += 1) {
        const x = centre + (random() + random() - 1) * broad * 0.66;
        const hang = Math.abs(random() + random() - 1);
        const y = sill - tall * 0.045 + hang * tall * 0.24 - random() * tall * 0.06;
        const leafy = random() < 0.5;
        const colour = leafy ? hex('#3f6a2a') : scene.flowers;
        const light = plus(scene.shade, scene.light, random() * 0.9);
        disc(frame, { x, y }, unit * (0.004 + random() * 0.006), 0.4, (px, py, opacity) => {
          frame.cover(px, py, lit(colour, light), opacity);
        });
      }
    }
  };
}

/** In widths and heights of the window, from the middle of its sill; undefined beside it. */
function windowAt(
  scene: Wall,
  x: number,
  y: number,
  u: number,
  v: number,
): { colour: Colour; deep: number } | undefined {
  if (y < -1.06 || y > 0.06) return undefined;
  const side = Math.abs(x);
  if (y > 0) {
    return side < 0.66
      ? {
          colour: scale(hex('#cfc6b4'), 0.9 + mottle(u * 30, v * 30) * 0.2),
          deep: y > 0.045 ? 0.8 : 0,
        }
      : undefined;
  }
  if (side < 0.5 && y > -1) {
    const frameBar =
      side > 0.45 || side < 0.025 || y < -0.965 || Math.abs(y + 0.62) < 0.014 || y > -0.03;
    if (frameBar) return { colour: hex('#e9e3d6'), deep: side > 0.47 || y < -0.985 ? 0.6 : 0.15 };
    const curtain =
      smooth(0.2, 0.42, side + noise(y * 2, x * 3) * 0.06) * (0.7 + Math.sin(x * 70) * 0.25);
    const mirror = smooth(-0.1, 0.35, mottle(u * 2.6 + 3, v * 2.6)) * 0.6 + -y * 0.3;
    const glass = mix(hex('#10161c'), hex('#8fb4d8', 0.7), clamp(mirror * 0.6));
    return {
      colour: mix(glass, hex('#d9d2c4', 0.5), curtain * 0.7),
      deep: y < -0.9 || x < -0.38 ? 0.7 : 0.25,
    };
  }
  if (side < 0.54) return { colour: scale(scene.plaster, 1.1), deep: 0 };
  if (side < 1.02) {
    const within = (side - 0.78) / 0.24;
    const border = Math.abs(within) > 0.8 || y < -0.97 || y > -0.05 || Math.abs(y + 0.5) < 0.025;
    const slat = (y * 24) % 1;
    const wear = 0.88 + mottle(u * 8 + scene.seed, v * 40) * 0.3;
    const shade = border ? 1 : 0.5 + 0.6 * (slat + 1);
    return {
      colour: scale(scene.shutters, wear * shade),
      deep: border ? 0 : slat > -0.2 ? 0.55 : 0,
    };
  }
  // The shutters stand a hand's breadth off the wall.
  if (side < 1.06 && x > 0) return { colour: scale(scene.plaster, 0.9), deep: 0.8 };
  return undefined;
}
