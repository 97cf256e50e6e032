import * as z from 'zod';
import { failureClassSchema } from './failure.ts';
import { recipeOf, type Variant } from './variant.ts';

// A row of the images table, as it is read back, and what can be decided from it alone.

const claimSchema = z.object({
  /** `queued`: a message is on its way. `working`: a worker is at it. */
  kind: z.enum(['queued', 'working']),
  owner: z.string(),
  /** The end of the lease, in epoch milliseconds. */
  until: z.number(),
});

const madeSchema = z.object({
  recipe: z.string(),
  width: z.number(),
  height: z.number(),
});

export const imageItemSchema = z.object({
  name: z.string(),
  etag: z.string().optional(),
  sequencer: z.string().optional(),
  width: z.number().optional(),
  height: z.number().optional(),
  orientation: z.number().optional(),
  thumbhash: z.string().optional(),
  color: z.string().optional(),
  variants: z.record(z.string(), madeSchema).default({}),
  failure: z
    .object({
      class: failureClassSchema,
      reason: z.string(),
      retryAt: z.number(),
      etag: z.string().optional(),
    })
    .optional(),
  claim: claimSchema.optional(),
  /** When the viewer who waits for it met it cold, in epoch milliseconds. */
  missedAt: z.number().optional(),
  /** Workers that died with this image in hand, since one last came back from it. */
  deaths: z.number().default(0),
});

export type ImageItem = z.infer<typeof imageItemSchema>;
export type Made = z.infer<typeof madeSchema>;

/** An image that the table does not know. */
export function unknownItem(name: string): ImageItem {
  return { name, variants: {}, deaths: 0 };
}

export function isMade(item: ImageItem, variant: Variant): boolean {
  return item.variants[variant.name]?.recipe === recipeOf(variant, item.name);
}

export function missingVariants(item: ImageItem, wanted: readonly Variant[]): Variant[] {
  return wanted.filter((variant) => !isMade(item, variant));
}

export function isFailing(item: ImageItem, now: number): boolean {
  return item.failure !== undefined && item.failure.retryAt > now;
}

function isClaimed(item: ImageItem, now: number): boolean {
  return item.claim !== undefined && item.claim.until > now;
}

/** Whether a viewer who asks for these variants has to set work going. */
export function isCold(item: ImageItem, wanted: readonly Variant[], now: number): boolean {
  return missingVariants(item, wanted).length > 0 && !isFailing(item, now) && !isClaimed(item, now);
}
