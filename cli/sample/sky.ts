import { type Colour, hex, mix, plus, scale } from './colour.ts';
import type { Frame } from './frame.ts';
import { clamp, fractal, smooth } from './noise.ts';

/**
 * Where the camera looks: level, with a shifted lens, so that uprights stay upright and the
 * horizon is a line. `z` goes into the picture, `x` to the right, `y` up; metres.
 */
export interface Camera {
  /** Of the frame's height, from the top. */
  horizon: number;
  /** Of the frame's unit: 0.8 is a wide lens, 2 a long one. */
  lens: number;
  /** Above the ground or the water. */
  height: number;
}

export interface View {
  centre: number;
  horizon: number;
  focal: number;
  height: number;
}

export function viewOf(frame: Frame, camera: Camera): View {
  return {
    centre: frame.width / 2,
    horizon: camera.horizon * frame.height,
    focal: camera.lens * frame.unit,
    height: camera.height,
  };
}

export interface Sky {
  zenith: Colour;
  horizon: Colour;
  /** The warm part of the sky around the sun. */
  glow: Colour;
  /** Direction of the sun; a negative `z` is behind the camera. */
  sun: { x: number; y: number; z: number };
  /** The disc's light, and its radius in degrees; none where it is not seen. */
  disc?: { colour: Colour; radius: number };
  clouds?: Clouds;
  seed: number;
}

export interface Clouds {
  /** 0 is clear, 1 is overcast. */
  cover: number;
  /** How large they are: 0.2 is a bank, 2 is mackerel. */
  scale: number;
  bright: Colour;
  dark: Colour;
  /** 0.05 has hard edges, 0.5 is a veil. */
  softness: number;
  /** Drawn out across the picture, by this factor. */
  stretch?: number;
}

/** Towards x to the right and y up, for one into the picture. */
function skyAt(sky: Sky, x: number, y: number): Colour {
  const length = Math.sqrt(x * x + y * y + 1);
  const rise = Math.max(0, y / length);
  const { sun } = sky;
  const sunLength = Math.sqrt(sun.x * sun.x + sun.y * sun.y + sun.z * sun.z);
  const towards = clamp((x * sun.x + y * sun.y + sun.z) / (length * sunLength), -1, 1);
  const away = Math.acos(towards);
  let colour = mix(sky.horizon, sky.zenith, 1 - Math.exp(-rise * 4.2));
  const halo = 0.55 * Math.exp(-away * 3.2) * Math.exp(-rise * 1.5) + 0.7 * Math.exp(-away * 11);
  colour = plus(colour, sky.glow, halo);
  if (sky.clouds !== undefined) colour = clouded(sky, sky.clouds, colour, x, y, away);
  if (sky.disc !== undefined) {
    const radius = (sky.disc.radius * Math.PI) / 180;
    const inside = 1 - smooth(radius * 0.9, radius * 1.12, away);
    colour = plus(colour, sky.disc.colour, inside + 0.05 * Math.exp(-away / (radius * 2.2)));
  }
  return colour;
}

function clouded(
  sky: Sky,
  clouds: Clouds,
  clear: Colour,
  x: number,
  y: number,
  away: number,
): Colour {
  if (y < 0.004) return clear;
  // A layer at one height: it closes up and grows small towards the horizon.
  const far = 1 / (y + 0.06);
  const px = (x * far * clouds.scale) / (clouds.stretch ?? 1) + sky.seed * 13.7;
  const pz = far * clouds.scale + sky.seed * 7.1;
  const density = fractal(px, pz, 6) + fractal(px * 0.31 + 9, pz * 0.31, 2) * 0.7;
  const edge = 0.62 - clouds.cover * 1.15;
  const opacity = smooth(edge, edge + clouds.softness + 0.08, density);
  if (opacity <= 0) return clear;
  const towardsX = (sky.sun.x - x) * 0.22;
  const towardsZ = -0.16;
  const nearer =
    fractal(px + towardsX, pz + towardsZ, 3) + fractal(px * 0.31 + 9, pz * 0.31, 2) * 0.7;
  const thick = clamp((density - edge) * 1.4);
  const facing = clamp(0.62 + (density - nearer) * 0.9 - thick * 0.45);
  let colour = mix(clouds.dark, clouds.bright, facing);
  // Thin edges before the sun shine.
  colour = plus(colour, sky.glow, (1 - thick) * 1.1 * Math.exp(-away * 4));
  const haze = clamp(Math.exp(-y * 9) * 0.85);
  return mix(clear, mix(colour, clear, haze), opacity * 0.96);
}

