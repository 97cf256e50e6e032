import { originalExists } from '../../shared/thumbnails/originals.ts';
import { deleteThumbnails } from '../../shared/thumbnails/thumbnails-bucket.ts';
import { forget, type Hold, letGo } from '../../shared/thumbnails/worker-claim.ts';
import type { Outcome, Workshop } from './workshop.ts';

/**
 * Follows the removal of an original, under the image's claim, so that nothing is made meanwhile.
 * Events arrive late and twice: an original that is there again keeps its thumbnails.
 */
export async function removeThumbnails(workshop: Workshop, hold: Hold): Promise<Outcome> {
  const { image } = hold.work;
  if (await originalExists(workshop.originals, image)) {
    await letGo(hold);
    return { kind: 'stale' };
  }
  await deleteThumbnails(workshop.thumbnails, image);
  await forget(hold);
  return { kind: 'removed' };
}
