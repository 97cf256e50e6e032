import { DeleteObjectCommand } from '@aws-sdk/client-s3';
import type { Page, Route } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';
import { put, remove, settled, thumbnails, until } from '../flows/target.ts';
import { violations } from './accessibility.ts';
import { TOLD } from './cloud.ts';
import { element, serveElementPages } from './element-pages.ts';
import { countBlurs, pictures } from './in-page.ts';
import { photo, putPhotos, sizeOf } from './photos.ts';
import { seedReady, seedWorking } from './seed.ts';
import { MOVING, type Visitor } from './visit.ts';
import { allShown, quiet, test as visitorTest } from './visitor.ts';
import type { ApiCall } from './watch.ts';

// <glimpse-image> on a page that is not ours, under a policy that allows it no more than it needs.

const test = visitorTest
  .extend('elements', { scope: 'file' }, async ({ cloud }, { onCleanup }) => {
    const elements = await serveElementPages(cloud.endpoints);
    onCleanup(() => elements.stop());
    return elements;
  })
  .extend('visitor', ({ visiting }) => visiting(MOVING));

const ASK = 'POST /thumbnails';

const imagesSchema = z.object({ images: z.array(z.string()), variants: z.array(z.string()) });
const viewsSchema = z.object({
  images: z.array(z.object({ image: z.string(), state: z.string() })),
});
const imagesOf = ({ body }: ApiCall) => imagesSchema.parse(body).images;

/** Attributes that give a picture its place before anything is known of it. */
const placed = (image: string, index: number) =>
  element({ image, ...sizeOf(index), alt: image, class: 'one' });

async function stateOf(page: Page): Promise<string | null | undefined> {
  return (await pictures(page))[0]?.state;
}

/** Lets a page's time pass, in steps, and gives the network what it needs in each. */
async function pass(visitor: Visitor, ms: number, step = 1000): Promise<void> {
  for (let passed = 0; passed < ms; passed += step) {
    await visitor.page.clock.fastForward(step);
    await quiet(visitor);
  }
}

/** Changes what the API tells of each variant: its clock is ours to control. */
async function tamper(
  page: Page,
  api: string,
  change: (variant: Record<string, unknown>) => void,
): Promise<void> {
  await page.route(`${api}/thumbnails`, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    for (const { variants } of answer.images) {
      for (const variant of Object.values<Record<string, unknown>>(variants)) change(variant);
    }
    await route.fulfill({ response, json: answer });
  });
}

test('two hundred pictures are asked for at once, a hundred a request, and never again', async ({
  cloud,
  elements,
  visitor,
}) => {
  const { page, watched } = visitor;
  const seeded = await seedReady(cloud, 'two hundred', 200);
  const images = seeded.map(({ image }) => image);
  await page.goto(elements.show(`<div class="row">${images.map(placed).join('')}</div>`));
  const shown = await allShown(page, 200);
  expect(shown.map(({ image }) => image)).toEqual(images);
  await quiet(visitor);
  const asked = watched.calls(ASK).map(imagesOf);
  expect(asked.map(({ length }) => length)).toEqual([100, 100]);
  expect(new Set(asked.flat())).toEqual(new Set(images));
  expect(watched.thumbnails).toHaveLength(200);
  expect((await watched.measured()).layoutShift).toBe(0);
});

test('cold pictures are asked for together until each is there', async ({
  cloud,
  elements,
  visitor,
}) => {
  const { page, watched } = visitor;
  const images = await putPhotos(cloud.target, 'cold', 24);
  const answers: Promise<unknown>[] = [];
  page.on('response', (response) => {
    if (response.request().postData() !== null) answers.push(response.json());
  });
  await page.goto(elements.show(`<div class="row">${images.map(placed).join('')}</div>`));
  await allShown(page, 24, 30_000);
  await quiet(visitor);
  const calls = watched.calls(ASK);
  expect(watched.mostAtOnce(ASK)).toBe(1);
  // All of them; then, again and again, none but those that were not there yet.
  expect(imagesOf(calls[0] ?? expect.fail()).sort()).toEqual(images);
  const waiting = new Set(images);
  for (const [index, answer] of (await Promise.all(answers)).entries()) {
    const asked = imagesOf(calls[index] ?? expect.fail());
    expect(asked.filter((image) => !waiting.has(image))).toEqual([]);
    for (const { image, state } of viewsSchema.parse(answer).images) {
      if (state !== 'pending') waiting.delete(image);
    }
  }
  expect(calls.length).toBeLessThan(8);
  expect((await watched.measured()).layoutShift).toBe(0);
  expect(watched.thumbnails.every(({ status }) => status === 200)).toBe(true);
});

