import sharp, { type Sharp } from 'sharp';
import { describe, expect, test, vi } from 'vitest';
import { TooLargeError } from '../../../../shared/errors.ts';
import { decode } from '../../../../shared/thumbnails/decode.ts';
import { render } from '../../../../shared/thumbnails/render.ts';
import type { Variant } from '../../../../shared/thumbnails/variant.ts';
import { greyJpeg, plain, quarters, svg } from '../../../pictures.ts';

// Another file in this process may have loaded it without the spy.
vi.hoisted(() => vi.resetModules());
vi.mock(import('../../../../shared/thumbnails/decode.ts'), async (original) => {
  const module = await original();
  return { ...module, decode: vi.fn(module.decode) };
});

const LIMITS = { memoryBytes: 1769 * 1024 * 1024 };

const CARD: Variant = {
  name: 'card',
  width: 48,
  height: 48,
  fit: 'inside',
  format: 'webp',
  quality: 90,
  orientation: 'exif',
};
const ZOOM: Variant = { ...CARD, name: 'zoom', width: 1600, height: 1600 };

async function renderOne(source: Uint8Array, change: Partial<Variant> = {}) {
  const rendering = await render(source, [{ ...CARD, ...change }], LIMITS);
  const [variant] = rendering.variants;
  if (variant === undefined) throw new Error('expected a variant');
  return { ...rendering, variant };
}

async function pixels(bytes: Uint8Array) {
  const { data, info } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true });
  return {
    ...info,
    data,
    at: (x: number, y: number) => {
      const from = (y * info.width + x) * info.channels;
      return [...data.subarray(from, from + info.channels)];
    },
  };
}

function meanDifference(one: Uint8Array, other: Uint8Array): number {
  return (
    one.reduce((sum, value, index) => sum + Math.abs(value - (other[index] ?? 0)), 0) / one.length
  );
}

/** The stored form that each orientation's tag turns back into the same upright picture. */
const STORED: Record<number, (upright: Buffer) => Sharp> = {
  1: (upright) => sharp(upright),
  2: (upright) => sharp(upright).flop(),
  3: (upright) => sharp(upright).rotate(180),
  4: (upright) => sharp(upright).flip(),
  // Through a buffer between the two: sharp orders mirrors and turns as it likes in one pipeline.
  5: (upright) => transposed(upright),
  6: (upright) => sharp(upright).rotate(270),
  7: (upright) => transposed(upright).rotate(180),
  8: (upright) => sharp(upright).rotate(90),
};

/** Row for column, by affine matrix: nothing here depends on how the code under test turns. */
function transposed(upright: Buffer): Sharp {
  return sharp(upright).affine([0, 1, 1, 0], { interpolator: 'nearest' });
}

