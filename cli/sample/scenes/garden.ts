import { type Colour, grey, hex, mix, plus, scale } from '../colour.ts';
import { type Frame, Layer, type Paint } from '../frame.ts';
import { cells, clamp, fractal, lerp, mottle, noise, smooth } from '../noise.ts';
import { between, pick, type Random, randomFrom } from '../random.ts';
import { bokehLight, disc, type Point, softBackdrop } from '../shapes.ts';
import { type Clouds, cloudsOf, drawSky, HOURS, type HourName, type Sky, viewOf } from '../sky.ts';

export interface Meadow {
  seed: number;
  backdrop: readonly [dark: Colour, middle: Colour, bright: Colour];
  grass: readonly [dark: Colour, bright: Colour];
  petals: readonly [Colour, ...Colour[]];
  heart: Colour;
  kind: 'poppy' | 'daisy' | 'tulip';
  count: number;
  light: Colour;
}

/** Flowers with a shallow depth of field: one row is sharp, before and behind it all is soft. */
export function meadow(scene: Meadow): Paint {
  return (frame) => {
    const { width, height, unit } = frame;
    const random = randomFrom(scene.seed);
    softBackdrop(frame, scene.backdrop, scene.seed, 2.6);
    for (let light = 0; light < 26; light += 1) {
      const centre = { x: random() * width, y: random() * height * 0.5 };
      bokehLight(frame, centre, unit * between(random, 0.015, 0.05), scale(scene.light, 0.09));
    }
    const rows = [
      { near: 0, blur: 0.02, share: 0.34 },
      { near: 0.35, blur: 0.008, share: 0.3 },
      { near: 0.62, blur: 0, share: 0.24 },
      { near: 1, blur: 0.024, share: 0.07 },
    ];
    for (const { near, blur, share } of rows) {
      const layer = new Layer(frame);
      drawBlades(frame, layer, scene, near, random);
      for (let flower = 0; flower < scene.count * share; flower += 1) {
        const size = unit * lerp(0.018, 0.085, near) * between(random, 0.75, 1.25);
        const line = lerp(0.46, 0.7, near) * height;
        const spread = lerp(0.07, 0.22, near) * unit;
        const centre = { x: random() * width, y: line + (random() * 2 - 1) * spread };
        if (near === 1) centre.y = height * between(random, 0.86, 1.02);
        drawFlower(frame, layer, scene, centre, size, random);
      }
      layer.onto(frame, blur * unit);
    }
  };
}

function drawBlades(frame: Frame, layer: Layer, scene: Meadow, near: number, random: Random): void {
  const { width, height, unit } = frame;
  const line = lerp(0.5, 0.9, near) * height;
  const [dark, bright] = scene.grass;
  for (let y = Math.floor(line); y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const n = mottle((x / unit) * lerp(40, 12, near), (y / unit) * 3 + near * 7);
      layer.cover(x, y, mix(dark, bright, 0.45 + n), smooth(0, 0.09 * unit, y - line));
    }
  }
  const count = Math.round(lerp(380, 70, near) * (width / unit));
  for (let blade = 0; blade < count; blade += 1) {
    const foot = { x: random() * width, y: line + unit * between(random, 0.05, 0.5) };
    const tall = unit * lerp(0.09, 0.34, near) * between(random, 0.5, 1.1);
    const lean = between(random, -0.3, 0.3);
    const thick = unit * lerp(0.0012, 0.0034, near);
    const colour = mix(dark, bright, random());
    for (let step = 0; step <= tall; step += 1) {
      const t = step / tall;
      const x = foot.x + lean * tall * t * t;
      const half = thick * (1 - t * 0.85);
      for (let px = Math.floor(x - half); px <= x + half; px += 1) {
        layer.cover(px, Math.round(foot.y - step), scale(colour, 0.6 + 0.6 * t), 0.85);
      }
    }
  }
}

