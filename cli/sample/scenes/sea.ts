import { type Colour, grey, hex, mix, plus, scale } from '../colour.ts';
import type { Frame, Paint } from '../frame.ts';
import { cells, clamp, fractal, lerp, noise, ridged, smooth } from '../noise.ts';
import {
  type Camera,
  type Clouds,
  cloudsOf,
  drawSky,
  HOURS,
  type HourName,
  type Sky,
  type View,
  viewOf,
} from '../sky.ts';
import { drawWater } from '../water.ts';

export interface Sea {
  seed: number;
  hour: HourName;
  sun: Sky['sun'];
  disc?: number;
  clouds?: Omit<Clouds, 'bright' | 'dark'>;
  camera?: Partial<Camera>;
  roughness?: number;
  swell?: number;
  body?: Colour;
  /** Land on the horizon: its height as a part of the unit, and which side. */
  island?: { height: number; at: number; width: number };
  /** Drawn before the water, so that they are mirrored, and after it. */
  standing?: (frame: Frame, view: View) => void;
  floating?: (frame: Frame, view: View) => void;
}

export function sea(scene: Sea): Paint {
  const light = HOURS[scene.hour];
  return (frame) => {
    const view = viewOf(frame, { horizon: 0.5, lens: 1.1, height: 5, ...scene.camera });
    drawSky(frame, view, {
      zenith: light.zenith,
      horizon: light.horizon,
      glow: light.glow,
      sun: scene.sun,
      seed: scene.seed,
      ...(scene.clouds && { clouds: cloudsOf(scene.hour, scene.clouds) }),
      ...(scene.disc && { disc: { colour: scale(light.sunlight, 18), radius: scene.disc } }),
    });
    if (scene.island) drawIsland(frame, view, scene, scene.island);
    scene.standing?.(frame, view);
    drawWater(frame, view, {
      roughness: scene.roughness ?? 0.07,
      swell: scene.swell ?? 9,
      body: scene.body ?? scale(mix(hex('#0d3b52'), light.zenith, 0.4), 0.4),
      seed: scene.seed,
    });
    scene.floating?.(frame, view);
  };
}

function drawIsland(
  frame: Frame,
  view: View,
  scene: Sea,
  island: { height: number; at: number; width: number },
): void {
  const light = HOURS[scene.hour];
  const body = mix(scale(light.ambient, 0.22), light.horizon, 0.3);
  for (let x = 0; x < frame.width; x += 1) {
    const off = (x / frame.width - island.at) / island.width;
    const hull = Math.exp(-off * off * 2.2) - 0.12;
    const outline = hull + fractal((x / frame.unit) * 7 + scene.seed, scene.seed, 5) * 0.34 * hull;
    const top = view.horizon - Math.max(0, outline) * island.height * frame.unit;
    const first = Math.floor(top);
    frame.cover(x, first, body, first + 1 - top);
    for (let y = first + 1; y <= view.horizon; y += 1) {
      const rough = fractal((x / frame.unit) * 40, (y / frame.unit) * 40, 3) * 0.3;
      frame.set(x, y, mix(scale(body, 1 + rough), light.horizon, ((y - top) / frame.unit) * 1.2));
    }
  }
}

export interface Beach extends Sea {
  sand: Colour;
  /** Of the frame's height, where the water ends at the left and at the right edge. */
  shore: readonly [left: number, right: number];
}