describe('orientation', () => {
  const orientations = [1, 2, 3, 4, 5, 6, 7, 8];

  test.each(orientations)('%i comes out as the same upright picture', async (orientation) => {
    const upright = await quarters(96, 64).png().toBuffer();
    const stored = await STORED[orientation]?.(upright).png().toBuffer();
    const tagged = await sharp(stored)
      .withMetadata({ orientation })
      .jpeg({ quality: 95 })
      .toBuffer();
    const rendering = await renderOne(tagged, { width: 48, height: 48 });
    expect(rendering).toMatchObject({ width: 96, height: 64, orientation });
    const turned = await pixels(rendering.variant.bytes);
    const expected = await pixels((await renderOne(upright)).variant.bytes);
    expect([turned.width, turned.height]).toEqual([48, 32]);
    expect(meanDifference(turned.data, expected.data)).toBeLessThan(3);
  });

  test.each(orientations)('%i is left as stored in a raw variant', async (orientation) => {
    const upright = await quarters(96, 64).png().toBuffer();
    const stored = await STORED[orientation]?.(upright).png().toBuffer();
    if (stored === undefined) throw new Error('expected a stored form');
    const tagged = await sharp(stored).withMetadata({ orientation }).png().toBuffer();
    const raw = await pixels((await renderOne(tagged, { orientation: 'raw' })).variant.bytes);
    const expected = await pixels((await renderOne(stored)).variant.bytes);
    expect([raw.width, raw.height]).toEqual(orientation < 5 ? [48, 32] : [32, 48]);
    expect(meanDifference(raw.data, expected.data)).toBeLessThan(3);
  });

  test.each(['png', 'webp', 'tiff'] as const)('is respected in %s too', async (format) => {
    const tagged = await quarters(96, 64)
      .withMetadata({ orientation: 6 })
      .toFormat(format)
      .toBuffer();
    const { width, height, variant } = await renderOne(tagged);
    expect([width, height, variant.width, variant.height]).toEqual([64, 96, 32, 48]);
  });

  test('of a crop is that of the upright picture', async () => {
    const tagged = await quarters(96, 64).withMetadata({ orientation: 6 }).png().toBuffer();
    const { variant } = await renderOne(tagged, { width: 20, height: 40, fit: 'cover' });
    expect([variant.width, variant.height]).toEqual([20, 40]);
    const picture = await pixels(variant.bytes);
    // The stored left column, blue below red, is the upright top row, blue left of red.
    expect(picture.at(2, 2)[2]).toBeGreaterThan(150);
    expect(picture.at(17, 2)[0]).toBeGreaterThan(150);
  });
});

describe('sizes', () => {
  test('180×4 to width 25 gives 25×1', async () => {
    const source = await quarters(180, 4).png().toBuffer();
    const { variant } = await renderOne(source, { width: 25, height: 25 });
    const picture = await pixels(variant.bytes);
    expect([picture.width, picture.height]).toEqual([25, 1]);
  });

  test.each(['webp', 'jpeg', 'avif'] as const)(
    '200×20000 stays inside the box as %s',
    async (format) => {
      const source = await plain(200, 20_000).jpeg().toBuffer();
      const { variant } = await renderOne(source, { width: 4096, height: 4096, format });
      const picture = await pixels(variant.bytes);
      expect([picture.width, picture.height]).toEqual([41, 4096]);
      expect([variant.width, variant.height]).toEqual([41, 4096]);
    },
  );

  test('a small picture is not enlarged, and a cover keeps the shape of its box', async () => {
    const source = await quarters(30, 60).png().toBuffer();
    const inside = await pixels(
      (await renderOne(source, { width: 480, height: 480 })).variant.bytes,
    );
    expect([inside.width, inside.height]).toEqual([30, 60]);
    const cover = { width: 480, height: 480, fit: 'cover' } as const;
    const covered = await pixels((await renderOne(source, cover)).variant.bytes);
    expect([covered.width, covered.height]).toEqual([30, 30]);
  });

  test('what is reported of each variant is what its bytes are', async () => {
    const source = await quarters(640, 401).png().toBuffer();
    const variants: Variant[] = [
      CARD,
      { ...CARD, name: 'wide', width: 333, height: 100, fit: 'cover', format: 'jpeg' },
      {
        ...CARD,
        name: 'tall',
        width: 77,
        height: 311,
        fit: 'cover',
        format: 'avif',
        orientation: 'raw',
      },
    ];
    const rendering = await render(source, variants, LIMITS);
    expect(rendering.variants.map(({ name }) => name)).toEqual(['card', 'wide', 'tall']);
    for (const { bytes, width, height, contentType } of rendering.variants) {
      const metadata = await sharp(bytes).metadata();
      expect(metadata).toMatchObject({ width, height, mediaType: contentType });
    }
  });

  test('an SVG is measured at its nominal size and drawn for the largest variant', async () => {
    const body = '<rect width="1500" height="2000" fill="#204060"/>';
    const source = svg(body, 'width="3000" height="2000"');
    const rendering = await render(source, [CARD, { ...ZOOM, width: 300, height: 300 }], LIMITS);
    expect(rendering).toMatchObject({ width: 3000, height: 2000 });
    expect(rendering.variants.map(({ width, height }) => [width, height])).toEqual([
      [48, 32],
      [300, 200],
    ]);
    const zoom = await pixels(rendering.variants[1]?.bytes ?? Buffer.alloc(0));
    expect(zoom.at(10, 100).slice(0, 3)).toEqual([0x20, 0x40, 0x60].map(near(2)));
    expect(zoom.at(290, 100)[3]).toBe(0);
  });

  test('an SVG smaller than its variants is drawn at their size, sharp to the edge', async () => {
    const source = svg('<rect width="8" height="16" fill="#204060"/>', 'width="16" height="16"');
    const cover = { ...ZOOM, name: 'cover', width: 300, height: 200, fit: 'cover' } as const;
    const rendering = await render(source, [CARD, cover, ZOOM], LIMITS);
    expect(rendering).toMatchObject({ width: 16, height: 16 });
    expect(rendering.variants.map(({ width, height }) => [width, height])).toEqual([
      [48, 48],
      [300, 200],
      [ZOOM.width, ZOOM.height],
    ]);
    const { width, at } = await pixels(rendering.variants[2]?.bytes ?? Buffer.alloc(0));
    // Enlarged pixels would fade over a sixteenth of the picture.
    expect(at(width / 2 - 3, 20)[3]).toBe(255);
    expect(at(width / 2 + 2, 20)[3]).toBe(0);
  });

  test('an SVG that is a strip is drawn as large as a drawing may be', async () => {
    const source = svg('<rect width="1" height="9000"/>', 'width="1" height="9000"');
    const cover = { ...ZOOM, width: 480, height: 480, fit: 'cover' } as const;
    const { variants } = await render(source, [cover], LIMITS);
    expect(variants[0]).toMatchObject({ width: 2, height: 2 });
  });
});