function drawFlower(
  frame: Frame,
  layer: Layer,
  scene: Meadow,
  centre: Point,
  size: number,
  random: Random,
): void {
  const petal = pick(random, scene.petals);
  const seed = random() * 90;
  const squash = between(random, 0.55, 0.95);
  const lean = between(random, -0.35, 0.35);
  const stem = mix(scene.grass[0], scene.grass[1], 0.5);
  for (let step = 0; step < size * 6; step += 1) {
    const x = centre.x + Math.sin(step / (size * 4)) * lean * size;
    for (let side = -size * 0.045; side <= size * 0.045; side += 1) {
      layer.cover(Math.round(x + side), Math.round(centre.y + step), stem, 0.9);
    }
  }
  const box = {
    left: centre.x - size,
    right: centre.x + size,
    top: centre.y - size * 1.2,
    bottom: centre.y + size,
  };
  frame.within(box, (x, y) => {
    const u = (x - centre.x) / size;
    const v = (y - centre.y) / size - u * lean;
    const edge = 1.6 / size;
    if (scene.kind === 'tulip') {
      const t = (v + 1) / 1.7;
      if (t < 0 || t > 1) return;
      const half = 0.46 * Math.sin(Math.PI * (0.12 + t * 0.8)) ** 0.7;
      const tips = 0.16 * Math.abs(Math.sin(u * 7 + seed));
      const inside = Math.min(half - Math.abs(u), t - tips);
      const fold = 0.75 + 0.35 * Math.cos(u * 9) + mottle(u * 3 + seed, v) * 0.3;
      const tone = mix(petal, plus(petal, grey(0.25)), smooth(0.6, 0, t));
      layer.cover(x, y, scale(tone, fold * (0.65 + 0.5 * (1 - t))), clamp(inside / edge));
      return;
    }
    const r = Math.hypot(u, v / squash);
    const turn = Math.atan2(v / squash, u);
    if (scene.kind === 'daisy') {
      const count = 17;
      const within = Math.abs(((turn / (Math.PI * 2)) * count + seed) % 1) - 0.5;
      const outline = 0.95 - Math.abs(within) ** 2.5 * 2.4 + noise(turn * 3, seed) * 0.14;
      const shade = 0.72 + 0.35 * r - Math.abs(within) * 0.35 - v * 0.16;
      layer.cover(x, y, scale(petal, shade), clamp((outline - r) / edge));
      const dome = 0.75 + (-u - v) * 0.9 + mottle(u * 14 + seed, v * 14) * 0.5;
      layer.cover(x, y, scale(scene.heart, clamp(dome, 0.3, 1.6)), clamp((0.3 - r) / edge));
      return;
    }
    const outline = 0.84 + noise(turn * 1.4 + seed, 0.4) * 0.25 + noise(turn * 5 + seed, 3) * 0.1;
    const crease = mottle(turn * 2.2 + seed, r * 0.7) * 0.55;
    const rim = smooth(0.4, 0.95, r) * 0.35;
    const shade = 0.66 + crease - v * 0.36 + rim;
    layer.cover(x, y, scale(petal, Math.max(0.2, shade)), clamp((outline - r) / edge));
    layer.cover(
      x,
      y,
      scale(scene.heart, 0.7),
      smooth(0.3, 0.14, r + noise(turn * 4, seed) * 0.12) * 0.9,
    );
  });
}

export interface Rows {
  seed: number;
  hour: HourName;
  sun: Sky['sun'];
  disc?: number;
  crops: readonly [Colour, ...Colour[]];
  soil: Colour;
  /** Metres between rows. */
  spacing: number;
  clouds?: Omit<Clouds, 'bright' | 'dark'>;
  /** Where the rows vanish, of the width. */
  vanish?: number;
  trees: Colour;
}

