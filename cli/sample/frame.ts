import type { Colour } from './colour.ts';
import { clamp } from './noise.ts';

/**
 * What falls on the sensor: linear light, before it is developed. Scenes measure in `unit`, so
 * that a frame of another size is the same picture.
 */
export class Frame {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each pixel. */
  readonly light: Float32Array;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.light = new Float32Array(width * height * 3);
  }

  /** The side of a square of the same area, in pixels. */
  get unit(): number {
    return Math.sqrt(this.width * this.height);
  }

  at(x: number, y: number): Colour {
    const index = (y * this.width + x) * 3;
    const { light } = this;
    return { r: light[index] ?? 0, g: light[index + 1] ?? 0, b: light[index + 2] ?? 0 };
  }

  set(x: number, y: number, colour: Colour): void {
    const index = (y * this.width + x) * 3;
    this.light[index] = colour.r;
    this.light[index + 1] = colour.g;
    this.light[index + 2] = colour.b;
  }

  /** Pixels outside the frame are left out. */
  cover(x: number, y: number, colour: Colour, opacity: number): void {
    if (opacity <= 0 || x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const index = (y * this.width + x) * 3;
    const { light } = this;
    const k = Math.min(opacity, 1);
    const r = light[index] ?? 0;
    const g = light[index + 1] ?? 0;
    const b = light[index + 2] ?? 0;
    light[index] = r + (colour.r - r) * k;
    light[index + 1] = g + (colour.g - g) * k;
    light[index + 2] = b + (colour.b - b) * k;
  }

  shine(x: number, y: number, colour: Colour, strength: number): void {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const index = (y * this.width + x) * 3;
    const { light } = this;
    light[index] = (light[index] ?? 0) + colour.r * strength;
    light[index + 1] = (light[index + 1] ?? 0) + colour.g * strength;
    light[index + 2] = (light[index + 2] ?? 0) + colour.b * strength;
  }

  /** Between pixels; the edge goes on outside. */
  sample(x: number, y: number): Colour {
    const cx = clamp(x, 0, this.width - 1.001);
    const cy = clamp(y, 0, this.height - 1.001);
    const left = Math.floor(cx);
    const top = Math.floor(cy);
    const fx = cx - left;
    const fy = cy - top;
    const index = (top * this.width + left) * 3;
    const below = index + this.width * 3;
    const { light } = this;
    const channel = (c: number) => {
      const a = light[index + c] ?? 0;
      const b = light[below + c] ?? a;
      const upper = a + ((light[index + c + 3] ?? a) - a) * fx;
      return upper + (b + ((light[below + c + 3] ?? b) - b) * fx - upper) * fy;
    };
    return { r: channel(0), g: channel(1), b: channel(2) };
  }

  paint(colourAt: (x: number, y: number) => Colour): void {
    for (let y = 0; y < this.height; y += 1) {
      for (let x = 0; x < this.width; x += 1) this.set(x, y, colourAt(x, y));
    }
  }

  /** Calls for each pixel of a box that lies in the frame. */
  within(
    box: { left: number; top: number; right: number; bottom: number },
    visit: (x: number, y: number) => void,
  ): void {
    const right = Math.min(this.width - 1, Math.ceil(box.right));
    const bottom = Math.min(this.height - 1, Math.ceil(box.bottom));
    for (let y = Math.max(0, Math.floor(box.top)); y <= bottom; y += 1) {
      for (let x = Math.max(0, Math.floor(box.left)); x <= right; x += 1) visit(x, y);
    }
  }

  /** Out of focus: three box blurs are as good as a disc. @param radius in pixels */
  blur(radius: number): void {
    for (let pass = 0; pass < 3; pass += 1) blurLines(this, Math.round(radius * 0.58));
  }

  /** Half the size, or a quarter …: soft things are cheap to make small. */
  smaller(factor: number): Frame {
    return new Frame(
      Math.max(2, Math.round(this.width / factor)),
      Math.max(2, Math.round(this.height / factor)),
    );
  }

  /** Fills this frame with another one, enlarged or reduced. */
  fill(source: Frame): void {
    const sx = source.width / this.width;
    const sy = source.height / this.height;
    this.paint((x, y) => source.sample((x + 0.5) * sx - 0.5, (y + 0.5) * sy - 0.5));
  }
}

function blurLines(frame: Frame, radius: number): void {
  if (radius < 1) return;
  const { width, height, light } = frame;
  const longest = Math.max(width, height);
  const line = new Float32Array(longest);
  const run = (start: number, step: number, length: number) => {
    for (let index = 0; index < length; index += 1) line[index] = light[start + index * step] ?? 0;
    const last = length - 1;
    let sum = 0;
    for (let index = -radius; index <= radius; index += 1) {
      sum += line[clamp(index, 0, last)] ?? 0;
    }
    const share = 1 / (radius * 2 + 1);
    for (let index = 0; index < length; index += 1) {
      light[start + index * step] = sum * share;
      sum += line[Math.min(index + radius + 1, last)] ?? 0;
      sum -= line[index < radius ? 0 : index - radius] ?? 0;
    }
  };
  for (let c = 0; c < 3; c += 1) {
    for (let y = 0; y < height; y += 1) run(y * width * 3 + c, 3, width);
    for (let x = 0; x < width; x += 1) run(x * 3 + c, width * 3, height);
  }
}

/** A sheet of its own over a frame: what stands before the rest and has another focus. */
export class Layer {
  readonly colour: Frame;
  readonly opacity: Frame;

  constructor(frame: Frame) {
    this.colour = new Frame(frame.width, frame.height);
    this.opacity = new Frame(frame.width, frame.height);
  }

  cover(x: number, y: number, colour: Colour, opacity: number): void {
    this.colour.cover(x, y, colour, opacity);
    this.opacity.cover(x, y, WHITE, opacity);
  }

  /** Colours are weighted by their opacity throughout, so that edges do not darken. */
  onto(frame: Frame, radius = 0): void {
    this.colour.blur(radius);
    this.opacity.blur(radius);
    for (let y = 0; y < frame.height; y += 1) {
      for (let x = 0; x < frame.width; x += 1) {
        const opacity = this.opacity.at(x, y).r;
        if (opacity < 0.001) continue;
        const over = this.colour.at(x, y);
        const under = frame.at(x, y);
        frame.set(x, y, {
          r: over.r + under.r * (1 - opacity),
          g: over.g + under.g * (1 - opacity),
          b: over.b + under.b * (1 - opacity),
        });
      }
    }
  }
}

const WHITE: Colour = { r: 1, g: 1, b: 1 };

/** What a scene is: it puts light on a frame of any size. */
export type Paint = (frame: Frame) => void;