function channelsOf(color: string): number[] {
  return [...Buffer.from(color.slice(1), 'hex')];
}

function near(distance: number) {
  return (value: number) => ({
    asymmetricMatch: (other: unknown) => Math.abs(Number(other) - value) <= distance,
  });
}

describe('colours', () => {
  // Saturated, so that a forgotten conversion shows; the CMYK one is within what ink can print.
  const color = '#1ee01e';
  const ink = '#3c7a50';

  test.each([
    [
      'Display P3 JPEG',
      color,
      6,
      () => plain(64, 64, color).withIccProfile('p3').jpeg({ quality: 95 }),
    ],
    ['Display P3 PNG', color, 3, () => plain(64, 64, color).withIccProfile('p3').png()],
    ['16-bit PNG', color, 3, () => plain(64, 64, color).toColourspace('rgb16').png()],
    [
      '16-bit TIFF',
      color,
      3,
      () => plain(64, 64, color).toColourspace('rgb16').tiff({ compression: 'lzw' }),
    ],
    ['CMYK JPEG', ink, 16, () => plain(64, 64, ink).withIccProfile('cmyk').jpeg({ quality: 95 })],
  ] as const)('of a %s arrive in 8-bit sRGB', async (_kind, expected, distance, source) => {
    const { variant } = await renderOne(await source().toBuffer(), { quality: 95 });
    const picture = await pixels(variant.bytes);
    expect(picture.channels).toBe(3);
    expect(picture.at(20, 20)).toEqual(channelsOf(expected).map(near(distance)));
  });

  test('transparency is kept in WebP and AVIF, and is white in JPEG', async () => {
    const clear = { r: 0, g: 0, b: 0, alpha: 0 };
    const create = { width: 64, height: 64, channels: 4, background: clear } as const;
    const source = await sharp({ create }).png().toBuffer();
    for (const format of ['webp', 'avif'] as const) {
      const picture = await pixels((await renderOne(source, { format })).variant.bytes);
      expect(picture.at(20, 20)[3]).toBe(0);
    }
    const { variant, color: placeholder } = await renderOne(source, { format: 'jpeg' });
    expect((await pixels(variant.bytes)).at(20, 20)).toEqual([255, 255, 255]);
    expect(placeholder).toBe('#ffffff');
  });

  test.each(['gif', 'webp'] as const)(
    'an animated %s gives its first frame only',
    async (format) => {
      const frames = await Promise.all(
        ['#ff0000', '#0000ff'].map((background) => plain(40, 30, background).png().toBuffer()),
      );
      const source = await sharp(frames, { join: { animated: true } })
        .toFormat(format)
        .toBuffer();
      expect((await sharp(source).metadata()).pages).toBe(2);
      const { width, height, variant } = await renderOne(source);
      expect([width, height]).toEqual([40, 30]);
      expect((await pixels(variant.bytes)).at(20, 15).slice(0, 3)).toEqual(
        [255, 0, 0].map(near(6)),
      );
    },
  );
});

