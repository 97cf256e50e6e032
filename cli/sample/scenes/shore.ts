import { type Colour, grey, hex, mix, plus, scale } from '../colour.ts';
import type { Frame, Paint } from '../frame.ts';
import { cells, clamp, fractal, lerp, mottle, noise, smooth } from '../noise.ts';
import { between, randomFrom } from '../random.ts';
import { bokehLight, disc, insideOf, type Point, polygon } from '../shapes.ts';
import type { View } from '../sky.ts';

export interface Pebbles {
  seed: number;
  colours: readonly [Colour, ...Colour[]];
  /** Stones in the unit. */
  across: number;
  /** 0 dry, 1 under clear water. */
  water: number;
  light: Colour;
}

/** Stones from above, worn round. */
export function pebbles(scene: Pebbles): Paint {
  return (frame) => {
    const { unit } = frame;
    frame.paint((px, py) => {
      const ripple = scene.water * 0.02;
      const u0 = px / unit;
      const v0 = py / unit;
      const u = u0 + noise(u0 * 7 + scene.seed, v0 * 7) * ripple;
      const v = v0 + noise(u0 * 7, v0 * 7 + scene.seed) * ripple;
      let colour = scale(hex('#3a342c', 0.5), 0.7 + mottle(u * 40, v * 40) * 0.6);
      for (const size of [2.3, 1]) {
        const scaleTo = scene.across * size;
        const stone = cells(u * scaleTo + size * 9 + scene.seed, v * scaleTo * 1.2, 0.85);
        const gap = stone.second - stone.nearest;
        const rough = mottle(u * scaleTo * 2, v * scaleTo * 2) * 0.05;
        const inside = smooth(0.06, 0.13, gap + rough);
        if (inside <= 0 || (size === 1 && stone.other < 0.22)) continue;
        const dome = Math.min(1, stone.nearest * 1.5);
        const edge = smooth(0.45, 0.08, gap);
        const facing = 0.72 - (stone.dx * 0.55 + stone.dy * 0.75) * (0.5 + edge) - dome * 0.12;
        colour = mix(colour, stoneAt(scene, stone, u, v, facing, edge), inside);
      }
      if (scene.water <= 0) return colour;
      const net = cells(
        u0 * 6 + mottle(u0 * 2, v0 * 2) * 1.2,
        v0 * 6 + mottle(u0 * 2 + 3, v0 * 2) * 1.2,
      );
      const caustic = smooth(0.22, 0, net.second - net.nearest) ** 2;
      const under = mix(colour, hex('#1f6a70', 0.4), scene.water * 0.3);
      return plus(
        scale(under, 0.85 + caustic * 0.6 * scene.water),
        scene.light,
        caustic * 0.06 * scene.water,
      );
    });
  };
}

function stoneAt(
  scene: Pebbles,
  stone: { value: number; other: number },
  u: number,
  v: number,
  facing: number,
  edge: number,
): Colour {
  const index = Math.floor(stone.value * scene.colours.length);
  const base = scene.colours[index] ?? scene.colours[0];
  const turn = stone.other * 6.28;
  const across = u * Math.cos(turn) + v * Math.sin(turn);
  const bands =
    stone.value > 0.72
      ? smooth(0.2, 0.3, noise(across * 28 + stone.other * 90, stone.value * 50))
      : 0;
  const specks = mottle(u * 60 + stone.other * 40, v * 60) * 0.3;
  const tone = mix(scale(base, 0.8 + stone.other * 0.4 + specks), grey(0.75), bands * 0.55);
  const wet = scene.water * 0.35;
  const shaded = scale(tone, Math.max(0.1, facing) * (1.25 - edge * 0.4) * (1 - wet * 0.4));
  const glint = smooth(0.92, 1.12, facing + specks * 0.3) * (0.1 + wet * 0.5);
  return plus(
    { r: shaded.r * scene.light.r, g: shaded.g * scene.light.g, b: shaded.b * scene.light.b },
    scene.light,
    glint,
  );
}

export interface Underwater {
  seed: number;
  surface: Colour;
  deep: Colour;
  floor?: Colour;
  rays: number;
  fish: number;
  /** A turtle-sized shape drifts over: a diver's distance away. */
  jellies?: number;
}

