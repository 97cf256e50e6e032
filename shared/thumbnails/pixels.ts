import type { Sharp } from 'sharp';
import { sharp } from './engine.ts';
import type { Cut, Size } from './geometry.ts';
import type { Variant } from './variant.ts';

/** Decoded pixels: 8-bit sRGB or grey, with or without alpha, and nothing else of the source. */
export interface Pixels extends Size {
  data: Uint8Array;
  channels: 1 | 2 | 3 | 4;
}

/**
 * The EXIF orientations as what turns the stored picture upright: mirrored left to right, then
 * turned clockwise. sharp does the two in this order, whichever is called first.
 */
const TURNS = new Map([
  [2, { mirrored: true, angle: 0 }],
  [3, { mirrored: false, angle: 180 }],
  [4, { mirrored: true, angle: 180 }],
  [5, { mirrored: true, angle: 270 }],
  [6, { mirrored: false, angle: 90 }],
  [7, { mirrored: true, angle: 90 }],
  [8, { mirrored: false, angle: 270 }],
]);

/**
 * The pixels the right way up. Turning comes after the reduction: turned first, a 24 MP PNG would
 * have to be whole in memory.
 */
export async function turnUpright(stored: Pixels, orientation: number): Promise<Pixels> {
  const turn = TURNS.get(orientation);
  if (turn === undefined) return stored;
  return toPixels(open(stored).flop(turn.mirrored).rotate(turn.angle));
}

/** The same picture inside the box, with four channels. */
export async function toRgba(pixels: Pixels, box: Size): Promise<Pixels> {
  const image = open(pixels).resize({ ...box, fit: 'inside', withoutEnlargement: true });
  return toPixels(image.toColourspace('srgb').ensureAlpha());
}

/** One thumbnail's bytes. They come from bare pixels, so there is no metadata to leave behind. */
export async function encode(
  pixels: Pixels,
  { scaled, crop }: Cut,
  variant: Variant,
): Promise<Buffer> {
  const image = open(pixels)
    .resize({ ...scaled, fit: 'fill' })
    .extract({
      left: Math.floor((scaled.width - crop.width) / 2),
      top: Math.floor((scaled.height - crop.height) / 2),
      ...crop,
    });
  return encoder(image, variant).toBuffer();
}

/**
 * Efforts by measured cost. WebP: encoding at 1,600 pixels is most of what a picture costs, and 2
 * takes 81 ms there (9 ms at 480) where the default of 4 takes 180 (20), for 3 % more bytes and
 * 0.4 dB. AVIF at 480 pixels: 2 takes 104 ms, the default of 4 takes 925.
 */
function encoder(image: Sharp, { format, quality }: Variant): Sharp {
  switch (format) {
    case 'webp':
      return image.webp({ quality, effort: 2 });
    case 'avif':
      return image.avif({ quality, effort: 2 });
    case 'jpeg':
      // JPEG has no transparency, and what is transparent is often black beneath.
      return image.flatten({ background: '#ffffff' }).jpeg({ quality });
  }
}

function open({ data, width, height, channels }: Pixels): Sharp {
  return sharp(data, { raw: { width, height, channels } });
}

export async function toPixels(image: Sharp): Promise<Pixels> {
  const { data, info } = await image.raw().toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return { data, width, height, channels };
}