/** A field in rows that run to the horizon: lavender, tulips, vines. */
export function rows(scene: Rows): Paint {
  const light = HOURS[scene.hour];
  return (frame) => {
    const { width, height, unit } = frame;
    const view = viewOf(frame, { horizon: 0.4, lens: 0.9, height: 2.1 });
    const sky: Sky = {
      zenith: light.zenith,
      horizon: light.horizon,
      glow: light.glow,
      sun: scene.sun,
      seed: scene.seed,
      ...(scene.clouds && { clouds: cloudsOf(scene.hour, scene.clouds) }),
      ...(scene.disc && { disc: { colour: scale(light.sunlight, 14), radius: scene.disc } }),
    };
    drawSky(frame, view, sky);
    drawHedge(frame, view.horizon, scene);
    const vanish = (scene.vanish ?? 0.5) * width;
    const against = scene.sun.z > 0 ? 0.75 : 1;
    for (let y = Math.floor(view.horizon); y < height; y += 1) {
      const down = Math.max(0.6, y - view.horizon);
      const z = (view.height * view.focal) / down;
      for (let x = 0; x < width; x += 1) {
        const wx = ((x - vanish) / view.focal) * z;
        const across = wx / scene.spacing + 40.5;
        const row = Math.floor(across);
        const inside = (across - row - 0.5) * 2;
        const bush = mottle(wx * 1.1, z * 0.55 + row * 3) * 0.3;
        const round = clamp(1 - (Math.abs(inside) / (0.72 + bush)) ** 2);
        const crop =
          scene.crops[((row % scene.crops.length) + scene.crops.length) % scene.crops.length];
        const blooms = mottle(wx * 5, z * 2.2) + mottle(wx * 17, z * 7) * 0.8 * Math.exp(-z / 30);
        const sunny = 0.5 + 0.5 * round + inside * Math.sign(scene.sun.x) * 0.28 * round;
        const plant = scale(crop ?? scene.crops[0], Math.max(0.12, sunny + blooms * 0.75));
        const earth = scale(scene.soil, 0.7 + mottle(wx * 6, z * 4) * 0.6);
        const ground = mix(earth, plant, smooth(0.05, 0.3, round));
        const bright = plus(scale(light.ambient, 0.75), light.sunlight, 0.5 * against);
        const colour = { r: ground.r * bright.r, g: ground.g * bright.g, b: ground.b * bright.b };
        const haze = 1 - Math.exp(-z / 420);
        const air = plus(light.horizon, light.glow, 0.12);
        frame.cover(x, y, mix(colour, air, haze * 0.8), smooth(0, 0.006 * unit, down));
      }
    }
  };
}

function drawHedge(frame: Frame, horizon: number, scene: Rows): void {
  const { width, unit } = frame;
  const light = HOURS[scene.hour];
  for (let layer = 0; layer < 3; layer += 1) {
    const base = mix(scale(scene.trees, 0.6), light.horizon, 0.62 - layer * 0.22);
    for (let x = 0; x < width; x += 1) {
      const u = (x / unit) * (1.6 + layer) + layer * 9 + scene.seed;
      const clumps = Math.abs(noise(u * 3.1, layer)) * 0.7 + Math.abs(mottle(u * 11, layer)) * 0.4;
      const hill = layer === 0 ? 0.055 + fractal(u * 0.6, 3, 3) * 0.07 : 0.006;
      const top = horizon - unit * Math.max(0, hill + clumps * 0.032 * (layer === 0 ? 0.3 : 1));
      for (let y = Math.max(0, Math.floor(top)); y <= horizon + 3; y += 1) {
        const leaf = mottle((x / unit) * 60, (y / unit) * 60) * 0.5;
        frame.cover(x, y, scale(base, 1 + leaf), smooth(0, 2, y - top));
      }
    }
  }
}

export interface Blossom {
  seed: number;
  backdrop: readonly [Colour, Colour, Colour];
  petal: Colour;
  tip: Colour;
  heart: readonly [inner: Colour, outer: Colour];
  petals: number;
  rings: number;
  /** Of the unit. */
  size: number;
  heartSize: number;
  at: Point;
  pointed?: number;
}