export function underwater(scene: Underwater): Paint {
  return (frame) => {
    const { width, height, unit } = frame;
    const random = randomFrom(scene.seed);
    const sunX = width * (0.35 + 0.3 * random());
    const bed = 0.72;
    frame.paint((x, y) => {
      const t = y / height;
      const side = (x - sunX) / unit;
      const glow = Math.exp(-(side * side * 1.6 + t * t * 4.2));
      let water = mix(scene.surface, scene.deep, smooth(0, 0.9, t + Math.abs(side) * 0.28));
      water = plus(water, scene.surface, glow * 1.1);
      const angle = side / (t + 0.32);
      const beam = smooth(
        0,
        0.45,
        noise(angle * 4.5 + scene.seed, t * 0.6) + noise(angle * 11, 4) * 0.45,
      );
      water = plus(
        water,
        scene.surface,
        beam * scene.rays * Math.exp(-t * 2.1) * Math.exp(-side * side),
      );
      const shimmer = cells(((x / unit) * 5) / (0.2 + t * 3), 3 / (0.05 + t));
      water = plus(
        water,
        grey(1),
        smooth(0.2, 0.02, shimmer.second - shimmer.nearest) * Math.exp(-t * 16) * 0.5,
      );
      if (!scene.floor) return water;
      const ground = fractal((x / unit) * 1.4 + scene.seed, scene.seed, 4) * 0.05 + bed;
      const down = (t - ground) / (1 - bed);
      if (down < 0) return water;
      const z = 1 / (0.14 + down);
      const wx = ((x - width / 2) / unit) * z;
      const net = cells(wx * 4 + mottle(wx * 1.5, z * 1.5), z * 5 + mottle(wx * 1.5 + 4, z * 1.5));
      const caustic = smooth(0.2, 0, net.second - net.nearest) ** 2;
      const ripples = noise(wx * 3, z * 9 + noise(wx * 2, z * 2) * 2) * 0.3;
      const reef = smooth(0.12, 0.35, fractal(wx * 1.3 + scene.seed, z * 1.3, 5));
      const sand = mix(scene.floor, scale(scene.deep, 0.5), reef * 0.8);
      const lightOn = scale(sand, 0.6 + ripples + mottle(wx * 14, z * 14) * 0.3 + caustic * 0.9);
      return mix(lightOn, water, clamp(1.05 - down * 1.5, 0.12, 1));
    });
    for (let fish = 0; fish < scene.fish; fish += 1) {
      const angle = random() * 6.28;
      const spread = Math.sqrt(random());
      const x = width * (0.55 + Math.cos(angle) * spread * 0.3);
      const y = height * (0.42 + Math.sin(angle) * spread * 0.17 + Math.cos(angle) * 0.06);
      drawFish(
        frame,
        { x, y },
        unit * between(random, 0.009, 0.022),
        mix(scene.deep, scene.surface, random() * 0.35),
        random(),
      );
    }
    for (let jelly = 0; jelly < (scene.jellies ?? 0); jelly += 1) {
      drawJelly(
        frame,
        { x: width * between(random, 0.12, 0.88), y: height * between(random, 0.15, 0.6) },
        unit * between(random, 0.05, 0.14),
        random() * 50,
      );
    }
    for (let mote = 0; mote < 120; mote += 1) {
      const centre = { x: random() * width, y: random() * height };
      bokehLight(
        frame,
        centre,
        unit * (0.0015 + 0.006 * random() ** 4),
        scale(scene.surface, 0.25),
      );
    }
  };
}

function drawFish(frame: Frame, at: Point, size: number, colour: Colour, tilt: number): void {
  frame.within(
    { left: at.x - size * 1.8, right: at.x + size * 1.4, top: at.y - size, bottom: at.y + size },
    (x, y) => {
      const u = (x - at.x) / size;
      const v = (y - at.y) / size - u * (tilt - 0.5) * 0.5;
      const body = 0.36 * Math.sqrt(Math.max(0, 1 - u * u)) - Math.abs(v);
      const tail = u < -0.8 ? 0.32 * (-0.8 - u) * 1.6 - Math.abs(v) : -1;
      const inside = Math.max(body, u > -1.5 ? tail : -1);
      const belly = clamp(0.5 + v * 1.6);
      frame.cover(
        x,
        y,
        mix(scale(colour, 0.4), plus(colour, grey(0.15)), belly),
        clamp(inside * size * 0.8) * 0.9,
      );
    },
  );
}

