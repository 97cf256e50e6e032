import { type Colour, grey, hex, lit, mix, plus, scale } from '../colour.ts';
import type { Paint } from '../frame.ts';
import { clamp, mottle, noise, noise3, smooth } from '../noise.ts';
import { between, pick, type Random, randomFrom } from '../random.ts';
import { wood } from '../shapes.ts';

// Things on a table in the light of a window: rays against balls and bowls.

export type Skin = 'orange' | 'lemon' | 'apple' | 'tomato' | 'plum' | 'berry' | 'egg' | 'glaze';

interface Ball {
  x: number;
  y: number;
  z: number;
  radius: number;
  skin: Skin;
  colour: Colour;
  blush: Colour;
  /** Where its stalk points. */
  axis: Vector;
  /** Only what is below this height is there: a bowl, seen from outside and inside. */
  rim?: number;
  seed: number;
}

interface Vector {
  x: number;
  y: number;
  z: number;
}

export interface StillLife {
  seed: number;
  skin: Skin;
  colours: readonly [Colour, ...Colour[]];
  blush?: Colour;
  count: number;
  /** Of a ball, in units of the table: about 1. */
  size: number;
  bowl?: Colour;
  table: 'wood' | 'stone' | 'cloth';
  tableColours: readonly [dark: Colour, bright: Colour];
  wall: readonly [dark: Colour, bright: Colour];
  /** -1 from the left, 1 from the right. */
  window: number;
  light: Colour;
  shade: Colour;
  /** How far the camera looks down: 0.15 is level, 0.7 steep. */
  tilt?: number;
  zoom?: number;
}

export function stillLife(scene: StillLife): Paint {
  const random = randomFrom(scene.seed);
  const balls = arrange(scene, random);
  const light = unit({ x: scene.window * 0.75, y: 0.9, z: -0.35 });
  const tilt = scene.tilt ?? 0.3;
  const eye = { x: 0, y: 0.9 + Math.sin(tilt) * 9, z: -Math.cos(tilt) * 9 };
  return (frame) => {
    const focal = frame.unit * 1.9 * (scene.zoom ?? 1);
    const cos = Math.cos(tilt);
    const sin = Math.sin(tilt);
    frame.paint((px, py) => {
      const x = (px - frame.width / 2) / focal;
      const y = (frame.height * 0.5 - py) / focal;
      const ray = unit({ x, y: y * cos - sin, z: cos + y * sin });
      return look(scene, balls, light, eye, ray);
    });
  };
}

function arrange(scene: StillLife, random: Random): Ball[] {
  const balls: Ball[] = [];
  const ball = (x: number, y: number, z: number, radius: number): Ball => ({
    x,
    y,
    z,
    radius,
    skin: scene.skin,
    colour: pick(random, scene.colours),
    blush: scene.blush ?? pick(random, scene.colours),
    axis: unit({ x: between(random, -0.7, 0.7), y: 1, z: between(random, -0.9, 0.3) }),
    seed: random() * 50,
  });
  if (scene.bowl) {
    const radius = 1.75;
    const rim = 0.95;
    balls.push({
      ...ball(0, radius * 0.98, 0.2, radius),
      skin: 'glaze',
      colour: scene.bowl,
      blush: scale(scene.bowl, 0.8),
      rim,
    });
  }
  for (let tries = 0; balls.length < scene.count && tries < 4000; tries += 1) {
    const radius = scene.size * between(random, 0.42, 0.5);
    const spread = scene.bowl ? 1.2 : 2.5;
    const x = (random() + random() - 1) * spread;
    const z = scene.bowl ? 0.2 + (random() * 2 - 1) * 1.2 : (random() + random() - 1) * 1.8;
    const heaped = scene.bowl ? 0.55 + random() * 0.75 : radius;
    // In the bowl's hollow, or heaped over its rim as a flat dome.
    const reach = Math.hypot(x, z - 0.2, heaped < 0.95 ? heaped - 1.72 : 0) + radius;
    if (scene.bowl && reach > 1.68 - Math.max(0, heaped - 0.95) * 1.8) continue;
    const next = ball(x, heaped, z, radius);
    const fits = balls.every((other) => {
      if (other.rim !== undefined) return true;
      const apart = Math.hypot(other.x - next.x, other.y - next.y, other.z - next.z);
      return apart > (other.radius + radius) * (scene.bowl ? 0.86 : 0.99);
    });
    if (fits) balls.push(next);
  }
  return balls;
}