/** One flower head, close up. */
export function blossom(scene: Blossom): Paint {
  return (frame) => {
    const { width, height, unit } = frame;
    softBackdrop(frame, scene.backdrop, scene.seed, 1.7);
    const random = randomFrom(scene.seed);
    for (let light = 0; light < 14; light += 1) {
      const centre = { x: random() * width, y: random() * height };
      bokehLight(frame, centre, unit * between(random, 0.03, 0.1), scale(scene.backdrop[2], 0.16));
    }
    frame.blur(unit * 0.008);
    const cx = scene.at.x * width;
    const cy = scene.at.y * height;
    const size = scene.size * unit;
    for (let y = Math.floor(cy); y < height; y += 1) {
      const sway = cx + Math.sin((y - cy) / (unit * 0.5)) * unit * 0.03;
      const half = unit * 0.011;
      for (let x = Math.floor(sway - half); x <= sway + half; x += 1) {
        frame.cover(
          x,
          y,
          scale(mix(scene.backdrop[1], hex('#56702f'), 0.6), 1 - (x - sway) / half / 3),
          0.9,
        );
      }
    }
    const box = {
      left: cx - size * 1.15,
      right: cx + size * 1.15,
      top: cy - size * 1.15,
      bottom: cy + size * 1.15,
    };
    for (let ring = 0; ring < scene.rings; ring += 1) {
      const reach = 1 - (ring / scene.rings) * 0.5;
      frame.within(box, (x, y) => {
        const u = (x - cx) / size;
        const v = (y - cy) / (size * 0.94);
        drawPetal(frame, scene, x, y, u, v, ring, reach, 1.5 / size);
      });
    }
    drawHeart(frame, scene, cx, cy, size);
  };
}

function drawPetal(
  frame: Frame,
  scene: Blossom,
  x: number,
  y: number,
  u: number,
  v: number,
  ring: number,
  reach: number,
  edge: number,
): void {
  const r = Math.hypot(u, v);
  if (r > 1.12) return;
  const wave = noise(r * 2 + ring * 3, scene.seed) * 0.12;
  const sector = (Math.atan2(v, u) / (Math.PI * 2) + wave * 0.12) * scene.petals + ring * 0.5 + 40;
  // Neighbours overlap: the later petal hides the edge of the one before.
  for (const shift of [0.5, 0]) {
    const index = Math.floor(sector + shift);
    const within = (sector + shift - index - 0.5) * (shift === 0 ? 1.25 : 1.25);
    const id = index * 1.37 + ring * 11 + scene.seed;
    const length = reach * (0.95 + noise(id, 2.2) * 0.16);
    const along = r / length;
    const pointed = scene.pointed ?? 0.5;
    const half = Math.sin(Math.PI * clamp(along * 0.82 + 0.12)) ** pointed * 0.62;
    const inside = (half - Math.abs(within)) * (r * 6.28) * (1 / scene.petals);
    const end = (1 - along) * length;
    const cover = clamp(
      Math.min(inside, end + Math.sqrt(Math.max(0, half - Math.abs(within))) * 0.02) / edge,
    );
    if (cover <= 0) continue;
    const ribs = Math.sin(within * 34) * 0.06 + mottle(within * 4 + id, along * 1.2) * 0.22;
    const cup = 1 - Math.abs(within) * 0.55 - smooth(0.5, 0.15, along) * 0.45;
    const sunny = 0.86 - (u * 0.22 + v * 0.3);
    const shadow = smooth(-0.5, -0.1, within) * 0.22 + 0.78;
    const tone = mix(scene.petal, scene.tip, smooth(0.35, 1, along + ribs * 0.4));
    const depth = 0.68 + 0.32 * (ring / Math.max(1, scene.rings - 1));
    frame.cover(x, y, scale(tone, (cup + ribs) * sunny * shadow * depth * 1.3), cover);
  }
}

