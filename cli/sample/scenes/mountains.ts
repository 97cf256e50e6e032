import { type Colour, hex, mix, plus, scale } from '../colour.ts';
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
import { drawTerrain, type Ground, type Terrain } from '../terrain.ts';
import { drawWater } from '../water.ts';

export interface Mountains {
  seed: number;
  hour: HourName;
  sun: Sky['sun'];
  /** Metres: of the summits, of the first snow, of the last trees. */
  summits?: number;
  snow?: number;
  trees?: number;
  /** How wide a massif is, in metres. */
  breadth?: number;
  meadow?: Colour;
  forest?: Colour;
  rock?: Colour;
  clouds?: Omit<Clouds, 'bright' | 'dark'>;
  camera?: Partial<Camera>;
  /** Metres after which the haze wins. */
  visibility?: number;
  /** Metres of mist over the valley. */
  mist?: number;
  disc?: number;
  /** Metres to the far shore of a lake, or none. */
  lake?: number;
  /** Of the lake. */
  roughness?: number;
}

/** A range of mountains over a valley or a lake. */
export function mountains(scene: Mountains): Paint {
  const { seed, hour } = scene;
  const light = HOURS[hour];
  const summits = scene.summits ?? 2200;
  const breadth = scene.breadth ?? 5200;
  const camera = { horizon: 0.62, lens: 1.05, height: scene.lake ? 4 : 160, ...scene.camera };
  const sky: Sky = {
    zenith: light.zenith,
    horizon: light.horizon,
    glow: light.glow,
    sun: scene.sun,
    seed,
    ...(scene.clouds && { clouds: cloudsOf(hour, scene.clouds) }),
    ...(scene.disc && { disc: { colour: scale(light.sunlight, 14), radius: scene.disc } }),
  };
  const start = scene.lake ?? 1500;
  const height = (x: number, z: number, octaves: number) => {
    const rise = smooth(start * 0.95, start + breadth * 1.3, z);
    const hills = fractal(x / 900 + seed * 3.1, z / 900, Math.min(octaves, 5));
    const massif = ridged(x / breadth + seed * 1.7, z / breadth + seed, octaves);
    const bay = scene.lake ? fractal(x / 1300 + seed, seed * 2.3, 2) * start * 0.35 : 0;
    const floor = scene.lake ? (z - start - bay) * 0.1 - 3 : hills * 110 - 20;
    const shore = scene.lake ? clamp((z - start - bay) / 900) : 1;
    return Math.min(floor, 60) + shore * (hills * 90 + 60) + rise * massif ** 1.25 * summits * 1.5;
  };
  const terrain: Terrain = {
    height,
    surface: surfaceOf(scene, summits),
    near: scene.lake ? start * 0.5 : 420,
    far: 34_000,
    detail: 10,
    shadows: light.sunlight.r > 0.8 ? 2600 : 0,
    soft: 0.15,
    water: scene.lake !== undefined,
  };
  return (frame) => {
    const view = viewOf(frame, camera);
    drawSky(frame, view, sky);
    const depth = drawTerrain(frame, view, terrain, {
      sun: scene.sun,
      sunlight: light.sunlight,
      ambient: light.ambient,
      haze: {
        reach: scene.visibility ?? 22_000,
        colour: mix(light.horizon, light.zenith, 0.35),
        glow: scale(light.glow, 0.35),
        ...(scene.mist && { floor: scene.mist }),
      },
    });
    if (scene.lake === undefined) return;
    drawWater(frame, view, {
      roughness: scene.roughness ?? 0.012,
      swell: 2.2,
      body: scale(mix(hex('#2c5a60'), light.zenith, 0.4), 0.35),
      where: (x, y) => (depth[y * frame.width + x] ?? 0) <= 0,
      seed,
    });
  };
}

