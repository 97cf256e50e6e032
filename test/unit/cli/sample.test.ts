import sharp from 'sharp';
import { expect, test } from 'vitest';
import { sampleBytes } from '../../../cli/sample/bytes.ts';
import {
  DAMAGED,
  PICTURES,
  SAMPLE_COUNT,
  SAMPLE_IMAGES,
  UNSUPPORTED,
} from '../../../cli/sample/catalogue.ts';
import type { Picture } from '../../../cli/sample/picture.ts';
import { render } from '../../../cli/sample/render.ts';
import { type SamplePicture, samplePictures } from '../../../cli/sample/sample.ts';
import { CorruptError, UnsupportedError } from '../../../shared/errors.ts';
import { parseImageKey, splitImage } from '../../../shared/thumbnails/image-key.ts';
import { render as renderThumbnails } from '../../../shared/thumbnails/render.ts';

const CARD = {
  name: 'card',
  width: 120,
  height: 120,
  fit: 'inside',
  format: 'webp',
  quality: 75,
  orientation: 'exif',
} as const;

const LIMITS = { memoryBytes: 1769 * 1024 * 1024 };

test('one gallery has at least eighty good pictures, under keys that Glimpse takes', () => {
  const good = [...PICTURES.keys()].filter((image) => splitImage(image).gallery === 'sample');
  expect(good.length).toBeGreaterThanOrEqual(80);
  expect(new Set(SAMPLE_IMAGES).size).toBe(SAMPLE_COUNT);
  expect(SAMPLE_COUNT).toBe(PICTURES.size + 2);
  for (const image of SAMPLE_IMAGES) expect(parseImageKey(image)).toBe(image);
  expect([DAMAGED, UNSUPPORTED].map((image) => splitImage(image).gallery)).toEqual([
    'sample',
    'sample',
  ]);
});