function drawHeart(frame: Frame, scene: Blossom, cx: number, cy: number, size: number): void {
  const radius = scene.heartSize * size;
  disc(frame, { x: cx, y: cy }, radius * 1.35, 0.5, (x, y, opacity) => {
    frame.cover(x, y, scale(scene.heart[1], 0.25), opacity * 0.55);
  });
  const golden = Math.PI * (3 - Math.sqrt(5));
  const count = 420;
  const [inner, outer] = scene.heart;
  disc(frame, { x: cx, y: cy }, radius, 0.05, (x, y, opacity) =>
    frame.cover(x, y, scale(outer, 0.35), opacity),
  );
  for (let seed = count; seed > 0; seed -= 1) {
    const t = Math.sqrt(seed / count);
    const x = cx + Math.cos(seed * golden) * t * radius;
    const y = cy + Math.sin(seed * golden) * t * radius * 0.96;
    const bud = radius * lerp(0.03, 0.07, t);
    const colour = mix(inner, outer, smooth(0.25, 0.8, t + noise(seed, 1) * 0.2));
    const sunny = 0.9 - ((x - cx + (y - cy)) / radius) * 0.28;
    disc(frame, { x, y }, bud, 0.6, (px, py, opacity) => {
      const glint = 1.25 - ((px - x + (py - y)) / bud) * 0.45;
      frame.cover(px, py, scale(colour, sunny * glint), opacity);
    });
  }
}

export interface Leaf {
  seed: number;
  dark: Colour;
  bright: Colour;
  vein: Colour;
  /** Radians of the midrib. */
  turn: number;
  drops?: number;
}

/** A leaf against the light, so close that it fills the picture. */
export function leaf(scene: Leaf): Paint {
  const cos = Math.cos(scene.turn);
  const sin = Math.sin(scene.turn);
  return (frame) => {
    const { width, height, unit } = frame;
    const random = randomFrom(scene.seed);
    frame.paint((x, y) => {
      const px = (x - width / 2) / unit;
      const py = (y - height / 2) / unit;
      const u = px * cos + py * sin;
      const v = -px * sin + py * cos + noise(u * 1.2, scene.seed) * 0.05 + 0.08;
      const side = Math.sign(v);
      const off = Math.abs(v);
      const bend = u - off * 0.75 + off * off * 0.35 + side * 0.04 + noise(u * 3, side) * 0.03;
      const rib = bend * 5.2;
      const toRib = Math.abs(rib - Math.floor(rib) - 0.5) / 5.2;
      const mid = smooth(0.017, 0.004, off);
      const ribs = smooth(0.0085, 0.001, toRib) * (0.9 - off * 0.7);
      const net = cells(
        u * 24 + mottle(u * 4, v * 4) * 0.8,
        v * 24 + mottle(u * 4 + 5, v * 4) * 0.8,
      );
      const fine = smooth(0.1, 0.0, net.second - net.nearest) * 0.5;
      const tiny = cells(u * 75, v * 75);
      const veinlets = smooth(0.14, 0, tiny.second - tiny.nearest) * 0.22;
      const quilt = smooth(0, 0.1, toRib) * 0.35;
      const light =
        0.5 + fractal(px * 1.1 + scene.seed, py * 1.1, 3) * 0.6 + quilt + net.value * 0.12 - 0.1;
      const tissue = mix(scene.dark, scene.bright, clamp(light));
      const veins = clamp(Math.max(mid, ribs * 0.85, fine * 0.7, veinlets));
      const shade = 1 - smooth(0.06, 0.012, Math.abs(v - 0.025)) * 0.22;
      return scale(mix(tissue, scene.vein, veins * 0.72), shade);
    });
    for (let drop = 0; drop < (scene.drops ?? 0); drop += 1) drawDew(frame, random);
  };
}

function drawDew(frame: Frame, random: Random): void {
  const { width, height, unit } = frame;
  const radius = unit * (0.006 + 0.04 * random() ** 3);
  const centre = { x: random() * width, y: random() * height };
  disc(
    frame,
    { x: centre.x + radius * 0.25, y: centre.y + radius * 0.3 },
    radius * 1.15,
    0.35,
    (x, y, o) => {
      frame.cover(x, y, scale(frame.at(x, y), 0.45), o * 0.7);
    },
  );
  disc(frame, centre, radius, 0.04, (x, y, opacity) => {
    const u = (x - centre.x) / radius;
    const v = (y - centre.y) / radius;
    const behind = frame.sample(centre.x - u * radius * 0.4, centre.y - v * radius * 0.4);
    const light = 0.75 + (u + v) * 0.5 + smooth(0.75, 1, Math.hypot(u, v)) * -0.25;
    const glint = smooth(0.2, 0.06, Math.hypot(u + 0.36, v + 0.42)) * 1.3;
    frame.cover(x, y, plus(scale(behind, Math.max(0.3, light) * 1.25), grey(1), glint), opacity);
  });
}

