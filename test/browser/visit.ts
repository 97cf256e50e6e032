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

export async function visit(
  browser: Browser,
  origins: Origins,
  options: BrowserContextOptions = {},
): Promise<Visitor> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  context.setDefaultTimeout(15_000);
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
