import type { Page } from 'playwright-core';
import { expect, inject, test as plainTest } from 'vitest';
import { launchBrowser } from './chromium.ts';
import { type Cloud, startCloud } from './cloud.ts';
import { type Picture, pictures } from './in-page.ts';
import { type VisitOptions, type Visitor, visit } from './visit.ts';

/**
 * Files that run in one process share its browser and, where thumbnails come from the same place,
 * its local cloud; each test has a visitor, who must not see an error.
 */
export const test = plainTest
  // biome-ignore lint/correctness/noEmptyPattern: how vitest tells that a fixture needs no other
  .extend('browser', { scope: 'worker' }, async ({}, { onCleanup }) => {
    const browser = await launchBrowser(inject('chromium'));
    onCleanup(() => browser.close());
    return browser;
  })
  // biome-ignore lint/correctness/noEmptyPattern: as above
  .extend('cdn', { scope: 'worker' }, ({}): string | undefined => undefined)
  .extend('cloud', { scope: 'worker' }, async ({ cdn }, { onCleanup }): Promise<Cloud> => {
    const cloud = await startCloud(inject('cdkOut'), cdn);
    onCleanup(() => cloud.stop());
    return cloud;
  })
  .extend('visiting', async ({ browser, cloud, cdn }, { onCleanup }) => {
    const { api, s3, token } = cloud.endpoints;
    const visitors: Visitor[] = [];
    onCleanup(async () => {
      const found: string[] = [];
      for (const { complaints, context } of visitors) {
        found.push(...(await complaints()));
        await context.close();
      }
      expect(found).toEqual([]);
    });
    return async (options?: VisitOptions): Promise<Visitor> => {
      const visitor = await visit(
        browser,
        { api, s3: cdn === undefined ? s3 : undefined },
        { token, ...options },
      );
      visitors.push(visitor);
      return visitor;
    };
  })
  .extend('visitor', ({ visiting }) => visiting());

/** Waits until as many pictures are in the document and every one is decoded and shown. */
export async function allShown(page: Page, least = 1, withinMs = 20_000): Promise<Picture[]> {
  await expect
    .poll(
      async () => {
        const found = await pictures(page);
        const missing = found.filter(({ shown, state }) => !shown || state !== 'ready');
        return found.length < least
          ? `${found.length} pictures`
          : missing.map(({ image, state }) => `${image} is ${state}`);
      },
      { timeout: withinMs, interval: 150 },
    )
    .toEqual([]);
  return await pictures(page);
}

/** Waits for the answers to all calls so far, and for what these cause. */
export async function quiet({ page, watched }: Visitor): Promise<void> {
  await expect.poll(() => watched.api.every(({ ended }) => ended !== undefined)).toBe(true);
  await page.evaluate('new Promise((done) => { setTimeout(done, 30); })');
}