function look(scene: StillLife, balls: Ball[], light: Vector, eye: Vector, ray: Vector): Colour {
  let nearest = 80;
  let hit: Ball | undefined;
  for (const ball of balls) {
    const at = meet(ball, eye, ray);
    if (at > 0 && at < nearest) {
      nearest = at;
      hit = ball;
    }
  }
  const toTable = ray.y < -0.001 ? -eye.y / ray.y : 99;
  if (hit && nearest < toTable)
    return surface(scene, balls, hit, light, along(eye, ray, nearest), ray);
  const wallAt = (7 - eye.z) / ray.z;
  if (toTable < wallAt) return tableAt(scene, balls, light, along(eye, ray, toTable));
  const at = along(eye, ray, wallAt);
  const falloff = clamp(
    0.5 + at.x * scene.window * 0.09 + noise(at.x * 0.25 + scene.seed, at.y * 0.3) * 0.35,
  );
  return mix(scene.wall[0], scene.wall[1], falloff);
}

/** Distance along the ray, or 0. */
function meet(ball: Ball, eye: Vector, ray: Vector): number {
  const ox = eye.x - ball.x;
  const oy = eye.y - ball.y;
  const oz = eye.z - ball.z;
  const b = ox * ray.x + oy * ray.y + oz * ray.z;
  const c = ox * ox + oy * oy + oz * oz - ball.radius * ball.radius;
  const root = b * b - c;
  if (root < 0) return 0;
  const half = Math.sqrt(root);
  if (ball.rim === undefined) return -b - half;
  for (const at of [-b - half, -b + half]) {
    if (at > 0 && eye.y + ray.y * at < ball.rim && eye.y + ray.y * at > 0) return at;
  }
  return 0;
}

function surface(
  scene: StillLife,
  balls: Ball[],
  ball: Ball,
  light: Vector,
  at: Vector,
  ray: Vector,
): Colour {
  let normal = unit({ x: at.x - ball.x, y: at.y - ball.y, z: at.z - ball.z });
  const inner = normal.x * ray.x + normal.y * ray.y + normal.z * ray.z > 0;
  if (inner) normal = { x: -normal.x, y: -normal.y, z: -normal.z };
  const skin = skinOf(ball, normal);
  const bumped = unit({
    x: normal.x + skin.bump.x,
    y: normal.y + skin.bump.y,
    z: normal.z + skin.bump.z,
  });
  const facing = dot(bumped, light);
  const shadow = shadowAt(balls, at, light, ball);
  const direct = clamp((facing + 0.12) / 1.12) * shadow;
  const sky = 0.35 + 0.65 * (0.5 + 0.5 * bumped.y);
  const crowd = openness(balls, at, normal, ball) * (inner ? 0.75 : 1);
  let light_ = plus(scale(scene.shade, sky * crowd), scene.light, direct);
  // The table throws its own colour up at what lies on it.
  light_ = plus(light_, scene.tableColours[1], clamp(0.3 - bumped.y) * 0.35 * crowd);
  let colour = lit(skin.colour, light_);
  const half = unit({ x: light.x - ray.x, y: light.y - ray.y, z: light.z - ray.z });
  const shine = clamp(dot(bumped, half)) ** skin.polish * skin.gloss * shadow;
  const fresnel = (1 - clamp(-dot(ray, normal))) ** 4 * skin.gloss * 0.3 * crowd;
  colour = plus(colour, scene.light, shine);
  colour = plus(colour, scene.wall[1], fresnel);
  return colour;
}

interface SkinAt {
  colour: Colour;
  bump: Vector;
  gloss: number;
  polish: number;
}

