import type { Page } from 'playwright-core';
import { z } from 'zod';

// What in-page.js knows of a page.

const picturesSchema = z.array(
  z.object({
    image: z.string(),
    position: z.number(),
    state: z.string().nullable(),
    src: z.string(),
    /** Decoded, with pixels. */
    shown: z.boolean(),
    /** Why there is no picture. */
    reason: z.string(),
  }),
);

export type Picture = z.infer<typeof picturesSchema>[number];

/** The pictures that are in the document now, in its order. */
export async function pictures(page: Page): Promise<Picture[]> {
  return picturesSchema.parse(await page.evaluate('glimpseWatch.pictures()'));
}

/** How many are shown, or say why they cannot be. */
export async function countSettled(page: Page): Promise<{ settled: number; all: number }> {
  const all = await pictures(page);
  const settled = all.filter(({ shown, state }) => shown || state === 'failed');
  return { settled: settled.length, all: all.length };
}

/** How many pictures show the blur that a thumbhash describes. */
export async function countBlurs(page: Page): Promise<number> {
  return z.number().parse(await page.evaluate('glimpseWatch.countBlurs()'));
}

const arrivalsSchema = z.object({
  firstPlaceholder: z.number().optional(),
  arrivals: z.array(z.object({ at: z.number(), top: z.number() })),
});

/** Milliseconds from the navigation, as the page itself saw them. */
export async function arrivals(page: Page): Promise<z.infer<typeof arrivalsSchema>> {
  const { firstPlaceholder, arrivals: all } = arrivalsSchema.parse(
    await page.evaluate('glimpseWatch'),
  );
  return {
    ...(firstPlaceholder === undefined ? {} : { firstPlaceholder }),
    arrivals: all.sort((a, b) => a.at - b.at),
  };
}

/** Pictures on screen, Glimpse's or plain ones, that are not there yet; undefined before any is. */
export async function awaited(page: Page): Promise<number | undefined> {
  return z
    .number()
    .optional()
    .parse(await page.evaluate('glimpseWatch.awaited()'));
}
