import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { type Origins, type Watch, watch } from './watch.ts';

/** Someone at a browser of their own: nothing cached, nothing remembered. */
export interface Visitor {
  page: Page;
  watched: Watch;
  context: BrowserContext;
  /** Of URLs that a test makes fail, the browser complains on the console. */
  mayFail(url: RegExp): void;
  /** What went wrong that no test made go wrong. */
  complaints(): Promise<string[]>;
}

/** What moves does move. */
export const MOVING = { reducedMotion: 'no-preference' } as const;

export interface VisitOptions extends BrowserContextOptions {
  token?: string | undefined;
}

/**
 * As the pages keep it for a tab, good for longer than the clock of a test goes forward. Runs in the
 * browser, before their scripts.
 */
function signedInBefore(token: string): void {
  const { sessionStorage } = globalThis as unknown as { sessionStorage?: Storage };
  const tokens = { accessToken: token, expiresAt: Date.now() + 86_400_000, who: 'A Visitor' };
  if (sessionStorage?.getItem('glimpse-tokens') === null) {
    sessionStorage.setItem('glimpse-tokens', JSON.stringify(tokens));
  }
}

/** @param token of whoever has signed in already; without one, the pages sign in themselves */
export async function visit(
  browser: Browser,
  origins: Origins,
  { token, ...options }: VisitOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    // Without a graphics card, what moves takes a tenth of the processor: only where it is looked at.
    reducedMotion: 'reduce',
    ...options,
  });
  context.setDefaultTimeout(15_000);
  if (token !== undefined) await context.addInitScript(signedInBefore, token);
  const page = await context.newPage();
  const watched = await watch(page, origins);
  let failing: RegExp | undefined;
  return {
    page,
    context,
    watched,
    mayFail: (url) => {
      failing = url;
    },
    complaints: () => watched.errors(failing),
  };
}