function skinOf(ball: Ball, normal: Vector): SkinAt {
  const { seed, axis } = ball;
  const pole = dot(normal, axis);
  const n = (k: number) => noise3(normal.x * k + seed, normal.y * k, normal.z * k) - 0.5;
  const bumpy = (k: number, strength: number): Vector => ({
    x: n(k) * strength,
    y: (noise3(normal.x * k + 9, normal.y * k + seed, normal.z * k) - 0.5) * strength,
    z: (noise3(normal.x * k, normal.y * k + 5, normal.z * k + seed) - 0.5) * strength,
  });
  const stalk = smooth(0.984, 0.994, pole);
  const turn = Math.atan2(normal.x - axis.x * pole, normal.z - axis.z * pole);
  switch (ball.skin) {
    case 'orange':
    case 'lemon': {
      const tone = mix(ball.colour, ball.blush, clamp(0.4 + n(2.2) * 1.6));
      const colour = mix(scale(tone, 1 + n(16) * 0.14), hex('#4b5a20'), stalk);
      return { colour, bump: bumpy(22, 0.34), gloss: 0.28, polish: 26 };
    }
    case 'apple': {
      const stripes = noise(turn * 7 + seed, pole * 1.6) + noise(turn * 19, pole * 3 + seed) * 0.5;
      const red = clamp(0.55 + n(1.3) * 1.9 + stripes * 0.5);
      const dots = smooth(0.2, 0.34, n(21)) * 0.25;
      const skin = mix(mix(ball.blush, ball.colour, red), hex('#f0dca0'), dots);
      const colour = mix(skin, hex('#3a2a14'), smooth(0.93, 0.99, pole));
      const dimple = smooth(0.78, 1, pole) * 0.9;
      const bump = { x: -axis.x * dimple, y: -axis.y * dimple, z: -axis.z * dimple };
      return { colour, bump, gloss: 0.55, polish: 60 };
    }
    case 'tomato': {
      const star = smooth(
        0.12,
        0.02,
        Math.acos(clamp(pole, -1, 1)) / (0.55 + 0.45 * Math.cos(turn * 5)) - 0.22,
      );
      const colour = mix(
        mix(ball.colour, ball.blush, clamp(n(1.5) * 1.5 + 0.2)),
        hex('#3f6a22'),
        star,
      );
      return { colour, bump: bumpy(3, 0.14), gloss: 0.85, polish: 130 };
    }
    case 'plum':
    case 'berry': {
      const bloom = clamp(0.35 + n(3) * 1.9 + n(11) * 0.7);
      const crown = ball.skin === 'berry' ? smooth(0.84, 0.9, pole + n(9) * 0.12) : stalk;
      const dusty = mix(ball.colour, ball.blush, bloom);
      return {
        colour: mix(dusty, scale(ball.colour, 0.3), crown),
        bump: bumpy(9, 0.12),
        gloss: 0.22,
        polish: 16,
      };
    }
    case 'egg': {
      const specks = smooth(0.24, 0.36, n(13)) * 0.5;
      const colour = mix(
        mix(ball.colour, ball.blush, clamp(0.3 + n(1.4) * 0.9)),
        hex('#6b4a30'),
        specks,
      );
      return { colour, bump: bumpy(30, 0.08), gloss: 0.08, polish: 12 };
    }
    case 'glaze': {
      const rim = smooth(0.05, 0.0, Math.abs((ball.rim ?? 0) - (normal.y * ball.radius + ball.y)));
      const drip = smooth(-0.2, 0.2, normal.y + 0.55 + n(4) * 0.4);
      const colour = mix(mix(ball.blush, ball.colour, drip), hex('#7a6247'), rim * 0.35);
      return {
        colour: scale(colour, 1 + n(26) * 0.12),
        bump: bumpy(5, 0.05),
        gloss: 0.5,
        polish: 90,
      };
    }
  }
}

