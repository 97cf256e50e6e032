import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readHeader } from '../../../../shared/thumbnails/decode.ts';
import { estimatePeakBytes, type Header } from '../../../../shared/thumbnails/memory-budget.ts';
import { HOSTILE_IMAGES } from '../../../hostile-images.ts';
import { greyJpeg, plain, quarters } from '../../../pictures.ts';

const MB = 1024 * 1024;
const FUNCTION_BYTES = 1769 * MB;
const MASTER = { width: 1600, height: 1067 };

function estimateMb(change: Partial<Header>): number {
  const header: Header = {
    kind: 'jpeg',
    width: 6000,
    height: 4000,
    samples: 1.5,
    bytesPerSample: 1,
    buffered: false,
    sourceBytes: 5 * MB,
    ...change,
  };
  return estimatePeakBytes(header, MASTER) / MB;
}

describe('the estimate', () => {
  test('grows with the pixels of a progressive JPEG and hardly with those of a baseline one', () => {
    const size = { width: 20_000, height: 10_000 };
    expect(
      estimateMb({ ...size, buffered: true }) - estimateMb({ buffered: true }),
    ).toBeGreaterThan(500);
    expect(estimateMb(size) - estimateMb({})).toBeLessThan(50);
  });

  test('tells apart pictures of equal pixels by format, interlacing, channels and depth', () => {
    const png = { kind: 'png', samples: 3 } as const;
    const interlaced = { ...png, buffered: true };
    expect(estimateMb(interlaced)).toBeGreaterThan(estimateMb(png) + 50);
    expect(estimateMb({ ...interlaced, samples: 4 })).toBeGreaterThan(estimateMb(interlaced) + 20);
    expect(estimateMb({ ...interlaced, bytesPerSample: 2 })).toBeGreaterThan(
      estimateMb(interlaced) + 60,
    );
    expect(estimateMb({ kind: 'avif', samples: 3 })).toBeGreaterThan(600);
  });

  test('counts the source and the master', () => {
    expect(estimateMb({ sourceBytes: 105 * MB }) - estimateMb({})).toBeCloseTo(200);
  });
});

describe('the header says whether the decoder must hold the picture', () => {
  test.each([
    ['baseline JPEG', 'jpeg', false, () => quarters().jpeg()],
    ['progressive JPEG', 'jpeg', true, () => quarters().jpeg({ progressive: true })],
    ['PNG', 'png', false, () => quarters().png()],
    ['interlaced PNG', 'png', true, () => quarters().png({ progressive: true })],
    ['lossy WebP', 'webp', false, () => quarters().webp()],
    ['lossless WebP', 'webp', true, () => quarters().webp({ lossless: true })],
    ['transparent WebP', 'webp', true, () => quarters().ensureAlpha(0.5).webp()],
  ] as const)('%s', async (_name, kind, buffered, image) => {
    expect(await readHeader(await image().toBuffer(), kind)).toMatchObject({ kind, buffered });
  });

  test('a JPEG that is not progressive but has several scans, which is held all the same', async () => {
    const jpeg = greyJpeg(640, 480);
    // The first scan carries one component of three.
    const scan = jpeg.indexOf(Buffer.from([0xff, 0xda]));
    const alone = Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0]);
    const several = Buffer.concat([jpeg.subarray(0, scan), alone, jpeg.subarray(scan + 14)]);
    expect(await readHeader(several, 'jpeg')).toMatchObject({ buffered: true });
  });

  test.each([
    ['4:2:0', 1.5, () => quarters().jpeg({ chromaSubsampling: '4:2:0' })],
    ['4:4:4', 3, () => quarters().jpeg({ chromaSubsampling: '4:4:4' })],
    ['grey', 1, () => quarters().toColourspace('b-w').jpeg()],
    ['CMYK', 4, () => quarters().toColourspace('cmyk').jpeg({ chromaSubsampling: '4:4:4' })],
  ] as const)('a JPEG of %s stores %d samples a pixel', async (_name, samples, image) => {
    const { samples: found } = await readHeader(await image().toBuffer(), 'jpeg');
    expect(found).toBe(samples);
  });
});

describe('a process that renders stays below the estimate and below its function', {
  timeout: 60_000,
}, () => {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'peak-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const named = (name: string) => HOSTILE_IMAGES.find((image) => image.name === name)?.bytes;
  test.concurrent.each([
    ['baseline JPEG of 200 MP', 'ready', named('baseline JPEG of 200 MP')],
    ['progressive JPEG of 200 MP', 'ready', named('progressive JPEG of 200 MP')],
    ['progressive JPEG bomb', 'too-large', named('progressive JPEG bomb')],
    ['interlaced PNG of 268 MP', 'too-large', named('interlaced PNG of 268 MP')],
    [
      'PNG of 65,500×300',
      'ready',
      () => plain(65_500, 300).png({ compressionLevel: 1 }).toBuffer(),
    ],
    [
      'interlaced PNG of 12 MP',
      'ready',
      () => plain(4000, 3000).png({ compressionLevel: 1, progressive: true }).toBuffer(),
    ],
    [
      'lossless WebP of 6 MP',
      'ready',
      () => plain(3000, 2000).webp({ lossless: true, effort: 0 }).toBuffer(),
    ],
    ['AVIF of 6 MP', 'ready', () => plain(3000, 2000).avif({ effort: 0 }).toBuffer()],
    [
      'TIFF of large tiles',
      'ready',
      () =>
        plain(4000, 3000)
          .tiff({ compression: 'lzw', tile: true, tileWidth: 2048, tileHeight: 2048 })
          .toBuffer(),
    ],
  ] as const)('%s', async (name, expected, bytes) => {
    const file = join(folder, name.replaceAll(' ', '-'));
    await writeFile(file, (await bytes?.()) ?? '');
    const { state, peakBytes, estimateBytes } = await renderOnce(file);
    expect(state).toBe(expected);
    expect(peakBytes).toBeLessThan(FUNCTION_BYTES);
    if (expected === 'ready') expect(peakBytes).toBeLessThan(estimateBytes);
    // Refused by its header: nothing was decoded.
    else expect(peakBytes).toBeLessThan(200 * MB);
  });

  async function renderOnce(file: string) {
    const program = fileURLToPath(new URL('./render-once.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [program, file, String(FUNCTION_BYTES)],
      // Memory as a function has it, not in the large pages of the tests.
      { env: { ...process.env, GLIBC_TUNABLES: '', MALLOC_ARENA_MAX: '2' } },
    );
    return JSON.parse(stdout) as { state: string; peakBytes: number; estimateBytes: number };
  }
});
