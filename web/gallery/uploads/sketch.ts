import { rgbaToThumbHash } from 'thumbhash';
import type { Sketch } from './upload-queue.ts';

/** Decoded, such a file can have a gigabyte. */
const MOST_BYTES = 40_000_000;
/** Of the longer side. A thumbhash holds seven waves a side at most: more pixels only cost time. */
const RASTER = 50;

/**
 * What the browser can tell of a picture: its size upright, and a blur of it; undefined where it
 * cannot decode it. A decoded picture has four bytes a pixel, so call it for one at a time.
 */
export async function sketch(file: Blob): Promise<Sketch | undefined> {
  if (file.size > MOST_BYTES) return undefined;
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (bitmap === undefined) return undefined;
  try {
    const { width, height } = bitmap;
    const scale = Math.min(1, RASTER / Math.max(width, height));
    const w = Math.max(1, Math.round(width * scale));
    const h = Math.max(1, Math.round(height * scale));
    const canvas = new OffscreenCanvas(w, h);
    const context = canvas.getContext('2d', { willReadFrequently: true });
    if (context === null) return undefined;
    context.drawImage(bitmap, 0, 0, w, h);
    const hash = rgbaToThumbHash(w, h, context.getImageData(0, 0, w, h).data);
    return { width, height, thumbhash: btoa(String.fromCharCode(...hash)) };
  } finally {
    bitmap.close();
  }
}