test('the same picture many times over is one request for its file', async ({
  cloud,
  elements,
  visitor: { page, watched },
}) => {
  const [seeded] = await seedReady(cloud, 'same', 1);
  const same = element({ image: seeded?.image ?? '', width: 3, height: 2 });
  await page.goto(elements.show(`<div class="row">${same.repeat(20)}</div>`));
  await allShown(page, 20);
  expect(watched.calls(ASK)).toHaveLength(1);
  expect(watched.thumbnails.filter(({ cached }) => !cached)).toHaveLength(1);
});

test('a page may show several sizes of a picture', async ({
  cloud,
  elements,
  visitor: { page, watched },
}) => {
  const [image = ''] = await putPhotos(cloud.target, 'sizes', 1);
  await until(() => thumbnails(cloud.target, [image], ['card', 'zoom']), settled);
  const sizes = ['card', 'zoom'].map((variant) => element({ image, variant, width: 3, height: 2 }));
  await page.goto(elements.show(sizes.join('')));
  const shown = await allShown(page, 2);
  expect(shown.map(({ src }) => /(\w+)\.webp/.exec(src)?.[1])).toEqual(['card', 'zoom']);
  expect(watched.calls(ASK)).toHaveLength(1);
});

test('the blur is painted before the picture comes', async ({
  cloud,
  elements,
  visitor: { page, watched },
}) => {
  const [seeded] = await seedReady(cloud, 'blur', 1);
  const held: Route[] = [];
  await page.route(`${cloud.endpoints.s3}/**`, (route) => {
    held.push(route);
  });
  await page.goto(elements.show(placed(seeded?.image ?? '', 0)));
  await expect.poll(() => held.length).toBe(1);
  expect(await countBlurs(page)).toBe(1);
  expect(await stateOf(page)).toBe('pending');
  await held[0]?.continue();
  await allShown(page, 1);
  // The blur has gone once the picture has come.
  await expect.poll(() => countBlurs(page)).toBe(0);
  expect((await watched.measured()).layoutShift).toBe(0);
});

test('what is far from the screen is asked for when it comes near', async ({
  cloud,
  elements,
  visitor,
}) => {
  const { page, watched } = visitor;
  const [near, far] = await seedReady(cloud, 'far', 2);
  const below = `<div class="below">${placed(far?.image ?? '', 1)}</div>`;
  await page.goto(elements.show(placed(near?.image ?? '', 0) + below));
  await expect.poll(() => stateOf(page)).toBe('ready');
  await quiet(visitor);
  expect(watched.calls(ASK).map(imagesOf)).toEqual([[near?.image]]);
  await page.locator('glimpse-image').last().scrollIntoViewIfNeeded();
  await allShown(page, 2);
  expect(watched.calls(ASK).map(imagesOf)).toEqual([[near?.image], [far?.image]]);
});

test('a file that is no picture says so, and is not asked for again', async ({
  cloud,
  elements,
  visitor,
}) => {
  const { page, watched } = visitor;
  await page.clock.install();
  const image = 'broken/words.jpg';
  await put(cloud.target, image, Buffer.from('these are words'));
  await until(() => thumbnails(cloud.target, [image]), settled);
  await page.goto(elements.show(element({ image, alt: 'A letter', class: 'one' })));
  await expect.poll(() => stateOf(page)).toBe('failed');
  const [told] = await thumbnails(cloud.target, [image]);
  expect((await pictures(page))[0]?.reason).toContain(told?.failure?.reason);
  expect(await page.getByRole('img', { name: /^A letter: ./ }).count()).toBe(1);
  await quiet(visitor);
  const calls = watched.api.length;
  await pass(visitor, 3_600_000, 600_000);
  await quiet(visitor);
  expect(watched.api).toHaveLength(calls);
});

