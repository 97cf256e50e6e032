import sharp from 'sharp';
import { thumbHashToApproximateAspectRatio, thumbHashToRGBA } from 'thumbhash';
import { expect, test } from 'vitest';
import { toPixels } from '../../../../shared/thumbnails/pixels.ts';
import { dominantColor, placeholderOf } from '../../../../shared/thumbnails/placeholder.ts';
import { plain, quarters } from '../../../pictures.ts';

test('the thumbhash is a small picture of the picture, in its proportions', async () => {
  const { thumbhash } = await placeholderOf(await toPixels(quarters(300, 200)));
  const hash = Buffer.from(thumbhash, 'base64');
  expect(thumbHashToApproximateAspectRatio(hash)).toBeCloseTo(1.5, 0);
  const { w, h, rgba } = thumbHashToRGBA(hash);
  const at = (x: number, y: number) => [...rgba.subarray((y * w + x) * 4, (y * w + x) * 4 + 3)];
  const [red = 0, green = 0, blue = 0] = at(2, 2);
  expect(red).toBeGreaterThan(Math.max(green, blue));
  const [, , lowerBlue = 0] = at(2, h - 3);
  expect(lowerBlue).toBeGreaterThan(100);
});

test('pictures of one or two channels and of a single pixel have placeholders too', async () => {
  const grey = sharp(Buffer.alloc(50 * 40, 90), { raw: { width: 50, height: 40, channels: 1 } });
  expect((await placeholderOf(await toPixels(grey))).color).toBe('#5a5a5a');
  const pair = {
    data: Buffer.alloc(50 * 40 * 2, 255),
    width: 50,
    height: 40,
    channels: 2,
  } as const;
  expect((await placeholderOf(pair)).color).toBe('#ffffff');
  expect((await placeholderOf(await toPixels(plain(1, 1, '#102030')))).color).toBe('#102030');
});

test('the colour is one that the picture has, not the muddy mean of all', () => {
  const sky = Array.from({ length: 60 }, () => [40, 120, 220, 255]).flat();
  const sand = Array.from({ length: 40 }, () => [230, 200, 120, 255]).flat();
  expect(dominantColor(Uint8Array.from([...sky, ...sand]))).toBe('#2878dc');
});

test('what is transparent counts as the white page behind it', () => {
  const clear = Array.from({ length: 60 }, () => [0, 0, 0, 0]).flat();
  const logo = Array.from({ length: 40 }, () => [200, 0, 0, 255]).flat();
  expect(dominantColor(Uint8Array.from([...clear, ...logo]))).toBe('#ffffff');
});
