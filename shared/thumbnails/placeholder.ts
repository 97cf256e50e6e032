import { rgbaToThumbHash } from 'thumbhash';
import { type Pixels, toRgba } from './pixels.ts';

export interface Placeholder {
  /** base64, about 25 bytes: a blurred picture with its proportions and transparency. */
  thumbhash: string;
  /** '#rrggbb', for those who want one plain colour. */
  color: string;
}

/** The hash's own limit is 100 pixels a side. */
const SIDE = 100;

/** What a page shows in place of the picture until it is there, from the upright picture. */
export async function placeholderOf(upright: Pixels): Promise<Placeholder> {
  const { width, height, data } = await toRgba(upright, { width: SIDE, height: SIDE });
  return {
    thumbhash: Buffer.from(rgbaToThumbHash(width, height, data)).toString('base64'),
    color: dominantColor(data),
  };
}

/** Eight levels a channel: coarse enough that a shaded wall is one colour. */
const LEVEL_BITS = 5;

/**
 * The mean of the most frequent group of similar colours, over white where transparent. The mean of
 * all pixels would be a grey-brown that occurs nowhere in the picture.
 */
export function dominantColor(rgba: Uint8Array): string {
  const groups = new Map<number, [count: number, red: number, green: number, blue: number]>();
  for (let at = 0; at + 3 < rgba.length; at += 4) {
    const [red, green, blue] = overWhite(rgba, at);
    const key = ((red >> LEVEL_BITS) << 6) | ((green >> LEVEL_BITS) << 3) | (blue >> LEVEL_BITS);
    const group = groups.get(key) ?? [0, 0, 0, 0];
    groups.set(key, [group[0] + 1, group[1] + red, group[2] + green, group[3] + blue]);
  }
  let most: [number, number, number, number] = [0, 0, 0, 0];
  for (const group of groups.values()) if (group[0] > most[0]) most = group;
  const [count, ...sums] = most;
  return `#${sums.map((sum) => hex(sum / Math.max(1, count))).join('')}`;
}

function overWhite(rgba: Uint8Array, at: number): [number, number, number] {
  const alpha = (rgba[at + 3] ?? 255) / 255;
  const over = (value = 0) => Math.round(value * alpha + 255 * (1 - alpha));
  return [over(rgba[at]), over(rgba[at + 1]), over(rgba[at + 2])];
}

function hex(value: number): string {
  return Math.round(value).toString(16).padStart(2, '0');
}