function surfaceOf(scene: Mountains, summits: number): (ground: Ground) => Colour {
  const { seed } = scene;
  const snowLine = scene.snow ?? summits * 0.55;
  const treeLine = scene.trees ?? summits * 0.35;
  const meadow = scene.meadow ?? hex('#6f7c3e');
  const forest = scene.forest ?? hex('#26351f');
  const rock = scene.rock ?? hex('#77706a');
  const white = hex('#f4f7fb', 1.05);
  return ({ x, z, height, level, octaves }) => {
    const patches = mottle(x / 240 + seed, z / 240);
    const fine = octaves > 6 ? mottle(z / 31, x / 31) * 1.7 : mottle(z / 140, x / 140) * 1.4;
    const strata = noise(height / 60 + patches, seed) * 0.5;
    const cracks = mottle(x / 160 + height / 90, height / 420 + z / 160);
    let colour = scale(rock, 0.85 + strata * 0.3 + fine * 0.2 + cracks * 0.7);
    const grass = smooth(0.62, 0.8, level + patches * 0.15) * smooth(snowLine, treeLine, height);
    colour = mix(colour, scale(meadow, 0.9 + patches * 0.5 + fine * 0.12), grass);
    const wooded =
      smooth(0.05, 0.22, patches + 0.22) *
      smooth(treeLine, treeLine * 0.75, height + patches * 300) *
      smooth(0.5, 0.65, level);
    colour = mix(colour, scale(forest, 0.75 + fine * 0.6), wooded);
    const snowy =
      smooth(snowLine - 120, snowLine + 220, height + patches * 420) *
      smooth(0.42, 0.66, level + patches * 0.12);
    return mix(colour, plus(white, hex('#ffffff'), fine * 0.03), snowy);
  };
}

export interface Ridges {
  seed: number;
  hour: HourName;
  sun: Sky['sun'];
  near: Colour;
  far: Colour;
  ridges: number;
  /** Of the frame's height, where the last and the first ridge stand. */
  from?: number;
  to?: number;
  steepness?: number;
  disc?: number;
  clouds?: Omit<Clouds, 'bright' | 'dark'>;
  mist?: number;
}

/** Wooded ridges one behind the other, each paler than the one before it. */
export function ridges(scene: Ridges): Paint {
  const light = HOURS[scene.hour];
  const { seed } = scene;
  const from = scene.from ?? 0.42;
  const to = scene.to ?? 0.95;
  return (frame) => {
    const { width, height, unit } = frame;
    const view = viewOf(frame, { horizon: from + 0.06, lens: 1.4, height: 1 });
    drawSky(frame, view, {
      zenith: light.zenith,
      horizon: light.horizon,
      glow: light.glow,
      sun: scene.sun,
      seed,
      ...(scene.clouds && { clouds: cloudsOf(scene.hour, scene.clouds) }),
      ...(scene.disc && { disc: { colour: scale(light.sunlight, 16), radius: scene.disc } }),
    });
    const sunX = view.centre + scene.sun.x * view.focal;
    for (let ridge = 0; ridge < scene.ridges; ridge += 1) {
      const near = ridge / (scene.ridges - 1);
      const base = lerp(from, to, near ** 1.25) * height;
      const span = lerp(0.55, 1.1, near) * unit;
      const rise = (scene.steepness ?? 0.16) * lerp(0.55, 1.25, near) * unit;
      const colour = mix(scene.far, scene.near, near ** 0.8);
      for (let x = 0; x < width; x += 1) {
        const px = x / span + ridge * 9.7 + seed * 3.3;
        const outline =
          ridged(px * 0.8, ridge * 3.1 + seed, 5) * 1.1 + fractal(px * 2, seed, 4) * 0.3;
        // Crowns of trees against the light, finer the further away.
        const crowns = near > 0.25 ? Math.abs(noise((x / unit) * lerp(260, 75, near), ridge)) : 0;
        const top = base - outline * rise - crowns * near * near * 0.016 * unit;
        const sunward = Math.exp(-(((x - sunX) / (0.35 * unit)) ** 2));
        const body = plus(colour, light.glow, sunward * 0.16 * (1 - near * 0.7));
        const first = Math.max(0, Math.floor(top));
        frame.cover(x, first, body, first + 1 - top);
        for (let y = first + 1; y < height; y += 1) {
          const below = (y - top) / unit;
          const wx = x / unit;
          const wood =
            near > 0.2 ? mottle(wx * lerp(50, 22, near), (y / unit) * 38 + ridge * 7) * near : 0;
          const mist = smooth(0, 0.34, below) * (scene.mist ?? 0.5) * (1 - near * 0.55);
          const veil = plus(light.horizon, light.glow, sunward * 0.25);
          frame.set(x, y, mix(scale(body, 1 + wood * 0.55), veil, mist));
        }
      }
    }
  };
}