describe('metadata', () => {
  const xmp = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><secret/></x:xmpmeta>';

  async function talkative(format: 'jpeg' | 'png' | 'webp' | 'tiff' | 'avif'): Promise<Buffer> {
    return quarters(96, 64)
      .withExif({ IFD0: { Copyright: 'secret' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
      .withIccProfile('p3')
      .withXmp(xmp)
      .toFormat(format)
      .toBuffer();
  }

  test.each(['jpeg', 'png', 'webp', 'tiff', 'avif'] as const)(
    'of a %s is gone from every format',
    async (from) => {
      const source = await talkative(from);
      const before = await sharp(source).metadata();
      // libvips spreads a TIFF's EXIF over tags of its own.
      const exif = from === 'tiff' ? before.icc : before.exif;
      expect([exif, before.icc, before.xmp]).not.toContain(undefined);
      const formats = ['webp', 'jpeg', 'avif'] as const;
      const variants = formats.map((format): Variant => ({ ...CARD, name: format, format }));
      for (const { bytes } of (await render(source, variants, LIMITS)).variants) {
        const { exif, icc, xmp: left, iptc, orientation, comments } = await sharp(bytes).metadata();
        expect([exif, icc, left, iptc, orientation, comments]).toEqual(Array(6).fill(undefined));
        // Not merely unread by the library: not among the bytes.
        expect(bytes.toString('latin1')).not.toMatch(
          /secret|Exif|GPS|xmpmeta|ICC_PROFILE|ICCP|XMP /,
        );
      }
    },
  );
});

describe('one decode', () => {
  test('makes all variants, at the size of the largest', async () => {
    vi.mocked(decode).mockClear();
    const source = await quarters(640, 480).jpeg().toBuffer();
    const variants = [
      CARD,
      { ...CARD, name: 'raw', orientation: 'raw' },
      { ...ZOOM, width: 320 },
    ] as const;
    await render(source, variants, LIMITS);
    expect(decode).toHaveBeenCalledTimes(1);
    expect(decode).toHaveBeenCalledWith(source, 'jpeg', { width: 320, height: 240 });
  });

  test('does not begin when the header says that memory will not suffice', async () => {
    vi.mocked(decode).mockClear();
    const source = greyJpeg(20_000, 10_000, { progressive: true });
    const limits = { memoryBytes: 512 * 1024 * 1024 };
    await expect(render(source, [CARD], limits)).rejects.toThrow(TooLargeError);
    await expect(render(source, [CARD], limits)).rejects.toThrow(
      /^expected a picture that can be decoded in 512 MB of memory and this progressive JPEG of 20000×10000 needs about \d+ MB$/,
    );
    const bomb = greyJpeg(65_500, 65_500, { share: 0.0001 });
    await expect(render(bomb, [CARD], LIMITS)).rejects.toThrow(
      'expected at most 268402689 pixels, and 65535 a side, and the JPEG has 65500×65500',
    );
    expect(decode).not.toHaveBeenCalled();
    expect(await render(greyJpeg(20_000, 10_000), [CARD], limits)).toMatchObject({ width: 20_000 });
  });
});