test('a key that the API refuses costs the others nothing', async ({
  cloud,
  elements,
  visitor: { page, mayFail },
}) => {
  const seeded = await seedReady(cloud, 'refused', 4);
  const images = [...seeded.map(({ image }) => image), 'a/folder/'];
  mayFail(/\/thumbnails$/);
  await page.addInitScript(`
    globalThis.changes = [];
    addEventListener('glimpse-change', ({ target, detail: { state, failure } }) => {
      if (target === document.querySelector('glimpse-image')) changes.push(state);
      if (state === 'failed') globalThis.told = failure.class + ': ' + failure.reason;
    });
  `);
  await page.goto(elements.show(images.map(placed).join('')));
  await expect
    .poll(async () => (await pictures(page)).map(({ state }) => state))
    .toEqual(['ready', 'ready', 'ready', 'ready', 'failed']);
  expect((await pictures(page))[4]?.reason).toContain('expected an image, not a folder');
  expect(await page.evaluate('told')).toMatch(/^refused: image: expected an image, not a folder/);
  // A screen reader is told, too, by the name that it has without another.
  await page.evaluate(`document.querySelectorAll('glimpse-image')[4].removeAttribute('alt')`);
  await page.getByRole('img', { name: /^folder: .* expected an image, not a folder/ }).waitFor();
  // Each step is told once, however many attributes an element has.
  expect(await page.evaluate('changes')).toEqual(['pending', 'ready']);

  // An element that is told to show nothing any more shows nothing.
  const emptied = await page.evaluate(`(() => {
    const element = document.querySelector('glimpse-image');
    element.removeAttribute('image');
    return [element.getAttribute('state'), element.shadowRoot.querySelector('img')];
  })()`);
  expect(emptied).toEqual([null, null]);
});

test('a picture on screen has its next URL before the last one ends', async ({
  cloud,
  elements,
  visitor,
}) => {
  const { page, watched } = visitor;
  // Replaced meanwhile, so that the next URL is told from the last.
  const image = `${TOLD}replaced.jpg`;
  await put(cloud.target, image, await photo(0));
  await until(() => thumbnails(cloud.target, [image]), settled);
  await page.clock.install();
  const minute = 60_000;
  let passed = 0;
  await tamper(page, cloud.endpoints.api, (variant) => {
    variant.expiresAt = new Date(Date.now() + passed + 10 * minute).toISOString();
  });
  await page.goto(elements.show(element({ image, width: 3, height: 2 })));
  const [first] = await allShown(page, 1);
  await put(cloud.target, image, await photo(1));
  await until(
    () => thumbnails(cloud.target, [image]),
    ([found]) => found?.state === 'ready' && found.variants.card?.url !== first?.src,
  );
  await pass(visitor, 7 * minute, minute);
  await quiet(visitor);
  expect(watched.calls(ASK)).toHaveLength(1);
  passed = 9 * minute;
  await pass(visitor, 2 * minute, 10_000);
  await expect.poll(() => watched.calls(ASK).length).toBe(2);
  await expect.poll(async () => (await pictures(page))[0]?.src).not.toBe(first?.src);
  // The one before was shown until the next one was there.
  await allShown(page, 1);
});

test('URLs that end soon are not asked for more and more often', async ({
  cloud,
  elements,
  visitor,
}) => {
  const { page, watched } = visitor;
  const [seeded] = await seedReady(cloud, 'ending', 1);
  await page.clock.install();
  // As when the role's credentials end, which no answer can outlive.
  const ending = new Date(Date.now() + 60_000).toISOString();
  await tamper(page, cloud.endpoints.api, (variant) => {
    variant.expiresAt = ending;
  });
  await page.goto(elements.show(placed(seeded?.image ?? '', 0)));
  await allShown(page, 1);
  await pass(visitor, 50_000, 2000);
  const before = watched.calls(ASK).length;
  expect(before).toBeLessThan(6);
  await pass(visitor, 20_000, 500);
  expect(watched.calls(ASK).length - before).toBeLessThan(4);
});

test('a URL that ended while the picture was away is not used again', async ({
  cloud,
  elements,
  visitor,
}) => {
  const { page, watched } = visitor;
  const [seeded] = await seedReady(cloud, 'away', 1);
  await page.clock.install();
  await page.goto(elements.show(`<div id="there">${placed(seeded?.image ?? '', 0)}</div>`));
  await allShown(page, 1);
  await page.evaluate('picture = document.querySelector("glimpse-image"); picture.remove()');
  await pass(visitor, 3 * 3_600_000, 600_000);
  await quiet(visitor);
  expect(watched.calls(ASK)).toHaveLength(1);
  const loads = watched.thumbnails.length;
  let askedFirst: boolean | undefined;
  page.on('request', (request) => {
    if (request.url().startsWith(cloud.endpoints.s3)) askedFirst ??= watched.calls(ASK).length > 1;
  });
  await page.evaluate('document.querySelector("#there").append(picture)');
  await expect.poll(() => watched.calls(ASK).length).toBe(2);
  await quiet(visitor);
  expect(askedFirst ?? true).toBe(true);
  await allShown(page, 1);
  expect(watched.thumbnails.length).toBeLessThanOrEqual(loads + 1);
});

