import { type Colour, mix, plus, scale } from './colour.ts';
import type { Frame } from './frame.ts';
import { cellValue, clamp, noise } from './noise.ts';
import type { View } from './sky.ts';

export interface Water {
  /** Slope of the waves: 0.005 is a mirror, 0.15 a choppy sea. */
  roughness: number;
  /** Metres from crest to crest of the largest waves. */
  swell: number;
  /** What is seen of the water itself where one looks down into it. */
  body: Colour;
  /** Where there is water; everywhere below the horizon without it. */
  where?: (x: number, y: number) => boolean;
  seed: number;
}

/**
 * Water that mirrors what stands above the horizon in the frame, so it is drawn last but for what
 * floats on it. Waves too small for a pixel scatter the mirror image: that is the glitter.
 */
export function drawWater(frame: Frame, view: View, water: Water): void {
  const start = Math.max(0, Math.ceil(view.horizon));
  const sky = frame.light.slice(0, start * frame.width * 3);
  const mirror = reader(sky, frame.width, start);
  const octaves = [1, 0.43, 0.17, 0.06].map((part) => water.swell * part);
  for (let y = start; y < frame.height; y += 1) {
    const down = Math.max(0.35, y + 0.5 - view.horizon);
    const z = (view.height * view.focal) / down;
    const footprint = (z * z) / (view.height * view.focal);
    const grazing = down / Math.sqrt(down * down + view.focal * view.focal);
    for (let x = 0; x < frame.width; x += 1) {
      if (water.where && !water.where(x, y)) continue;
      const wx = ((x - view.centre) / view.focal) * z;
      let slopeX = 0;
      let slopeZ = 0;
      let unseen = 0;
      for (const length of octaves) {
        const seen = 1 / (1 + (footprint / length) ** 2);
        unseen += 1 - seen;
        if (seen < 0.03) continue;
        // Crests run across the wind: waves are longer to the side than towards us.
        const px = wx / (length * 1.9) + water.seed * 3.7;
        const pz = z / length + water.seed * 5.1;
        slopeX += noise(px + 31.4, pz) * seen * 0.5;
        slopeZ += noise(px, pz) * seen;
      }
      const scatter = Math.sqrt(unseen) * 0.5;
      let reflected: Colour = { r: 0, g: 0, b: 0 };
      for (let ray = 0; ray < 3; ray += 1) {
        const jitter = cellValue(x * 3 + ray, y) - 0.5;
        const across = cellValue(x * 3 + ray + 500, y + 77) - 0.5;
        const rise = Math.abs(slopeZ + jitter * scatter * 2) * water.roughness * 2;
        const side = (slopeX + across * scatter) * water.roughness * 1.2;
        reflected = plus(
          reflected,
          mirror(x + side * view.focal, start - down - rise * view.focal),
          1 / 3,
        );
      }
      const facing = clamp(grazing + slopeZ * water.roughness * 1.5);
      const fresnel = 0.03 + 0.97 * (1 - facing) ** 4.5;
      const depth = scale(water.body, 0.8 + slopeZ * 0.5);
      frame.set(x, y, mix(depth, reflected, fresnel));
    }
  }
}

/** Above the picture's top the sky goes on, turned back, which nobody can tell from sky. */
function reader(
  light: Float32Array,
  width: number,
  height: number,
): (x: number, y: number) => Colour {
  return (x, y) => {
    const column = clamp(Math.round(x), 0, width - 1);
    const row = clamp(Math.round(y < 0 ? -y * 0.6 : y), 0, Math.max(0, height - 1));
    const index = (row * width + column) * 3;
    return { r: light[index] ?? 0, g: light[index + 1] ?? 0, b: light[index + 2] ?? 0 };
  };
}