/** The surf runs out over wet sand, which mirrors the sky. */
export function beach(scene: Beach): Paint {
  const open = sea(scene);
  const light = HOURS[scene.hour];
  return (frame) => {
    open(frame);
    const view = viewOf(frame, { horizon: 0.5, lens: 1.1, height: 5, ...scene.camera });
    const { width, height, unit } = frame;
    const sky = frame.at(width >> 1, Math.max(0, Math.floor(view.horizon * 0.35)));
    const sunlit = plus(scale(light.ambient, 0.8), light.sunlight, 0.42);
    const sand = {
      r: scene.sand.r * sunlit.r,
      g: scene.sand.g * sunlit.g,
      b: scene.sand.b * sunlit.b,
    };
    for (let x = 0; x < width; x += 1) {
      const across = x / width;
      const line = lerp(scene.shore[0], scene.shore[1], across) * height;
      const tongue = fractal((x / unit) * 2.4 + scene.seed, scene.seed, 4) * 0.055 * unit;
      for (let y = Math.ceil(view.horizon); y < height; y += 1) {
        const below = (y - line - tongue) / unit;
        const near = (y - view.horizon) / (height - view.horizon);
        const wx = (x / unit - 0.5) / (0.15 + near);
        const wz = 3 / (0.12 + near);
        const grains = fractal(wx * 60, wz * 70, 3) * 0.1 + fractal(wx * 4, wz * 5, 3) * 0.14;
        if (below > -0.02) {
          const dry = smooth(0.05, 0.26, below + grains * 0.12);
          const wet = mix(
            scale(sand, 0.4),
            frame.sample(x, view.horizon - (y - view.horizon)),
            0.38,
          );
          const ground = mix(mix(wet, sky, 0.1), scale(sand, 1 + grains), dry);
          frame.cover(x, y, ground, smooth(-0.012, 0.016, below));
        }
        const foam = foamAt(wx, wz, below, near, scene.seed);
        if (foam > 0) frame.cover(x, y, scale(plus(sunlit, grey(0.1)), 0.8), foam);
      }
    }
  };
}

/** Three lines of breakers and the lace that each leaves behind. */
function foamAt(wx: number, wz: number, below: number, near: number, seed: number): number {
  let foam = 0;
  for (let line = 0; line < 3; line += 1) {
    const at = -0.004 - line * 0.075 + fractal(wx * 1.3 + line * 7 + seed, line, 3) * 0.03;
    const off = below - at;
    const thick = 0.006 + 0.012 * near;
    const crest = Math.exp(-((off / thick) ** 2));
    const lace = cells(wx * 9 + noise(wx * 4, wz * 4), wz * 7 + noise(wx * 5, wz * 3 + 9));
    const holes = smooth(0.0, 0.28, lace.second - lace.nearest);
    const trail = (off < 0 ? Math.exp(off / 0.045) : 0) * (1 - holes) * 0.8;
    foam = Math.max(foam, crest * (0.65 + noise(wx * 20, wz * 20) * 0.6), trail);
  }
  return clamp(foam) * smooth(0, 0.12, near);
}

export interface Coast {
  seed: number;
  shallow: Colour;
  deep: Colour;
  sand: Colour;
  land: Colour;
  /** Radians: which way the land lies. */
  turn: number;
  umbrellas?: number;
  rocks?: number;
}

