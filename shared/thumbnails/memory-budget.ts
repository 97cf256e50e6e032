import type { Size } from './geometry.ts';
import type { Kind } from './sniff.ts';

/** What a picture's header says of the cost of decoding it. */
export interface Header extends Size {
  kind: Exclude<Kind, 'svg'>;
  /** Values a pixel: 1 grey, 3 colour, 4 with transparency or CMYK. JPEG: 1.5 with 4:2:0 colour. */
  samples: number;
  bytesPerSample: number;
  /**
   * The decoder must hold the picture instead of working line by line: a progressive JPEG (or one
   * of several scans), an interlaced PNG, a WebP that is lossless, animated or transparent.
   */
  buffered: boolean;
  sourceBytes: number;
}

const MB = 1024 * 1024;

/** Node, the AWS SDK and libvips before any picture. Measured 95 MB here, without the SDK. */
const PROCESS_BYTES = 160 * MB;
/** Line buffers, the encoders and what malloc keeps: the 23 to 40 MB of the streamed rows below. */
const WORKING_BYTES = 48 * MB;
/** A process of Node and sharp that draws an SVG. */
const DRAWING_PROCESS_BYTES = 96 * MB;

/**
 * The peak memory of the whole process, in bytes, while it renders a picture, from the header
 * alone: to be compared with the function's memory before anything is decoded.
 *
 * @param master the size that the picture is decoded to, from which all variants are made
 */
export function estimatePeakBytes(header: Header, master: Size): number {
  const pixels = header.width * header.height;
  // Twice: the downloaded pieces, and the buffer that they are joined into.
  const source = header.sourceBytes * 2;
  // The stored master, the upright one and the encoder's copy, four channels at the most.
  const masters = master.width * master.height * 4 * 3;
  const decoder = pixels * decoderBytesPerPixel(header);
  return PROCESS_BYTES + WORKING_BYTES + lineBytes(header) + source + masters + decoder;
}

/**
 * The lines that wait to be reduced, about a thousand of them: nothing at 6,000 pixels a line, and
 * 190 MB (measured, PNG and TIFF) at 65,500. A JPEG is reduced by its decoder.
 */
function lineBytes({ kind, width, height, samples, bytesPerSample }: Header): number {
  if (kind === 'jpeg') return 0;
  return width * samples * bytesPerSample * Math.min(height, 1024);
}

/**
 * What the decoder holds for each pixel of the source.
 *
 * Peak resident memory of a fresh process that made a 480 and a 1600 px WebP, less the process at
 * rest and the source's own bytes, from noisy photo-like pictures (sharp 0.35.5, libvips 8.18.7,
 * glibc, MALLOC_ARENA_MAX=2):
 *
 * | source                         |  MP |  MB |
 * |--------------------------------|-----|-----|
 * | JPEG baseline                  |  24 |  30 |
 * | JPEG baseline                  | 200 |  23 |
 * | JPEG progressive 4:2:0         |  24 |  84 |
 * | JPEG progressive 4:2:0         | 200 | 583 |
 * | JPEG progressive 4:4:4         |  24 | 153 |
 * | JPEG CMYK baseline             |  24 |  34 |
 * | JPEG CMYK progressive          |  24 | 203 |
 * | PNG RGB                        |  24 |  38 |
 * | PNG RGB                        | 100 |  73 |
 * | PNG RGB, interlaced            |  24 |  88 |
 * | PNG RGBA, interlaced           |  24 | 133 |
 * | PNG RGB 16-bit                 |  24 |  56 |
 * | PNG RGB 16-bit, interlaced     |  24 | 171 |
 * | WebP lossy                     | 100 |  30 |
 * | WebP lossy with alpha          |  24 |  71 |
 * | WebP lossless                  |  24 |  99 |
 * | AVIF 8-bit                     |   6 | 112 |
 * | AVIF 8-bit                     |  24 | 431 |
 * | AVIF 10- and 12-bit            |  24 | 579 |
 * | GIF                            |  24 | 122 |
 * | GIF animated                   |  24 | 146 |
 * | TIFF RGB in strips             |  24 |  48 |
 * | TIFF RGB 16-bit                |  24 |  65 |
 * | TIFF RGB, tiles of 4096×4096   |  24 | 167 |
 */
function decoderBytesPerPixel(header: Header): number {
  const whole = header.samples * header.bytesPerSample;
  switch (header.kind) {
    case 'jpeg':
      // All coefficients of all scans, two bytes each.
      return header.buffered ? header.samples * 2.2 : 0.2;
    case 'png':
      return header.buffered ? whole * 1.1 : 0.5;
    case 'webp':
      // The frame, and the canvas that an animation draws it on, in four channels.
      return header.buffered ? 9 : 0.5;
    case 'avif':
      // The codec's planes, libheif's and libvips' copies; twelve bits take two bytes.
      return header.bytesPerSample === 1 ? 21 : 28;
    case 'gif':
      // The canvas, the one before it to restore, and the frame's indices.
      return 10;
    case 'tiff':
      // Rows of tiles are held two deep, and a tile may be as large as the picture.
      return whole * 2.5;
  }
}

/** A dozen surfaces of groups, masks and filters, of four channels. */
const DRAWING_BYTES_PER_PIXEL = 12 * 4;
/** Measured. */
const EMBEDDED_BYTES_PER_PIXEL = 11;

/**
 * The peak memory, in bytes, of a process that has an SVG drawn and of the one that draws it: the
 * drawing's surfaces, and the pictures that are embedded in it.
 */
export function estimateDrawingBytes(drawn: Size, embeddedPixels: number): number {
  const surfaces = drawn.width * drawn.height * DRAWING_BYTES_PER_PIXEL;
  return PROCESS_BYTES + DRAWING_PROCESS_BYTES + surfaces + embeddedBytes(embeddedPixels);
}

/** The other way round: how many pixels may be drawn in so much memory. */
export function drawablePixels(memoryBytes: number, embeddedPixels: number): number {
  const processes = PROCESS_BYTES + DRAWING_PROCESS_BYTES;
  const left = memoryBytes - processes - embeddedBytes(embeddedPixels);
  return Math.floor(left / DRAWING_BYTES_PER_PIXEL);
}

const embeddedBytes = (pixels: number) => pixels * EMBEDDED_BYTES_PER_PIXEL;