function tableAt(scene: StillLife, balls: Ball[], light: Vector, at: Vector): Colour {
  const [dark, bright] = scene.tableColours;
  const u = at.x * 0.22 + scene.seed;
  const v = at.z * 0.22 + 3;
  let colour: Colour;
  if (scene.table === 'wood') colour = wood(u, v, dark, bright, 0.31);
  else if (scene.table === 'stone') {
    const vein = smooth(0.09, 0, Math.abs(mottle(u * 3, v * 3 + mottle(u * 2, v * 2))));
    colour = mix(scale(bright, 0.95 + mottle(u * 9, v * 9) * 0.12), dark, vein * 0.55);
  } else {
    const fold = noise(u * 2.2 + v * 1.4, v * 0.8) * 0.5;
    const weave =
      Math.sin(at.x * 130) * Math.sin(at.z * 130) * 0.05 + mottle(u * 50, v * 50) * 0.08;
    colour = scale(mix(dark, bright, clamp(0.65 + fold)), 1 + weave);
  }
  const shadow = shadowAt(balls, at, light);
  const crowd = openness(balls, at, { x: 0, y: 1, z: 0 });
  const far = clamp(1.12 - at.z * 0.06 + at.x * scene.window * 0.06, 0.4, 1.4);
  const lightHere = plus(scale(scene.shade, crowd), scene.light, light.y * shadow * far);
  const base = lit(colour, lightHere);
  // The far edge is out of focus and takes the wall's colour.
  return mix(base, scene.wall[0], smooth(2.5, 7, at.z) * 0.75);
}

/** The window is wide, so that shadows are soft, and softer further away. */
function shadowAt(balls: Ball[], at: Vector, light: Vector, self?: Ball): number {
  let seen = 1;
  for (const ball of balls) {
    if (ball === self) continue;
    const dx = ball.x - at.x;
    const dy = (ball.rim === undefined ? ball.y : ball.rim * 0.4) - at.y;
    const dz = ball.z - at.z;
    const ahead = dx * light.x + dy * light.y + dz * light.z;
    if (ahead <= 0) continue;
    if (ball.rim !== undefined && self) continue;
    const beside = Math.sqrt(Math.max(0, dx * dx + dy * dy + dz * dz - ahead * ahead));
    const soft = 0.06 + ahead * 0.3;
    const radius = ball.rim === undefined ? ball.radius : 1.4;
    const started = smooth(0, ball.rim === undefined ? 0.05 : 0.9, ahead);
    seen *= 1 - smooth(radius + soft * 0.6, radius - soft * 0.6, beside) * 0.94 * started;
  }
  return seen;
}

function openness(balls: Ball[], at: Vector, normal: Vector, self?: Ball): number {
  let open = 1;
  for (const ball of balls) {
    if (ball === self) continue;
    const rim = ball.rim !== undefined;
    if (rim && self) {
      open *= 0.72 + 0.28 * smooth(0.5, 1.2, at.y);
      continue;
    }
    const dx = ball.x - at.x;
    const dy = (rim ? 0.4 : ball.y) - at.y;
    const dz = ball.z - at.z;
    const distance = Math.sqrt(dx * dx + dy * dy + dz * dz);
    const up = (dx * normal.x + dy * normal.y + dz * normal.z) / distance;
    const part = ((rim ? 1.1 : ball.radius) / distance) ** 2;
    open *= 1 - clamp(part * clamp(up + 0.35) * 0.95);
  }
  if (self) open *= 0.45 + 0.55 * smooth(0, self.radius * 1.4, at.y);
  return open;
}

function along(from: Vector, ray: Vector, distance: number): Vector {
  return {
    x: from.x + ray.x * distance,
    y: from.y + ray.y * distance,
    z: from.z + ray.z * distance,
  };
}

