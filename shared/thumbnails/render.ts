import { TooLargeError } from '../errors.ts';
import { decode, NAMES, type OpenedHeader, readHeader } from './decode.ts';
import { drawSvg } from './draw-svg.ts';
import { type Cut, cut, largest, MAX_SIDE, type Size, turned } from './geometry.ts';
import {
  drawablePixels,
  estimateDrawingBytes,
  estimatePeakBytes,
  type Header,
} from './memory-budget.ts';
import { encode, type Pixels, turnUpright } from './pixels.ts';
import { placeholderOf } from './placeholder.ts';
import { type Kind, sniff } from './sniff.ts';
import { checkSvg } from './svg.ts';
import { CONTENT_TYPES, type Variant } from './variant.ts';

export interface RenderedVariant {
  name: string;
  bytes: Buffer;
  width: number;
  height: number;
  contentType: string;
}

export interface Rendering {
  /** Pixels of the whole picture, upright; an SVG's at 72 dots an inch. */
  width: number;
  height: number;
  /** EXIF's 1 to 8: how the stored picture is turned to stand upright. */
  orientation: number;
  /** base64. */
  thumbhash: string;
  /** '#rrggbb'. */
  color: string;
  variants: RenderedVariant[];
}

/**
 * Makes all variants of a picture from one decode: the picture is reduced while it is decoded to
 * the largest size that a variant needs, and the variants are cut from that. (Three variants in
 * 141 ms against 202 ms for three decodes of a JPEG, 229 against 461 of a PNG.)
 *
 * Meant for one picture at a time in a process: two share the memory.
 *
 * @param limits.memoryBytes what the whole process may use, as the function is configured
 * @throws UnsupportedError, CorruptError or TooLargeError, with one sentence for the developer
 */
export async function render(
  source: Uint8Array,
  variants: readonly Variant[],
  limits: { memoryBytes: number },
): Promise<Rendering> {
  const picture = await open(source, variants, limits.memoryBytes);
  const cuts = variants.map((variant) => ({
    variant,
    ...cut(seenBy(variant, picture), variant, picture.most),
  }));
  const size = largest(cuts.map((each) => storedSize(each, picture.header)));
  refuseTooLarge(picture, size, limits.memoryBytes);

  const stored = await decode(picture.bytes, picture.header.kind, size);
  const upright = await turnUpright(stored, picture.header.orientation);
  const rendered: RenderedVariant[] = [];
  // One after the other: together they would need the sum of their memory on the same core.
  for (const { variant, ...cutOut } of cuts) {
    const pixels = variant.orientation === 'exif' ? upright : stored;
    rendered.push(await renderVariant(pixels, cutOut, variant));
  }
  return {
    ...picture.nominal,
    orientation: picture.header.orientation,
    ...(await placeholderOf(upright)),
    variants: rendered,
  };
}

/** A source whose header has been read. For an SVG, `bytes` is the drawing of it. */
interface Picture {
  kind: Kind;
  bytes: Uint8Array;
  header: OpenedHeader;
  /** The whole picture's size, upright. */
  nominal: Size;
  /** How many times its size a variant may be: a drawing was drawn for them. */
  most: number;
}

async function open(
  source: Uint8Array,
  variants: readonly Variant[],
  memoryBytes: number,
): Promise<Picture> {
  const kind = sniff(source);
  if (kind === 'svg') return openSvg(source, variants, memoryBytes);
  const header = await readHeader(source, kind);
  return { kind, bytes: source, header, nominal: header.upright, most: 1 };
}

async function openSvg(
  source: Uint8Array,
  variants: readonly Variant[],
  memoryBytes: number,
): Promise<Picture> {
  const { svg, embeddedPixels } = await checkSvg(source);
  const box = largest(variants);
  const needed = estimateDrawingBytes(box, embeddedPixels);
  if (needed > memoryBytes) throw new TooLargeError(tooMuch('SVG', needed, memoryBytes));
  const fit = variants.every((variant) => variant.fit === 'inside') ? 'inside' : 'outside';
  const maxPixels = drawablePixels(memoryBytes, embeddedPixels);
  const { nominal, png } = await drawSvg(svg, { ...box, fit }, { maxPixels });
  const header = await readHeader(png, 'png');
  const most = Math.max(1, header.width / nominal.width, header.height / nominal.height);
  return { kind: 'svg', bytes: png, header, nominal, most };
}

function seenBy(variant: Variant, { header, nominal }: Picture): Size {
  return variant.orientation === 'exif' ? nominal : turned(nominal, header.orientation);
}

function storedSize({ variant, scaled }: Cut & { variant: Variant }, header: OpenedHeader): Size {
  return variant.orientation === 'exif' ? turned(scaled, header.orientation) : scaled;
}

/** The default of sharp, 16,383 × 16,383; a JPEG of it is reduced in a few seconds. */
const MAX_PIXELS = 0x3fff * 0x3fff;

function refuseTooLarge({ kind, header, nominal }: Picture, master: Size, memoryBytes: number) {
  const { width, height } = nominal;
  if (header.width * header.height > MAX_PIXELS || Math.max(width, height) > MAX_SIDE) {
    throw new TooLargeError(
      `expected at most ${MAX_PIXELS} pixels, and ${MAX_SIDE} a side, and the ${NAMES[kind]} has ${width}×${height}`,
    );
  }
  const needed = estimatePeakBytes(header, master);
  if (needed <= memoryBytes) return;
  const name = `${adjective(header)}${NAMES[kind]} of ${width}×${height}`;
  throw new TooLargeError(tooMuch(name, needed, memoryBytes));
}

function adjective({ kind, buffered }: Header): string {
  if (!buffered) return '';
  return kind === 'jpeg' ? 'progressive ' : kind === 'png' ? 'interlaced ' : '';
}

function tooMuch(name: string, needed: number, memoryBytes: number): string {
  return `expected a picture that can be decoded in ${megabytes(memoryBytes)} MB of memory and this ${name} needs about ${megabytes(needed)} MB`;
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / (1024 * 1024));
}

async function renderVariant(
  pixels: Pixels,
  cutOut: Cut,
  variant: Variant,
): Promise<RenderedVariant> {
  return {
    name: variant.name,
    bytes: await encode(pixels, cutOut, variant),
    ...cutOut.crop,
    contentType: CONTENT_TYPES[variant.format],
  };
}
