import { rgbaToThumbHash } from 'thumbhash';
import type { Sketch } from './upload-queue.ts';

/** Decoded, a larger one can have a gigabyte. */
const MOST_BYTES = 40_000_000;

// Pixels of the longer side. Averaging twelve megapixels blocks the page for 10 to 20 ms, and taking one
// of each few thousand gives a blur of noise; the first step takes some, the second averages those.
const TAKEN = 200;
/** A thumbhash has at most seven waves a side. */
const HASHED = 32;

/**
 * What the browser can tell of a picture: its size upright, and a blur of it; undefined where it
 * cannot decode it. A decoded picture has four bytes a pixel, so call it for one at a time.
 */
export async function sketch(file: Blob): Promise<Sketch | undefined> {
  if (file.size > MOST_BYTES) return undefined;
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (bitmap === undefined) return undefined;
  const { width, height } = bitmap;
  const taken = draw(bitmap, TAKEN, 'low');
  bitmap.close();
  const { canvas, context } = draw(taken.canvas, HASHED, 'medium');
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  const hash = rgbaToThumbHash(canvas.width, canvas.height, data);
  return { width, height, thumbhash: btoa(String.fromCharCode(...hash)) };
}

function draw(
  source: ImageBitmap | OffscreenCanvas,
  longest: number,
  imageSmoothingQuality: ImageSmoothingQuality,
) {
  const scale = Math.min(1, longest / Math.max(source.width, source.height));
  const width = Math.max(1, Math.round(source.width * scale));
  const height = Math.max(1, Math.round(source.height * scale));
  const canvas = new OffscreenCanvas(width, height);
  // Pixels that are read are better kept where they are read.
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) throw new Error('Expected a canvas to have a 2D context.');
  context.imageSmoothingQuality = imageSmoothingQuality;
  context.drawImage(source, 0, 0, width, height);
  return { canvas, context };
}