export interface Litter {
  seed: number;
  colours: readonly [Colour, ...Colour[]];
  ground: Colour;
  count: number;
  size: number;
}

/** Fallen leaves from above, each with its shadow. */
export function litter(scene: Litter): Paint {
  return (frame) => {
    const { width, height, unit } = frame;
    const random = randomFrom(scene.seed);
    frame.paint((x, y) => scale(scene.ground, 0.6 + mottle((x / unit) * 9, (y / unit) * 9) * 0.7));
    for (let index = 0; index < scene.count; index += 1) {
      const size = scene.size * unit * between(random, 0.6, 1.15);
      const depth = index / scene.count;
      drawLeaf(
        frame,
        random,
        size,
        scale(pick(random, scene.colours), lerp(0.35, 1.1, depth ** 0.6)),
        {
          x: random() * width,
          y: random() * height,
        },
      );
    }
  };
}

function drawLeaf(frame: Frame, random: Random, size: number, colour: Colour, centre: Point): void {
  const turn = random() * Math.PI * 2;
  const cos = Math.cos(turn);
  const sin = Math.sin(turn);
  const broad = between(random, 0.4, 0.62);
  const lobes = random() < 0.45 ? between(random, 0.16, 0.26) : 0.03;
  const curl = between(random, -0.25, 0.25);
  const seed = random() * 70;
  const box = {
    left: centre.x - size,
    right: centre.x + size,
    top: centre.y - size,
    bottom: centre.y + size,
  };
  const outline = (x: number, y: number) => {
    const u = (x * cos + y * sin) / size;
    const v = (-x * sin + y * cos) / size - curl * (0.4 - u * u);
    const t = (u + 0.8) / 1.6;
    if (t <= 0 || t >= 1) return { u, v, inside: -1 };
    const half =
      broad * Math.sin(Math.PI * t ** 0.8) ** 0.9 * (1 - lobes + lobes * Math.cos(t * 22));
    return { u, v, inside: half - Math.abs(v) };
  };
  frame.within(box, (x, y) => {
    const { inside } = outline(x - centre.x - size * 0.07, y - centre.y - size * 0.09);
    if (inside > 0) frame.cover(x, y, scale(frame.at(x, y), 0.4), smooth(0, 0.12, inside) * 0.75);
  });
  frame.within(box, (x, y) => {
    const { u, v, inside } = outline(x - centre.x, y - centre.y);
    const stalk = Math.abs(v) < 0.018 && u < -0.6 && u > -0.98 ? 1 : 0;
    const cover = Math.max(clamp((inside * size) / 1.4), stalk);
    if (cover <= 0) return;
    const rib = (u - Math.abs(v) * 0.7) * 6.5;
    const toRib = Math.abs(rib - Math.floor(rib) - 0.5);
    const vein = Math.max(smooth(0.025, 0.006, Math.abs(v)), smooth(0.09, 0.02, toRib) * 0.55);
    const spots = smooth(0.2, 0.5, mottle(u * 4 + seed, v * 4)) * 0.5;
    const fold =
      0.8 + Math.sign(v) * 0.12 + (toRib - 0.25) * 0.4 + mottle(u * 2 + seed, v * 2) * 0.5;
    const rim = smooth(0.1, 0, inside) * 0.25;
    const tone = mix(
      mix(colour, hex('#5a3418'), spots + rim),
      plus(colour, grey(0.12)),
      vein * 0.7,
    );
    frame.cover(x, y, scale(tone, Math.max(0.15, fold)), cover);
  });
}