function dot(a: Vector, b: Vector): number {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

function unit({ x, y, z }: Vector): Vector {
  const k = 1 / Math.sqrt(x * x + y * y + z * z);
  return { x: x * k, y: y * k, z: z * k };
}

export interface Cups {
  seed: number;
  cups: readonly {
    x: number;
    y: number;
    radius: number;
    drink: Colour;
    foam: Colour;
    art: 'rosetta' | 'heart' | 'plain';
  }[];
  china: Colour;
  tableColours: readonly [Colour, Colour];
  beans?: boolean;
}

/** Coffee from straight above. */
export function cups(scene: Cups): Paint {
  return (frame) => {
    const { width, height, unit: size } = frame;
    frame.paint((px, py) => {
      const u = px / size;
      const v = py / size;
      const sun = 1.1 - 0.35 * (u / (width / size)) - 0.15 * (v / (height / size));
      let colour = wood(
        u + scene.seed,
        v + 0.2,
        scene.tableColours[0],
        scene.tableColours[1],
        0.24,
      );
      if (scene.beans) colour = beans(colour, u, v, scene.seed);
      for (const cup of scene.cups) {
        const dx = u - (cup.x * width) / size;
        const dy = v - (cup.y * height) / size;
        colour = cupAt(colour, scene, cup, dx / cup.radius, dy / cup.radius);
      }
      return scale(colour, sun);
    });
  };
}

function cupAt(
  under: Colour,
  scene: Cups,
  cup: Cups['cups'][number],
  x: number,
  y: number,
): Colour {
  const r = Math.hypot(x, y);
  const shade = (cx: number, cy: number, radius: number, soft: number) =>
    smooth(radius + soft, radius - soft, Math.hypot(x - cx, y - cy));
  let colour = scale(under, 1 - shade(0.22, 0.18, 1.66, 0.2) * 0.62);
  const towards = (x + y * 0.7) / (r * 1.22 + 0.001);
  if (r < 1.64) {
    const ring = smooth(1.02, 1.1, r) * smooth(1.2, 1.12, r);
    const lip = smooth(1.54, 1.6, r);
    const plate = scale(
      scene.china,
      0.84 - towards * (lip * 0.3 - ring * 0.16) - shade(0.14, 0.12, 1.08, 0.16) * 0.42,
    );
    colour = mix(colour, plate, smooth(1.64, 1.625, r));
  }
  const handle = Math.abs(Math.hypot(x + 1.12, (y - 0.35) * 1.25) - 0.24) < 0.075;
  if (handle && r > 0.96) colour = scale(scene.china, 0.95);
  if (r < 1) {
    const wall = scale(scene.china, r > 0.93 ? 0.95 - towards * 0.08 : 0.62 + towards * 0.26);
    colour = mix(colour, wall, smooth(1, 0.985, r));
    const drink = drinkAt(cup, x, y, r);
    colour = mix(
      colour,
      scale(drink, 1 - shade(-0.95, -0.8, 0.75, 0.5) * 0.35),
      smooth(0.87, 0.85, r),
    );
  }
  return colour;
}

function drinkAt(cup: Cups['cups'][number], x: number, y: number, r: number): Colour {
  const swirl = mottle(x * 1.8 + cup.x * 9, y * 1.8) * 0.4;
  const crema = mix(
    cup.drink,
    scale(cup.drink, 1.9),
    clamp(0.35 + swirl + smooth(0.6, 0.85, r) * 0.5),
  );
  if (cup.art === 'plain') {
    const bubbles = smooth(0.74, 0.84, r + mottle(x * 9, y * 9) * 0.06);
    return mix(
      mix(cup.drink, scale(cup.drink, 1.5), clamp(swirl + 0.3)),
      scale(cup.foam, 0.7),
      bubbles * 0.7,
    );
  }
  const wx = x + noise(x * 3, y * 3) * 0.05;
  const wy = y + noise(x * 3 + 7, y * 3) * 0.05;
  let art: number;
  if (cup.art === 'heart') {
    const hx = Math.abs(wx) / 0.56;
    const hy = (wy + 0.08) / 0.6;
    const inside = 1 - (hx * hx + (hy + 0.35 - Math.sqrt(hx) * 0.75) ** 2);
    art = smooth(0.05, 0.2, inside) * (0.75 + 0.25 * Math.sin(inside * 16));
  } else {
    const leaf = 0.6 - Math.abs(wy) * 0.75 - wx * wx * 0.4;
    const veins = Math.sin((wy * 1.9 + Math.abs(wx) * 1.5) * 15);
    const inside = smooth(0, 0.1, leaf - Math.abs(wx) * 0.85 + 0.08);
    art = inside * smooth(-0.25, 0.3, veins) * smooth(0.015, 0.04, Math.abs(wx) + 0.01);
  }
  return mix(crema, cup.foam, clamp(art));
}

function beans(under: Colour, u: number, v: number, seed: number): Colour {
  const scatter = noise(u * 2 + seed, v * 2);
  if (scatter < 0.22) return under;
  const size = 22;
  const column = Math.floor(u * size);
  const row = Math.floor(v * size);
  const turn = noise(column * 3.7 + seed, row * 5.3) * 6;
  const x = (u * size - column - 0.5) * 2.1;
  const y = (v * size - row - 0.5) * 2.1;
  const a = x * Math.cos(turn) - y * Math.sin(turn);
  const b = x * Math.sin(turn) + y * Math.cos(turn);
  const r = a * a + (b / 0.68) ** 2;
  if (r > 1) return scale(under, 0.55 + 0.45 * smooth(1, 1.7, r));
  const crease = Math.abs(b + Math.sin(a * 3) * 0.08) < 0.07 ? 0.35 : 1;
  const shine = Math.sqrt(1 - r) * (0.6 - (x + y) * 0.3);
  return plus(scale(hex('#4a2a16'), crease * (0.5 + shine)), grey(0.05), clamp(shine - 0.5));
}

export interface Slices {
  seed: number;
  flesh: readonly [Colour, ...Colour[]];
  rind: readonly [Colour, ...Colour[]];
  board: Colour;
  /** Slices in the unit. */
  across: number;
}

/** Citrus fruit cut in slices, lit from behind. */
export function slices(scene: Slices): Paint {
  return (frame) => {
    const size = frame.unit;
    const flesh = scene.flesh;
    frame.paint((px, py) => {
      const u = (px / size) * scene.across;
      const v = (py / size) * scene.across * 1.1547;
      let colour = scale(scene.board, 0.9 + mottle(u * 3, v * 3) * 0.12);
      for (let row = Math.floor(v) - 1; row <= Math.floor(v) + 1; row += 1) {
        const shift = row & 1 ? 0.5 : 0;
        for (
          let column = Math.floor(u - shift) - 1;
          column <= Math.floor(u - shift) + 1;
          column += 1
        ) {
          const which =
            Math.abs(Math.floor(noise(column * 7.3 + scene.seed, row * 5.9) * 97)) % flesh.length;
          const cx = column + 0.5 + shift + noise(column * 3.1, row * 2.7 + scene.seed) * 0.16;
          const cy = row + 0.5 + noise(column * 2.3 + 9, row * 3.3 + scene.seed) * 0.16;
          const radius = 0.5 + noise(column * 1.7, row * 1.9 + 5) * 0.1;
          const x = u - cx;
          const y = (v - cy) / 1.1547;
          const drop = Math.hypot(x - 0.03, y - 0.04) / radius;
          colour = scale(colour, 1 - smooth(1.12, 0.95, drop) * 0.4);
          const r = Math.hypot(x, y) / radius;
          if (r > 1) continue;
          const body = flesh[which] ?? flesh[0];
          const peel = scene.rind[which] ?? scene.rind[0];
          const turn = Math.atan2(y, x) + column * 1.3 + row;
          colour = mix(
            colour,
            sliceAt(body, peel, r, turn, column * 31 + row * 7),
            smooth(1, 0.985, r),
          );
        }
      }
      return colour;
    });
  };
}

function sliceAt(flesh: Colour, rind: Colour, r: number, turn: number, seed: number): Colour {
  const pith = mix(hex('#fff3d2'), flesh, 0.12);
  if (r > 0.93) return scale(rind, 0.85 + mottle(turn * 6, r * 9) * 0.3);
  const count = 10;
  const sector = (turn / (Math.PI * 2)) * count;
  const within = Math.abs(sector - Math.floor(sector) - 0.5) * 2;
  const wedge =
    smooth(0.02, 0.1, (1 - within) * r * 1.6) * smooth(0.86, 0.8, r) * smooth(0.09, 0.15, r);
  const sacs = mottle(Math.floor(sector) * 5 + within * 1.4 + seed, r * 3.4 + turn) * 0.5;
  const streaks = mottle(turn * 5 + seed, r * 1.8) * 0.4;
  const pulp = scale(flesh, 1.05 + sacs + streaks - r * 0.12);
  const seen = mix(pith, pulp, wedge);
  return plus(seen, grey(1), smooth(0.42, 0.6, mottle(turn * 2.5 + seed, r * 6)) * 0.35 * wedge);
}