test('names are as people write them', () => {
  const names = [...PICTURES.keys()].join('\n');
  for (const mark of [/ /, /\+/, /ü/, /\p{Extended_Pictographic}/u, /\(/]) {
    expect(names).toMatch(mark);
  }
  for (const ending of ['jpg', 'JPG', 'png', 'webp', 'avif']) expect(names).toContain(`.${ending}`);
});

test('every orientation occurs, in the large gallery too', () => {
  const ofGallery = (gallery: string) =>
    new Set(
      [...PICTURES]
        .filter(([image]) => splitImage(image).gallery === gallery)
        .map(([, { orientation }]) => orientation ?? 1),
    );
  expect(ofGallery('sample').size).toBe(8);
  expect(ofGallery('sample/orientations').size).toBe(8);
});

test('the eight ways of storing a picture look alike upright', async () => {
  const turned = [...PICTURES.values()].filter(({ kind }) => kind === 'orientation');
  const upright: Buffer[] = [];
  for (const picture of turned) {
    const stored = await render(picture, 0.2);
    expect((await sharp(stored).metadata()).orientation).toBe(picture.orientation);
    upright.push(await sharp(stored).autoOrient().resize(48, 32).blur(1).raw().toBuffer());
  }
  const [first] = upright;
  for (const other of upright) expect(difference(first, other)).toBeLessThan(3);
});

test('at least five have twelve megapixels, and those are really there', async () => {
  const large = [...PICTURES.values()].filter(({ size }) => size[0] * size[1] >= 12_000_000);
  expect(large.length).toBeGreaterThanOrEqual(5);
  const smallest = large.sort((a, b) => a.size[0] * a.size[1] - b.size[0] * b.size[1])[0];
  const { width, height } = await sharp(await render(smallest ?? missing())).metadata();
  expect([width, height]).toEqual(smallest?.size);
});

test('the damaged one is corrupt and the foreign one unsupported to the real decoder', async () => {
  const damaged = await sampleBytes(DAMAGED);
  await expect(renderThumbnails(damaged, [CARD], LIMITS)).rejects.toThrow(CorruptError);
  const foreign = await sampleBytes(UNSUPPORTED);
  await expect(renderThumbnails(foreign, [CARD], LIMITS)).rejects.toThrow(UnsupportedError);
  await expect(renderThumbnails(foreign, [CARD], LIMITS)).rejects.toThrow('HEIC');
});

const KINDS = Map.groupBy(PICTURES.values(), ({ kind }) => kind);

test('there are at least fifteen kinds of scene', () => {
  expect(KINDS.size).toBeGreaterThanOrEqual(15);
});

test.each([...KINDS.keys()])('%s: neither flat nor noise', async (kind) => {
  const pixels = await small(KINDS.get(kind)?.[0] ?? missing());
  const colours = new Set<number>();
  for (let at = 0; at < pixels.length; at += 3) {
    const level = (c: number) => (pixels[at + c] ?? 0) >> 4;
    colours.add((level(0) << 8) | (level(1) << 4) | level(2));
  }
  expect(colours.size).toBeGreaterThan(24);
  // Photographs have most of their energy in coarse structure; noise keeps next to nothing when halved.
  const coarse = await sharp(pixels, RAW)
    .resize(SIDE / 2, SIDE / 2)
    .raw()
    .toBuffer();
  const again = await sharp(coarse, { raw: { width: SIDE / 2, height: SIDE / 2, channels: 3 } })
    .resize(SIDE, SIDE)
    .raw()
    .toBuffer();
  expect(difference(pixels, again)).toBeLessThan(spread(pixels) * 0.65);
});

test('two variations of a scene differ clearly', async () => {
  for (const kind of ['mountains', 'sea', 'fruit', 'meadow']) {
    const [one, other] = KINDS.get(kind) ?? [];
    const pixels = [await small(one ?? missing()), await small(other ?? missing())];
    expect(difference(pixels[0], pixels[1]), kind).toBeGreaterThan(18);
  }
});

test('threads draw what is asked for, and leave out what is there', async () => {
  const only = 'sample/orientations/';
  const except = new Set(SAMPLE_IMAGES.filter((image) => !image.endsWith('-3.jpg')));
  const drawn: SamplePicture[] = [];
  for await (const picture of samplePictures({ only, except })) drawn.push(picture);
  expect(drawn.map(({ image, contentType }) => [image, contentType])).toEqual([
    ['sample/orientations/orientation-3.jpg', 'image/jpeg'],
  ]);
  expect((await sharp(drawn[0]?.bytes).metadata()).orientation).toBe(3);
});

test('a signal ends it', async () => {
  const stop = new AbortController();
  let drawn = 0;
  for await (const _ of samplePictures({ only: 'sample/orientations/', signal: stop.signal })) {
    drawn += 1;
    stop.abort();
  }
  expect(drawn).toBe(1);
});

const SIDE = 64;
const RAW = { raw: { width: SIDE, height: SIDE, channels: 3 } } as const;

async function small(picture: Picture): Promise<Buffer> {
  const bytes = await render(picture, 110 / Math.sqrt(picture.size[0] * picture.size[1]));
  return sharp(bytes)
    .autoOrient()
    .resize(SIDE, SIDE, { fit: 'fill' })
    .removeAlpha()
    .raw()
    .toBuffer();
}

/** Mean, in levels of 255. */
function difference(a: Buffer | undefined, b: Buffer | undefined): number {
  if (a === undefined || b === undefined || a.length !== b.length) return missing();
  let sum = 0;
  for (let at = 0; at < a.length; at += 1) sum += Math.abs((a[at] ?? 0) - (b[at] ?? 0));
  return sum / a.length;
}

/** Mean distance from the mean, in levels of 255. */
function spread(pixels: Buffer): number {
  let mean = 0;
  for (const value of pixels) mean += value / pixels.length;
  let sum = 0;
  for (const value of pixels) sum += Math.abs(value - mean);
  return sum / pixels.length;
}

function missing(): never {
  throw new Error('expected a picture');
}