function drawJelly(frame: Frame, at: Point, size: number, seed: number): void {
  const glow = hex('#ffb6d0', 0.6);
  frame.within(
    {
      left: at.x - size * 1.1,
      right: at.x + size * 1.1,
      top: at.y - size,
      bottom: at.y + size * 3.2,
    },
    (x, y) => {
      const u = (x - at.x) / size;
      const v = (y - at.y) / size;
      if (v < 0.12) {
        const r = Math.hypot(u, v * 1.25);
        const rim = smooth(0.7, 1, r);
        const ribs = 0.5 + 0.5 * Math.cos(Math.asin(clamp(u, -1, 1)) * 18);
        const skin = 0.22 + rim * 0.5 + ribs * 0.16 * (1 + v) + mottle(u * 3 + seed, v * 3) * 0.14;
        frame.shine(x, y, glow, skin * smooth(1.01, 0.96, r) * smooth(0.12, 0.04, v));
      }
      if (v > 0) {
        const fade = Math.exp(-v * 0.9);
        const wave = Math.sin(v * 3 + seed) * 0.1 + noise(v * 2, seed) * 0.2;
        const strand = noise((u - wave * (0.3 + v)) * 7 + seed, v * 0.6);
        const within = smooth(0.85, 0.4, Math.abs(u) * (1 + v * 0.25));
        frame.shine(
          x,
          y,
          glow,
          smooth(0.12, 0.42, strand) * within * fade * 0.6 * smooth(0, 0.15, v),
        );
      }
    },
  );
}

/** A sailing boat for a scene of the sea, with its mirror image. */
export function boat(at: {
  x: number;
  below: number;
  size: number;
  sail: Colour;
  hull: Colour;
  light: number;
}) {
  return (frame: Frame, view: View): void => {
    const { unit, width } = frame;
    const size = at.size * unit;
    const x = at.x * width;
    const foot = view.horizon + at.below * unit;
    const point = (u: number, v: number): Point => ({ x: x + u * size, y: foot - v * size });
    const hull = [point(-0.42, 0.1), point(0.5, 0.12), point(0.34, -0.02), point(-0.34, -0.02)];
    const main: Point[] = [];
    for (let step = 0; step <= 10; step += 1) {
      const t = step / 10;
      main.push(point(-0.02 - Math.sin(t * 2.2) * 0.03, 0.17 + t * 1.15));
    }
    for (let step = 10; step >= 0; step -= 1) {
      const t = step / 10;
      main.push(point(-0.05 - (1 - t) * 0.4 - Math.sin(t * 3.1) * 0.05, 0.17 + t * 1.15));
    }
    const jib = [point(0.02, 1.1), point(0.2, 0.6), point(0.5, 0.16), point(0.06, 0.2)];
    const shapes: { corners: Point[]; colourAt: (px: number, py: number) => Colour }[] = [
      {
        corners: main,
        colourAt: (px) => scale(at.sail, at.light * (0.9 - ((px - x) / size) * 0.5)),
      },
      {
        corners: jib,
        colourAt: (px) => scale(at.sail, at.light * (0.78 + ((px - x) / size) * 0.4)),
      },
      {
        corners: hull,
        colourAt: (_, py) => scale(at.hull, at.light * (0.8 + ((foot - py) / size) * 4)),
      },
      {
        corners: [point(-0.006, 0.1), point(-0.006, 1.38), point(0.008, 1.38), point(0.008, 0.1)],
        colourAt: () => scale(hex('#4a3a2c'), at.light),
      },
    ];
    for (const { corners, colourAt } of shapes) {
      mirrored(frame, corners, colourAt, foot, size);
    }
    for (const { corners, colourAt } of shapes) polygon(frame, corners, colourAt);
  };
}

function mirrored(
  frame: Frame,
  corners: readonly Point[],
  colourAt: (x: number, y: number) => Colour,
  foot: number,
  size: number,
): void {
  const xs = corners.map((corner) => corner.x);
  const tallest = Math.max(...corners.map((corner) => foot - corner.y));
  const box = {
    left: Math.min(...xs) - 8,
    right: Math.max(...xs) + 8,
    top: foot,
    bottom: foot + tallest * 0.8,
  };
  frame.within(box, (x, y) => {
    const down = (y - foot) / size;
    const sway = noise(y * (26 / size), x * (2 / size)) * size * 0.05 * (0.3 + down);
    const my = foot - (y - foot) * 1.25;
    const inside = clamp(insideOf(corners, x + sway, my) + 0.5);
    if (inside <= 0) return;
    const broken = smooth(-0.25, 0.2, noise(x * (5 / size), y * (60 / size)));
    frame.cover(x, y, scale(colourAt(x, my), 0.7), inside * 0.5 * broken * Math.exp(-down * 1.1));
  });
}