/** A shore straight from above. */
export function coast(scene: Coast): Paint {
  const cos = Math.cos(scene.turn);
  const sin = Math.sin(scene.turn);
  return (frame) => {
    const { width, height, unit } = frame;
    const shoreAt = (x: number, y: number) => {
      const u = (x - width / 2) / unit;
      const v = (y - height / 2) / unit;
      const bend = fractal(u * 1.4 + scene.seed, v * 1.4, 4) * 0.24;
      return u * cos + v * sin + bend;
    };
    frame.paint((x, y) => {
      const u = x / unit;
      const v = y / unit;
      const off = shoreAt(x, y);
      if (off > 0) return landAt(u, v, off);
      const depth = clamp(-off * 2.1);
      let water = mix(
        scene.shallow,
        scene.deep,
        smooth(0, 0.8, depth + fractal(u * 3, v * 3, 4) * 0.18),
      );
      const reef = smooth(0.12, 0.3, fractal(u * 5 + scene.seed, v * 5, 5) - depth * 0.16);
      water = mix(water, scale(scene.deep, 0.55), reef * 0.75 * smooth(0.06, 0.2, depth));
      const net = cells(u * 34 + noise(u * 9, v * 9) * 1.6, v * 34 + noise(u * 9, v * 9 + 4) * 1.6);
      const caustic = (1 - smooth(0, 0.2, net.second - net.nearest)) * 0.14 * (1 - depth);
      water = scale(water, 1 + caustic + fractal(u * 26, v * 60, 3) * 0.14);
      return mix(water, grey(0.95), surf(u, v, off));
    });
    if (scene.umbrellas) drawUmbrellas(frame, shoreAt, scene.umbrellas, scene.seed);
  };

  function landAt(u: number, v: number, off: number): Colour {
    const grains = fractal(u * 90, v * 90, 3) * 0.12 + fractal(u * 7, v * 7, 4) * 0.16;
    const wet = smooth(0.045, 0.012, off + fractal(u * 9, v * 9, 2) * 0.02);
    let ground = mix(scale(scene.sand, 1 + grains), scale(scene.sand, 0.55), wet);
    const inland = off + fractal(u * 6 + 3, v * 6 + scene.seed, 5) * 0.2;
    const crowns = cells(u * 42, v * 42);
    const shade = 0.5 + clamp((crowns.dx - crowns.dy) * 1.1 + 0.35) * 0.9;
    const tree = scale(scene.land, shade * (0.7 + crowns.value * 0.6));
    ground = mix(ground, tree, smooth(0.27, 0.32, inland));
    if (!scene.rocks) return ground;
    const stone = ridged(u * 11 + scene.seed, v * 11, 5);
    const rock = scale(hex('#8d8377'), 0.35 + stone);
    return mix(ground, rock, scene.rocks * smooth(0.3, 0.5, stone) * smooth(0.2, 0.02, off));
  }

  function surf(u: number, v: number, off: number): number {
    let foam = 0;
    for (let line = 0; line < 3; line += 1) {
      const at = -0.008 - line * 0.062 + fractal(u * 4 + line * 5, v * 4, 3) * 0.03;
      const behind = off - at;
      const lace = cells(u * 40 + noise(u * 20, v * 20), v * 40 + noise(u * 20, v * 20 + 7));
      const web = 1 - smooth(0, 0.25, lace.second - lace.nearest);
      const crest = Math.exp(-((behind / 0.0065) ** 2)) * (0.75 + noise(u * 60, v * 60) * 0.7);
      const trail = (behind < 0 ? Math.exp(behind / 0.03) : Math.exp(-behind / 0.008)) * web * 0.7;
      foam = Math.max(foam, (crest + trail) * (1 - line * 0.22));
    }
    return clamp(foam);
  }
}

const CANVAS = ['#d94f3d', '#f2f0e6', '#e6a93a', '#3f7fa8', '#f2f0e6', '#d66f8c'] as const;

function drawUmbrellas(
  frame: Frame,
  shoreAt: (x: number, y: number) => number,
  count: number,
  seed: number,
): void {
  const { width, height, unit } = frame;
  const step = unit * 0.075;
  let left = count;
  for (let gy = step; gy < height && left > 0; gy += step) {
    for (let gx = step; gx < width && left > 0; gx += step) {
      const x = gx + noise(gx * 3.7, gy + seed) * step * 0.7;
      const y = gy + noise(gx, gy * 3.7 + seed) * step * 0.7;
      const off = shoreAt(x, y);
      if (off < 0.075 || off > 0.21) continue;
      left -= 1;
      const radius = unit * 0.017;
      const canvas = hex(CANVAS[Math.floor(Math.abs(noise(x, y)) * 40) % 6] ?? '#f2f0e6');
      const box = {
        left: x - radius,
        top: y - radius,
        right: x + radius * 3,
        bottom: y + radius * 3,
      };
      frame.within(box, (px, py) => {
        const shade = Math.hypot(px - x - radius * 0.9, py - y - radius * 0.7);
        frame.cover(px, py, hex('#3b342c'), smooth(radius * 1.1, radius * 0.8, shade) * 0.5);
      });
      frame.within(box, (px, py) => {
        const dx = (px - x) / radius;
        const dy = (py - y) / radius;
        const panel = Math.floor((Math.atan2(dy, dx) / Math.PI) * 4 + 8) % 2 === 0;
        const shade = 0.75 - dx * 0.16 - dy * 0.16;
        const cloth = panel ? canvas : mix(canvas, grey(1), 0.55);
        frame.cover(px, py, scale(cloth, shade), smooth(1.06, 0.92, Math.hypot(dx, dy)));
      });
    }
  }
}
