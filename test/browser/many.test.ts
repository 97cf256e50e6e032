import { createServer, type ServerResponse } from 'node:http';
import { expect } from 'vitest';
import { z } from 'zod';
import { seedReady, THUMBNAIL } from './seed.ts';
import { allShown, test as visitorTest } from './visitor.ts';

// A gallery that no page can hold at once.

const COUNT = 10_000;

/** Elements, those in shadow trees included; of ten thousand tiles at once it would be 60,000. */
const MOST_NODES = 2000;

/** Milliseconds in which the page does not answer; with all tiles at once it is seconds. */
const LONGEST_TASK = 500;

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
  await page.evaluate('glimpseWatch.toTheEnd()');
  for (const response of waiting) answer(response);
  waiting = undefined;
  await page
    .getByRole('listitem')
    .and(page.locator(`[aria-posinset="${COUNT}"]`))
    .waitFor();
  await allShown(page, 10);
  const all = await places();
  expect(all).toEqual(all.map(([, place]) => inOrder[place - 1]));
  expect(all.at(-1)).toEqual(inOrder.at(-1));
  // Each page of the list once, and nothing else: all was known from it.
  const cursors = watched.calls('GET /images').map(({ url }) => url.searchParams.get('cursor'));
  expect(new Set(cursors).size).toBe(cursors.length);
  expect(watched.api).toHaveLength(cursors.length);
  const { longestTask, layoutShift, shifted } = await watched.measured();
  const mostNodes = z.number().parse(await page.evaluate('glimpseWatch.mostNodes'));
  console.log(
    `${COUNT} pictures: at most ${mostNodes} elements, longest task ${longestTask.toFixed(0)} ms, ${cursors.length} API calls`,
  );
  expect(mostNodes).toBeLessThan(MOST_NODES);
  expect(longestTask).toBeLessThan(LONGEST_TASK);
  expect({ layoutShift, shifted }).toEqual({ layoutShift: 0, shifted: [] });
}, 120_000);
