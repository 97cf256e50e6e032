import { parseImageKey } from '../../shared/thumbnails/image-key.ts';
import type { Target } from '../target.ts';
import { UsageError } from '../usage-error.ts';
import { explainImage } from './explain-image.ts';
import { readImageFacts } from './read-image.ts';

/** Reads what a stack knows of an image, and says why it looks as it does. */
export async function whyImage(target: Target, image: string) {
  const facts = await readImageFacts(target, keyOf(image));
  return explainImage(facts, target.outputs.Variants, Date.now());
}

function keyOf(image: string): string {
  try {
    return parseImageKey(image);
  } catch (cause) {
    throw new UsageError(`--${cause instanceof Error ? cause.message : cause}.`, { cause });
  }
}