export function drawSky(frame: Frame, view: View, sky: Sky, down = frame.height): void {
  const bottom = Math.min(frame.height, Math.ceil(Math.min(down, view.horizon + 2)));
  for (let y = 0; y < bottom; y += 1) {
    const dy = (view.horizon - y) / view.focal;
    for (let x = 0; x < frame.width; x += 1) {
      frame.set(x, y, skyAt(sky, (x - view.centre) / view.focal, dy));
    }
  }
  const last = Math.max(0, bottom - 1);
  for (let y = bottom; y < frame.height; y += 1) {
    for (let x = 0; x < frame.width; x += 1) frame.set(x, y, frame.at(x, last));
  }
}

type Hour = Pick<Sky, 'zenith' | 'horizon' | 'glow'> & { sunlight: Colour; ambient: Colour };

/** The light of the day: the sky's colours, the sun's on the ground, and that of the shadows. */
export const HOURS = {
  dawn: {
    zenith: hex('#4d6a97', 0.75),
    horizon: hex('#f2b9a0', 0.8),
    glow: hex('#ff9a5a', 0.9),
    sunlight: hex('#ffb27a', 1.5),
    ambient: hex('#7c8db5', 0.5),
  },
  morning: {
    zenith: hex('#3f78bd', 0.85),
    horizon: hex('#e3e3dc', 0.85),
    glow: hex('#ffe2b0', 0.7),
    sunlight: hex('#ffe3b8', 1.9),
    ambient: hex('#8fb0dd', 0.55),
  },
  noon: {
    zenith: hex('#1f5fae', 0.85),
    horizon: hex('#c3dbec', 0.85),
    glow: hex('#fff4dc', 0.45),
    sunlight: hex('#fff3dd', 2.2),
    ambient: hex('#8db5e6', 0.6),
  },
  golden: {
    zenith: hex('#5c82b4', 0.7),
    horizon: hex('#ffd79a', 0.85),
    glow: hex('#ffb347', 1.1),
    sunlight: hex('#ffb765', 2.1),
    ambient: hex('#8593c4', 0.45),
  },
  sunset: {
    zenith: hex('#3b4a82', 0.55),
    horizon: hex('#ff9c5c', 0.8),
    glow: hex('#ff5f2e', 1.3),
    sunlight: hex('#ff8a45', 1.6),
    ambient: hex('#6f6aa5', 0.4),
  },
  pink: {
    zenith: hex('#6c7fc0', 0.6),
    horizon: hex('#ffb0b4', 0.8),
    glow: hex('#ff7a92', 0.8),
    sunlight: hex('#ffb0a8', 1.2),
    ambient: hex('#9a90c8', 0.55),
  },
  blue: {
    zenith: hex('#12264f', 0.5),
    horizon: hex('#7f9ccd', 0.5),
    glow: hex('#ff9f6b', 0.35),
    sunlight: hex('#8fa8dd', 0.35),
    ambient: hex('#4d6aa8', 0.4),
  },
  overcast: {
    zenith: hex('#8b97a3', 0.7),
    horizon: hex('#ccd2d6', 0.75),
    glow: hex('#ffffff', 0.1),
    sunlight: hex('#eef0f0', 0.55),
    ambient: hex('#aab4bf', 0.75),
  },
  storm: {
    zenith: hex('#343d49', 0.5),
    horizon: hex('#94a3a8', 0.55),
    glow: hex('#d9d2b0', 0.2),
    sunlight: hex('#c7c9bb', 0.5),
    ambient: hex('#66727e', 0.5),
  },
} as const satisfies Record<string, Hour>;

export type HourName = keyof typeof HOURS;

/** Clouds in the colours of the hour. */
export function cloudsOf(
  hour: HourName,
  shape: Omit<Clouds, 'bright' | 'dark'> & { bright?: Colour; dark?: Colour },
): Clouds {
  const { sunlight, ambient, horizon } = HOURS[hour];
  return {
    bright: mix(scale(sunlight, 0.62), horizon, 0.3),
    dark: mix(scale(ambient, 0.75), horizon, 0.18),
    ...shape,
  };
}