/** A lighthouse on its rock, for a scene of the sea. */
export function lighthouse(at: {
  x: number;
  size: number;
  stripe: Colour;
  body: Colour;
  rock: Colour;
  lamp: number;
  seed: number;
}) {
  return (frame: Frame, view: View): void => {
    const { unit, width } = frame;
    const size = at.size * unit;
    const x = at.x * width;
    const ground = view.horizon - size * 0.22;
    for (let px = 0; px < width; px += 1) {
      const off = (px - x) / size;
      const reach = at.x > 0.5 ? (off > 0 ? 0.55 : 1.25) : off > 0 ? 1.25 : 0.55;
      const hill = 0.36 * Math.exp(-((off * reach) ** 2) * 1.6) - 0.1;
      const rough = fractal(off * 4 + at.seed, at.seed, 5) * 0.09;
      const top = view.horizon - Math.max(-0.01, hill + rough) * size;
      for (let y = Math.max(0, Math.floor(top)); y <= view.horizon; y += 1) {
        const facet =
          mottle(off * 7 + at.seed, (y / size) * 9) * 0.7 + noise(off * 3, (y / size) * 4) * 0.6;
        const grass = smooth(0.06, 0.01, (y - top) / size) * 0.6;
        const tone = mix(
          scale(at.rock, 0.75 + facet),
          scale(hex('#55683a'), at.rock.g * 2.4),
          grass,
        );
        frame.cover(px, y, tone, clamp(y - top + 0.5));
      }
    }
    const tall = size;
    const half = (t: number) => size * lerp(0.088, 0.062, t);
    frame.within(
      {
        left: x - size * 0.15,
        right: x + size * 0.15,
        top: ground - tall * 1.25,
        bottom: ground + size * 0.06,
      },
      (px, py) => {
        const t = (ground - py) / tall;
        const w =
          t < 1
            ? half(clamp(t))
            : t < 1.035
              ? size * 0.09
              : t < 1.13
                ? size * 0.048
                : size * 0.06 * clamp((1.21 - t) / 0.08);
        const side = (px - x) / w;
        if (Math.abs(side) > 1.1 || t > 1.21) return;
        const round = 0.5 + 0.5 * Math.sqrt(Math.max(0, 1 - side * side)) - side * 0.32;
        const striped = Math.floor(t * 5 + 0.2) % 2 === 0;
        let colour = scale(
          striped ? at.body : at.stripe,
          round * (1 + mottle(px / 14, py / 14) * 0.14),
        );
        if (t >= 1 && t < 1.035) colour = scale(hex('#2c2c30'), round);
        if (t >= 1.035 && t < 1.13)
          colour = mix(hex('#39424a'), hex('#ffdf9a', 4), at.lamp * (1 - Math.abs(side) * 0.5));
        if (t >= 1.13) colour = scale(at.stripe, round);
        if (
          t < 0.8 &&
          t > 0.1 &&
          Math.abs(side + 0.1) < 0.13 &&
          Math.abs(((t * 4.1) % 1) - 0.5) < 0.11
        )
          colour = hex('#1c2024');
        frame.cover(px, py, colour, clamp((1 - Math.abs(side)) * w + 0.5));
      },
    );
    if (at.lamp <= 0) return;
    const lamp = { x, y: ground - tall * 1.08 };
    disc(frame, lamp, size * 0.6, 1, (px, py, opacity) => {
      frame.shine(px, py, hex('#ffd48a', 0.5), at.lamp * opacity ** 3);
    });
    frame.within({ left: 0, right: width, top: lamp.y - size, bottom: lamp.y + size }, (px, py) => {
      const dx = px - lamp.x;
      const away = Math.abs(dx) / unit;
      const slope = Math.abs((py - lamp.y + dx * 0.06) / (Math.abs(dx) + 1));
      frame.shine(
        px,
        py,
        hex('#ffdfa6', 0.55),
        at.lamp * smooth(0.09, 0.02, slope) * Math.exp(-away * 2.6),
      );
    });
  };
}