for (const status of [403, 404]) {
  test(`a URL that answers ${status} is asked for anew`, async ({
    cloud,
    elements,
    visitor: { page, watched, mayFail },
  }) => {
    const [seeded] = await seedReady(cloud, `refused ${status}`, 1);
    mayFail(/card\.webp/);
    let refused = 0;
    await page.route(`${cloud.endpoints.s3}/**`, async (route) => {
      if (refused++ === 0) await route.fulfill({ status });
      else await route.continue();
    });
    await page.goto(elements.show(placed(seeded?.image ?? '', 0)));
    await allShown(page, 1);
    expect(watched.calls(ASK)).toHaveLength(2);
  });
}

test('a thumbnail that is not where the API says is given up with a reason', async ({
  cloud,
  elements,
  visitor,
}) => {
  const { page, watched, mayFail } = visitor;
  await page.clock.install();
  const [seeded] = await seedReady(cloud, 'lost', 1);
  await cloud.target.s3.send(
    new DeleteObjectCommand({
      Bucket: cloud.endpoints.buckets.thumbnails ?? '',
      Key: seeded?.thumbnail ?? '',
    }),
  );
  mayFail(/card\.webp/);
  await page.goto(elements.show(placed(seeded?.image ?? '', 0)));
  await expect
    .poll(async () => {
      await page.clock.fastForward(1000);
      return await stateOf(page);
    })
    .toBe('failed');
  expect((await pictures(page))[0]?.reason).not.toBe('');
  const calls = watched.api.length;
  expect(calls).toBeLessThanOrEqual(6);
  await pass(visitor, 3_600_000, 600_000);
  await quiet(visitor);
  expect(watched.api).toHaveLength(calls);
});

test('a picture whose original was removed says that it is not there', async ({
  cloud,
  elements,
  visitor: { page, mayFail },
}) => {
  const image = `${TOLD}removed.jpg`;
  await put(cloud.target, image, await photo(2));
  const [made] = await until(() => thumbnails(cloud.target, [image]), settled);
  await remove(cloud.target, image);
  await until(
    () => fetch(made?.variants.card?.url ?? ''),
    ({ ok }) => !ok,
  );
  mayFail(/card\.webp/);
  await page.goto(elements.show(placed(image, 0)));
  await expect.poll(() => stateOf(page), { timeout: 15_000 }).toBe('failed');
  expect((await pictures(page))[0]?.reason).toMatch(/not there/i);
});

test('without a network it waits, and goes on when it is back', async ({
  cloud,
  elements,
  visitor: { page, context, mayFail },
}) => {
  const [seeded] = await seedReady(cloud, 'offline', 1);
  mayFail(/\/thumbnails$/);
  await page.goto(elements.show(`<template>${placed(seeded?.image ?? '', 0)}</template>`));
  await context.setOffline(true);
  const failed = page.waitForEvent('requestfailed');
  await page.evaluate(
    'document.querySelector("main").append(document.querySelector("template").content.cloneNode(true))',
  );
  await failed;
  expect(await stateOf(page)).toBe('pending');
  await context.setOffline(false);
  // At once, not when the next try is due.
  await expect.poll(() => stateOf(page), { timeout: 900 }).toBe('ready');
});

test('an API that fails is left alone for longer each time', async ({
  cloud,
  elements,
  visitor: { page, mayFail },
}) => {
  const [seeded] = await seedReady(cloud, 'backoff', 1);
  // The page's own time, which stands but for what the test lets pass.
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1000);
  await page.addInitScript(`
    asked = [], answered = [];
    const send = fetch;
    fetch = async (...request) => {
      asked.push(Date.now());
      const answer = await send(...request);
      answered.push(Date.now());
      return answer;
    };`);
  const times = async (name: 'asked' | 'answered') =>
    z.array(z.number()).parse(await page.evaluate(name));
  mayFail(/\/thumbnails$/);
  let failures = 0;
  await page.route(`${cloud.endpoints.api}/thumbnails`, async (route) => {
    if (failures++ < 5) {
      await route.fulfill({ status: 503, headers: { 'access-control-allow-origin': '*' } });
    } else await route.continue();
  });
  await page.goto(elements.show(placed(seeded?.image ?? '', 0)));
  for (let tries = 1; tries <= 6; tries++) {
    while ((await times('asked')).length < tries) await page.clock.runFor(250);
    await expect.poll(async () => (await times('answered')).length).toBe(tries);
  }
  await allShown(page, 1);
  const answers = await times('answered');
  const gaps = (await times('asked')).slice(1).map((at, index) => at - (answers[index] ?? at));
  expect(gaps).toHaveLength(5);
  for (const [index, gap] of gaps.entries()) {
    expect(gap / (gaps[index - 1] ?? gap / 2)).toBeGreaterThan(1.2);
  }
  expect(gaps[4]).toBeGreaterThan(8000);
});

