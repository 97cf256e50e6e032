import { type Colour, hex } from './colour.ts';
import { Frame } from './frame.ts';
import { clamp } from './noise.ts';

/** How a frame becomes a photograph. */
export interface Look {
  /** Stops. */
  exposure?: number;
  /** 0 is none. */
  contrast?: number;
  /** 1 leaves colours alone. */
  saturation?: number;
  /** The tints of the dark and of the bright parts. */
  shadows?: Colour;
  highlights?: Colour;
  vignette?: number;
  /** How much of the bright spills over. */
  bloom?: number;
  /** The darkest black there is, 0 to 0.1: faded prints. */
  fade?: number;
  /** Levels of 255 of the grain. */
  grain?: number;
}

const DEFAULTS = {
  exposure: 0.45,
  contrast: 0.35,
  saturation: 1.06,
  shadows: hex('#7d8086'),
  highlights: hex('#82807c'),
  vignette: 0.24,
  bloom: 0.12,
  fade: 0.012,
  grain: 4.5,
} as const satisfies Required<Look>;

export function grainOf(look: Look): number {
  return look.grain ?? DEFAULTS.grain;
}

/** @returns red, green and blue of each pixel, as a screen shows them */
export function develop(frame: Frame, look: Look): Buffer {
  const chosen = { ...DEFAULTS, ...look };
  const { width, height } = frame;
  if (chosen.bloom > 0) bloom(frame, chosen.bloom);
  const curve = toneCurve(chosen);
  const developed = Buffer.allocUnsafe(width * height * 3);
  const shadows = tint(chosen.shadows);
  const highlights = tint(chosen.highlights);
  const reach = 1 / (width * width + height * height);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const offX = x * 2 - width;
      const offY = y * 2 - height;
      const falloff = 1 - chosen.vignette * (offX * offX + offY * offY) * reach;
      const colour = frame.at(x, y);
      const k = falloff * falloff;
      const r = curve(colour.r * k);
      const g = curve(colour.g * k);
      const b = curve(colour.b * k);
      const luma = 0.25 * r + 0.62 * g + 0.13 * b;
      const index = (y * width + x) * 3;
      const graded = (value: number, dark: number, bright: number) => {
        const saturated = luma + (value - luma) * chosen.saturation;
        return clamp(saturated * (dark + (bright - dark) * luma), 0, 1) * 255 + 0.5;
      };
      developed[index] = graded(r, shadows.r, highlights.r);
      developed[index + 1] = graded(g, shadows.g, highlights.g);
      developed[index + 2] = graded(b, shadows.b, highlights.b);
    }
  }
  return developed;
}

/** A tint that changes no brightness. */
function tint({ r, g, b }: Colour): Colour {
  const mean = (r + g + b) / 3;
  const gentle = (value: number) => (value / mean) ** 0.5;
  return { r: gentle(r), g: gentle(g), b: gentle(b) };
}

/** Film: highlights bend over instead of being cut off, then the screen's gamma and an S. */
function toneCurve({ exposure, contrast, fade }: Required<Look>): (light: number) => number {
  const entries = 4096;
  // By the root, so that the darks, where the curve is steep, have the most entries.
  const perRoot = entries / Math.sqrt(16);
  const gain = 2 ** exposure * 1.25;
  const table = new Float32Array(entries + 1);
  for (let index = 0; index <= entries; index += 1) {
    const light = (index / perRoot) ** 2;
    const film = 1 - Math.exp(-light * gain);
    const screen = film ** (1 / 2.2);
    const bent = screen * screen * (3 - 2 * screen);
    table[index] = fade + (screen + (bent - screen) * contrast) * (1 - fade);
  }
  return (light) => table[Math.min(entries, Math.sqrt(Math.max(0, light)) * perRoot) | 0] ?? 1;
}

function bloom(frame: Frame, strength: number): void {
  const factor = Math.max(2, Math.round(frame.unit / 110));
  const small = frame.smaller(factor);
  for (let y = 0; y < small.height; y += 1) {
    for (let x = 0; x < small.width; x += 1) {
      small.set(x, y, brightest(frame, x * factor, y * factor, factor));
    }
  }
  small.blur(small.unit * 0.035);
  const spread = new Frame(frame.width, frame.height);
  spread.fill(small);
  for (let index = 0; index < frame.light.length; index += 1) {
    frame.light[index] = (frame.light[index] ?? 0) + (spread.light[index] ?? 0) * strength;
  }
}

/** The mean of what is brighter than paper, over a block: lamps and suns, however small. */
function brightest(frame: Frame, left: number, top: number, size: number): Colour {
  let r = 0;
  let g = 0;
  let b = 0;
  const right = Math.min(frame.width, left + size);
  const bottom = Math.min(frame.height, top + size);
  for (let y = top; y < bottom; y += 1) {
    for (let x = left; x < right; x += 1) {
      const colour = frame.at(x, y);
      r += Math.max(0, colour.r - 0.7);
      g += Math.max(0, colour.g - 0.7);
      b += Math.max(0, colour.b - 0.7);
    }
  }
  const count = size * size;
  return { r: r / count, g: g / count, b: b / count };
}
