import { join } from 'node:path';
import type { ConsoleMessage, Page, Request } from 'playwright-core';
import { z } from 'zod';

// What a page does behind its pixels: errors, broken policies, layout shifts, requests.

export interface ApiCall {
  /** `POST /thumbnails` */
  route: string;
  url: URL;
  body: unknown;
  /** Milliseconds since the watch began. */
  at: number;
  /** Undefined while there is no answer. */
  ended: number | undefined;
}

export interface Fetched {
  url: string;
  status: number;
  /** Without a byte from the network. */
  cached: boolean;
  /** As they came over the network, headers included; 0 from a cache. */
  bytes: number;
}

const measuredSchema = z.object({
  violations: z.array(z.string()),
  /** The sum, as "cumulative layout shift" counts it, of shifts that no input caused. */
  layoutShift: z.number(),
  /** What moved, for the failure's message. */
  shifted: z.array(z.string()),
  layoutShiftAfterInput: z.number(),
});

export type Measured = z.infer<typeof measuredSchema>;

export interface Watch {
  /** Calls of the API by the page, in order, without preflights. */
  readonly api: readonly ApiCall[];
  /** Answers of S3 to GETs, in order. */
  readonly thumbnails: readonly Fetched[];
  /** Of the current document. */
  measured(): Promise<Measured>;
  /** Calls of a route, `POST /thumbnails`. */
  calls(route: string): ApiCall[];
  /** The most calls of a route that were under way at a time. */
  mostAtOnce(route: string): number;
  /** All errors so far. @param expected URLs whose failing is the test's own doing */
  errors(expected?: RegExp): Promise<string[]>;
}

export interface Origins {
  api: string;
  /** Undefined where thumbnails are so many that the watching would be most of the work. */
  s3: string | undefined;
}

/** Begins before the page is opened. */
export async function watch(page: Page, origins: Origins): Promise<Watch> {
  const began = performance.now();
  const now = () => performance.now() - began;
  const open = new WeakMap<Request, ApiCall>();
  const api: ApiCall[] = [];
  const thumbnails: Fetched[] = [];
  const errors: { text: string; url: string }[] = [];

  await page.addInitScript({ path: join(import.meta.dirname, 'in-page.js') });
  page.on('console', (message) => {
    if (message.type() === 'error') errors.push(errorOf(message));
  });
  page.on('pageerror', (error) => {
    errors.push({ text: error.stack ?? error.message, url: '' });
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (url.origin !== origins.api || request.method() === 'OPTIONS') return;
    const route = `${request.method()} ${url.pathname}`;
    const call: ApiCall = { route, url, body: bodyOf(request), at: now(), ended: undefined };
    api.push(call);
    open.set(request, call);
  });
  const end = (request: Request) => {
    const call = open.get(request);
    if (call !== undefined) call.ended = now();
  };
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  if (origins.s3 !== undefined) await watchFetches(page, origins.s3, thumbnails);

  const measured = async () => measuredSchema.parse(await page.evaluate('glimpseWatch'));
  return {
    api,
    thumbnails,
    measured,
    calls: (route) => api.filter((call) => call.route === route),
    mostAtOnce: (route) => {
      const calls = api.filter((call) => call.route === route);
      const during = ({ at }: ApiCall) =>
        calls.filter((call) => call.at <= at && (call.ended ?? now()) > at).length;
      return Math.max(0, ...calls.map(during));
    },
    errors: async (expected) => {
      const { violations } = await measured();
      const seen = errors.filter(({ url }) => url === '' || expected?.test(url) !== true);
      return [...seen.map(({ text, url }) => `${text} ${url}`.trim()), ...violations];
    },
  };
}

function errorOf(message: ConsoleMessage): { text: string; url: string } {
  // Only a failed load is excused by its URL: a script's error has one, too.
  const text = message.text();
  return { text, url: text.startsWith('Failed to load resource') ? message.location().url : '' };
}

function bodyOf(request: Request): unknown {
  const text = request.postData();
  if (text === null) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** By the devtools' protocol: a page may not know how much of another origin's answer was cached. */
async function watchFetches(page: Page, origin: string, fetched: Fetched[]): Promise<void> {
  const devtools = await page.context().newCDPSession(page);
  const open = new Map<string, Fetched>();
  const cached = new Set<string>();
  devtools.on('Network.requestServedFromCache', ({ requestId }) => cached.add(requestId));
  devtools.on('Network.responseReceived', ({ requestId, response }) => {
    if (new URL(response.url).origin !== origin) return;
    const { url, status } = response;
    const fromCache = response.fromDiskCache === true || cached.has(requestId);
    const entry = { url, status, cached: fromCache, bytes: 0 };
    fetched.push(entry);
    open.set(requestId, entry);
  });
  devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const entry = open.get(requestId);
    if (entry !== undefined && !entry.cached) entry.bytes = encodedDataLength;
  });
  await devtools.send('Network.enable');
}