test('a page that nobody sees does not ask', async ({ cloud, elements, visitor }) => {
  const { page, watched } = visitor;
  await page.clock.install();
  await seedWorking(cloud, 'hidden/1.jpg');
  await page.goto(elements.show(placed('hidden/1.jpg', 0)));
  await expect.poll(() => watched.calls(ASK).length).toBe(1);
  await quiet(visitor);
  const become = (state: string) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { value: ${state === 'hidden'}, configurable: true });
      Object.defineProperty(document, 'visibilityState', { value: '${state}', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));`);
  await become('hidden');
  await pass(visitor, 600_000, 60_000);
  await quiet(visitor);
  expect(watched.calls(ASK)).toHaveLength(1);
  await become('visible');
  await expect.poll(() => watched.calls(ASK).length).toBe(2);
});

test('an element that was removed leaves nothing behind, and begins anew when it is back', async ({
  cloud,
  elements,
  visitor,
}) => {
  const { page, watched } = visitor;
  await page.clock.install();
  await seedWorking(cloud, 'leaving/1.jpg');
  await page.goto(elements.show(placed('leaving/1.jpg', 0)));
  await expect.poll(() => watched.calls(ASK).length).toBe(1);
  await quiet(visitor);
  await page.evaluate('picture = document.querySelector("glimpse-image"); picture.remove()');
  await pass(visitor, 600_000, 60_000);
  await quiet(visitor);
  expect(watched.calls(ASK)).toHaveLength(1);
  await page.evaluate('document.querySelector("main").append(picture)');
  await pass(visitor, 60_000);
  await expect.poll(() => watched.calls(ASK).length).toBeGreaterThan(1);
});

test('a viewer whose clock is a day ahead or behind sees pictures all the same', async ({
  cloud,
  elements,
  visiting,
}) => {
  const [seeded] = await seedReady(cloud, 'clock', 1);
  for (const days of [1, -1]) {
    const visitor = await visiting();
    const { page, watched } = visitor;
    await page.clock.install({ time: Date.now() + days * 86_400_000 });
    await page.goto(elements.show(placed(seeded?.image ?? '', 0)));
    await allShown(page, 1);
    await pass(visitor, 600_000, 30_000);
    await quiet(visitor);
    expect(watched.calls(ASK).length).toBeLessThan(4);
  }
});

test('an element that turns to another image shows that one', async ({
  cloud,
  elements,
  visitor: { page },
}) => {
  const seeded = await seedReady(cloud, 'turning', 3);
  await page.goto(elements.show(placed(seeded[0]?.image ?? '', 0)));
  const turn = (index: number) =>
    page.evaluate(
      `document.querySelector('glimpse-image').setAttribute('image', '${seeded[index]?.image}')`,
    );
  // Before the first is there, and again at once.
  await turn(1);
  await turn(2);
  await expect.poll(async () => (await pictures(page))[0]?.src).toContain(seeded[2]?.thumbnail);
  await allShown(page, 1);
  await turn(0);
  await expect.poll(async () => (await pictures(page))[0]?.src).toContain(seeded[0]?.thumbnail);
});

test('a picture is called what the page calls it', async ({
  cloud,
  elements,
  visitor: { page },
}) => {
  const seeded = await seedReady(cloud, 'names', 3);
  const [first, second, third] = seeded.map(({ image }) => image);
  const named = element({ image: first ?? '', alt: 'A boat in the harbour', class: 'one' });
  const decorative = element({ image: second ?? '', alt: '', class: 'one' });
  const unnamed = element({ image: third ?? '', class: 'one' });
  await page.goto(elements.show(named + decorative + unnamed));
  await allShown(page, 3);
  await expect
    .poll(() => page.getByRole('img').evaluateAll((all) => all.length), { timeout: 2000 })
    .toBe(2);
  expect(await page.getByRole('img', { name: 'A boat in the harbour', exact: true }).count()).toBe(
    1,
  );
  expect(await page.getByRole('img', { name: '100002.jpg', exact: true }).count()).toBe(1);
  expect(await violations(page)).toEqual([]);
});
