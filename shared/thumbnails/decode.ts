import type { Metadata, SharpOptions } from 'sharp';
import { CorruptError, TooLargeError, UnsupportedError } from '../errors.ts';
import { sharp } from './engine.ts';
import type { Size } from './geometry.ts';
import { samplesPerPixel } from './jpeg-header.ts';
import type { Header } from './memory-budget.ts';
import { type Pixels, toPixels } from './pixels.ts';
import type { Kind } from './sniff.ts';

type RasterKind = Header['kind'];

/**
 * `error` refuses truncated files: uploads to S3 are whole or absent, so a short file is short at
 * its source, and a thumbnail that is grey below the middle would be cached for a year as if it
 * were right. It is one step milder than the default, `warning`, which also refuses photographs
 * that every browser shows: some Samsung cameras leave stray bytes before a marker. The price is
 * that damage which a JPEG decoder recovers from is shown as browsers show it.
 */
const SOURCE = {
  failOn: 'error',
  // First frame only: all of them would come out as a filmstrip.
  pages: 1,
  page: 0,
} as const satisfies SharpOptions;

export const NAMES = {
  jpeg: 'JPEG',
  png: 'PNG',
  webp: 'WebP',
  avif: 'AVIF',
  gif: 'GIF',
  tiff: 'TIFF',
  svg: 'SVG',
} as const satisfies Record<Kind, string>;

export interface OpenedHeader extends Header {
  /** 1 to 8; anything else that a camera wrote counts as 1. */
  orientation: number;
  upright: Size;
}

/** Reads the header alone; the pixels stay compressed. */
export async function readHeader(source: Uint8Array, kind: RasterKind): Promise<OpenedHeader> {
  // The pixel limit is off here because the budget's refusal says more.
  const metadata = await attempt(kind, () =>
    sharp(source, { ...SOURCE, limitInputPixels: false }).metadata(),
  );
  if (metadata.compression === 'hevc') throw new UnsupportedError('HEIC is not supported');
  return {
    kind,
    width: metadata.width,
    height: metadata.height,
    samples: (kind === 'jpeg' ? samplesPerPixel(source) : undefined) ?? metadata.channels,
    bytesPerSample: bytesPerSample(metadata),
    buffered: kind === 'webp' ? !isSimpleWebp(source) : metadata.isProgressive,
    sourceBytes: source.byteLength,
    orientation: orientationOf(metadata),
    upright: { width: metadata.autoOrient.width, height: metadata.autoOrient.height },
  };
}

/** The whole stored picture at the given size, in 8-bit sRGB (or grey) whatever it was before. */
export async function decode(source: Uint8Array, kind: RasterKind, size: Size): Promise<Pixels> {
  return attempt(kind, () =>
    toPixels(
      sharp(source, SOURCE)
        .resize({ ...size, fit: 'fill' })
        .toColourspace('srgb'),
    ),
  );
}

function orientationOf({ orientation = 1 }: Metadata): number {
  return orientation >= 1 && orientation <= 8 ? orientation : 1;
}

/** Lossy, one frame, opaque: the only WebP that is decoded line by line. */
function isSimpleWebp(source: Uint8Array): boolean {
  return Buffer.from(source.subarray(12, 16)).toString('latin1') === 'VP8 ';
}

function bytesPerSample({ depth }: Metadata): number {
  if (depth === 'uchar' || depth === 'char') return 1;
  if (depth === 'ushort' || depth === 'short') return 2;
  return depth === 'double' || depth === 'complex' ? 8 : 4;
}

/**
 * The same bytes fail the same way each time, so a failure of libvips is a property of the picture.
 * A lack of memory is not, and goes on as it came.
 */
async function attempt<T>(kind: RasterKind, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw classify(kind, error);
  }
}

function classify(kind: RasterKind, error: unknown): unknown {
  const reason = error instanceof Error ? error.message : String(error);
  const name = NAMES[kind];
  if (/out of memory|unable to (m|re)?alloc/i.test(reason)) return error;
  if (/exceeds|too (large|big|many)|maximum supported/i.test(reason)) {
    return new TooLargeError(`expected a ${name} within the decoder's limits and it exceeds one`, {
      cause: error,
    });
  }
  if (/premature|truncat|unexpected end|bad seek|read error|too short|incomplete/i.test(reason)) {
    return new CorruptError(`expected a whole ${name} and its data ends early`, { cause: error });
  }
  return new CorruptError(`expected a readable ${name} and its data is damaged`, { cause: error });
}
