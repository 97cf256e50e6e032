import { createServer, type ServerResponse } from 'node:http';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';
import { seedReady, THUMBNAIL } from './seed.ts';
import { allShown, test as visitorTest } from './visitor.ts';

// A gallery that no page can hold at once.

const COUNT = 10_000;

/** Elements, those in shadow trees included; of ten thousand tiles at once it would be 60,000. */
const MOST_NODES = 2000;

/**
 * Milliseconds of the processor in which the page does not answer; with all tiles at once it is seconds.
 * As the tests share the processor with others, by the clock it would be what these leave.
 */
const LONGEST_TASK = 100;

/** CSS pixels that the wheel turns at a time, so that every picture is seen. */
const STEP = 700;
/** As far as every picture is seen. */
const CLOSELY = 10_000;

/** Pictures that are asked for while this is an array wait in it for an answer. */
let waiting: ServerResponse[] | undefined;

function answer(response: ServerResponse): void {
  const headers = { 'content-type': 'image/webp', 'cache-control': 'max-age=31536000' };
  response.writeHead(200, headers).end(THUMBNAIL);
}

// Ten thousand uploads to the bucket would take longer than all other tests.
// biome-ignore lint/correctness/noEmptyPattern: how vitest tells that a fixture needs no other
const test = visitorTest.override('cdn', { scope: 'worker' }, async ({}, { onCleanup }) => {
  const server = createServer((_, response) => {
    if (waiting === undefined) answer(response);
    else waiting.push(response);
  });
  onCleanup(() => {
    server.close();
    server.closeAllConnections();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No address.');
  return `http://127.0.0.1:${address.port}`;
});

const traceSchema = z.object({
  traceEvents: z.array(
    z.object({
      name: z.string(),
      pid: z.number(),
      tid: z.number(),
      /** Microseconds of the thread. */
      tdur: z.number().optional(),
      args: z.looseObject({ name: z.unknown() }).partial().optional(),
    }),
  ),
});

/** Milliseconds of the processor that the longest task on the page's main thread takes meanwhile. */
async function longestTaskDuring(page: Page, doing: () => Promise<void>): Promise<number> {
  const browser = page.context().browser() ?? expect.fail('The page has no browser.');
  await browser.startTracing(page, { categories: ['toplevel'] });
  const [outcome] = await Promise.allSettled([doing()]);
  const trace = await browser.stopTracing();
  if (outcome.status === 'rejected') throw outcome.reason;
  const { traceEvents } = traceSchema.parse(JSON.parse(trace.toString()));
  const threadOf = ({ pid, tid }: { pid: number; tid: number }) => `${pid}/${tid}`;
  const main = new Set(
    traceEvents.filter(({ args }) => args?.name === 'CrRendererMain').map(threadOf),
  );
  const tasks = traceEvents.filter(
    (event) => event.name === 'ThreadControllerImpl::RunTask' && main.has(threadOf(event)),
  );
  expect(tasks.length).toBeGreaterThan(100);
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1000;
}

const placesSchema = z.array(z.tuple([z.string(), z.number()]));

test(`${COUNT} pictures are scrolled through, in order, a window at a time`, async ({
  cloud,
  visiting,
}) => {
  const seeded = await seedReady(cloud, 'many', COUNT, { objects: false });
  const inOrder = seeded.map(({ image }, index): [string, number] => [image, index + 1]);
  const { page, watched } = await visiting({ viewport: { width: 1280, height: 400 } });
  await page.goto(`${cloud.endpoints.web}/?gallery=many`);
  await allShown(page, 10);
  await page.evaluate('glimpseWatch.follow()');
  await page.mouse.move(640, 200);
  const places = async () =>
    placesSchema.parse(await page.evaluate('[...glimpseWatch.places]')).sort((a, b) => a[1] - b[1]);

  // None is left out, none comes twice.
  for (let top = 0; top < CLOSELY; ) {
    await page.mouse.wheel(0, STEP);
    top = z.number().parse(await page.evaluate(`glimpseWatch.scrolled(${top})`));
  }
  const first = await places();
  expect(first.length).toBeGreaterThan(150);
  expect(first).toEqual(inOrder.slice(0, first.length));

  // Faster than the pictures come.
  waiting = [];
  const scrolling = page.evaluate('glimpseWatch.toTheEnd()');
  const pages = () => watched.calls('GET /images').length;
  await expect.poll(pages, { timeout: 60_000 }).toBeGreaterThan(100);
  // What grows with the gallery is longest now.
  const longestTask = await longestTaskDuring(page, async () => {
    await scrolling;
    for (const response of waiting ?? []) answer(response);
    waiting = undefined;
    await page
      .getByRole('listitem')
      .and(page.locator(`[aria-posinset="${COUNT}"]`))
      .waitFor();
    await allShown(page, 10);
  });
  const all = await places();
  expect(all).toEqual(all.map(([, place]) => inOrder[place - 1]));
  expect(all.at(-1)).toEqual(inOrder.at(-1));
  // Each page of the list once, and nothing else: all was known from it.
  const cursors = watched.calls('GET /images').map(({ url }) => url.searchParams.get('cursor'));
  expect(new Set(cursors).size).toBe(cursors.length);
  expect(watched.api).toHaveLength(cursors.length);
  const { layoutShift, shifted } = await watched.measured();
  const mostNodes = z.number().parse(await page.evaluate('glimpseWatch.mostNodes'));
  console.log(
    `${COUNT} pictures: at most ${mostNodes} elements, longest task ${longestTask.toFixed(0)} ms of the processor, ${cursors.length} API calls`,
  );
  expect(mostNodes).toBeLessThan(MOST_NODES);
  expect(longestTask).toBeLessThan(LONGEST_TASK);
  expect({ layoutShift, shifted }).toEqual({ layoutShift: 0, shifted: [] });
}, 120_000);
