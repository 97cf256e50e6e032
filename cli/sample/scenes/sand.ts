import { type Colour, hex, mix, scale } from '../colour.ts';
import type { Paint } from '../frame.ts';
import { clamp, fractal, lerp, mottle, noise, ridged, smooth } from '../noise.ts';
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
import { drawTerrain, type Terrain } from '../terrain.ts';

export interface Desert {
  seed: number;
  hour: HourName;
  sun: Sky['sun'];
  sand: Colour;
  camera?: Partial<Camera>;
  clouds?: Omit<Clouds, 'bright' | 'dark'>;
  visibility?: number;
  /** Metres from dune to dune. */
  spacing?: number;
}

/** Dunes: gentle to windward, steep to leeward, with a sharp crest between. */
export function dunes(scene: Desert): Paint {
  const { seed } = scene;
  const spacing = scene.spacing ?? 190;
  const height = (x: number, z: number, octaves: number) => {
    const bend = fractal(x / 420 + seed, z / 420 + seed * 2, 3) * 1.3;
    // Crests run away from the camera, so that one flank is lit and the other is not.
    const along = x / spacing + z / (spacing * 2.6) + bend;
    const phase = along - Math.floor(along);
    const profile =
      phase < 0.68 ? smooth(-0.12, 0.72, phase) * 1.02 : 1 - smooth(0.66, 1.04, phase);
    const size = 0.75 + fractal(x / 500 + seed * 5, z / 500, 2) * 0.8;
    const ripples = octaves > 6 ? mottle(x / 5 + bend * 4, z / 1.6) * 0.09 * clamp(octaves - 6) : 0;
    return profile * spacing * 0.27 * Math.max(0.2, size) + ripples;
  };
  const tone = (x: number, z: number) => 0.92 + mottle(x / 40 + seed, z / 14) * 0.16;
  return land(scene, {
    height,
    surface: ({ x, z, level }) => scale(scene.sand, tone(x, z) * (0.9 + 0.1 * level)),
    near: 6,
    far: 6000,
    detail: 11,
    shadows: 130,
    soft: 0.05,
  });
}

/** Cliffs and towers of layered rock over a plain. */
export function canyon(scene: Desert & { depth?: number }): Paint {
  const { seed } = scene;
  const depth = scene.depth ?? 420;
  const layers = [hex('#b5623c'), hex('#d08a58'), hex('#9c4b34'), hex('#dba677'), hex('#8a4a3a')];
  const height = (x: number, z: number, octaves: number) => {
    const px = x / 1500 + seed * 2.7;
    const pz = z / 1500 + seed;
    const plateau = fractal(px, pz, Math.min(octaves, 7)) + ridged(px * 2, pz * 2, 2) * 0.22 - 0.1;
    // Terraces: hard layers stand as walls, soft ones lie as slopes.
    const raised = clamp((plateau + 0.18) * 1.9);
    const step = raised * 4;
    const terrace = Math.floor(step) + smooth(0.55, 0.85, step - Math.floor(step));
    return (terrace / 4) * depth + fractal(x / 90, z / 90, Math.min(4, octaves)) * 9;
  };
  return land(scene, {
    height,
    surface: ({ x, z, height: at, level }) => {
      const band = (at + mottle(x / 700, z / 700 + seed) * 22) / 24;
      const index = Math.floor(band);
      const first = layers[((index % 5) + 5) % 5] ?? scene.sand;
      const next = layers[(((index + 1) % 5) + 5) % 5] ?? scene.sand;
      const rock = mix(first, next, smooth(0.5, 1, band - index));
      const streaks = 0.9 + mottle((x + z) / 40, at / 90) * 0.35 + noise(at / 4, seed) * 0.2;
      const scrub = smooth(0.05, 0.3, mottle(x / 40, z / 40)) * smooth(0.85, 0.97, level);
      const flat = mix(scene.sand, hex('#6d6a45'), scrub * 0.7);
      return mix(scale(rock, streaks), flat, smooth(0.8, 0.95, level));
    },
    near: 160,
    far: 24_000,
    detail: 10,
    shadows: 900,
    soft: 0.08,
  });
}

function land(scene: Desert, terrain: Terrain): Paint {
  const light = HOURS[scene.hour];
  const camera = { horizon: 0.4, lens: 0.95, height: 60, ...scene.camera };
  return (frame) => {
    const view = viewOf(frame, camera);
    drawSky(frame, view, {
      zenith: light.zenith,
      horizon: light.horizon,
      glow: light.glow,
      sun: scene.sun,
      seed: scene.seed,
      ...(scene.clouds && { clouds: cloudsOf(scene.hour, scene.clouds) }),
    });
    drawTerrain(frame, view, terrain, {
      sun: scene.sun,
      sunlight: light.sunlight,
      ambient: light.ambient,
      haze: {
        reach: scene.visibility ?? lerp(terrain.far, 9000, 0.5),
        colour: mix(light.horizon, light.zenith, 0.2),
        glow: scale(light.glow, 0.3),
      },
    });
  };
}
