import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { put, settled, thumbnails, until } from '../flows/target.ts';
import { violations } from './accessibility.ts';
import { type Cloud, TOLD } from './cloud.ts';
import { pictures } from './in-page.ts';
import { photo, putPhotos } from './photos.ts';
import { seedReady, seedWorking, THUMBNAIL } from './seed.ts';
import { MOVING } from './visit.ts';
import { allShown, test } from './visitor.ts';
import type { Watch } from './watch.ts';

// The gallery page as its users meet it. Everything is reached as they reach it, by role and name.

/**
 * So tall that the whole page of 80 is on screen, of pixels so large that there are no more of them
 * than on a usual one.
 */
const TALL = {
  viewport: { width: 1280, height: 6000 },
  deviceScaleFactor: 0.5,
} as const;
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

const address = ({ endpoints }: Cloud, query: Readonly<Record<string, string>> = {}) =>
  `${endpoints.web}/?${new URLSearchParams(query)}`;

const grid = (page: Page) => page.getByRole('list', { name: /^Pictures in/ });
const tile = (page: Page, image: string) => grid(page).locator(`a[data-image="${image}"]`);
const dialog = (page: Page) => page.getByRole('dialog');

/** What has the focus, by the picture it stands for. */
const focused = (page: Page) => page.evaluate('document.activeElement?.dataset.image');

/** But for what moves because the visitor did something. */
async function nothingMoved(watched: Watch): Promise<void> {
  const { layoutShift, shifted } = await watched.measured();
  expect({ layoutShift, shifted }).toEqual({ layoutShift: 0, shifted: [] });
}

/** Where each picture is: what is moved by a transform is no layout shift to the browser. */
const places = (page: Page) =>
  page.evaluate(`Object.fromEntries([...document.querySelectorAll('a[data-image]')].map((link) => {
    const { x, y, width, height } = link.getBoundingClientRect();
    return [link.dataset.image, [x, y, width, height]];
  }))`);

/** Real photographs, and both of their thumbnails. */
async function warmPhotos({ target }: Cloud, gallery: string, count: number): Promise<string[]> {
  const images = await putPhotos(target, gallery, count);
  await until(() => thumbnails(target, images, ['card', 'zoom']), settled);
  return images;
}

test('who comes first sees that nothing is there, and what to do', async ({
  cloud,
  visitor: { page, watched },
}) => {
  const answers = Promise.withResolvers<void>();
  await page.route(/\/galleries$/, async (route) => {
    await answers.promise;
    await route.fallback();
  });
  await page.goto(address(cloud));
  await page.getByRole('list', { name: 'Galleries' }).waitFor({ state: 'attached' });
  // Whatever could be typed now would be gone with the next answer.
  expect(await page.getByRole('textbox').count()).toBe(0);
  answers.resolve();
  await page.getByRole('button', { name: 'Make the sample gallery' }).waitFor();
  expect(await page.getByRole('textbox').count()).toBe(1);
  expect(await violations(page)).toEqual([]);
  await nothingMoved(watched);
});

test('a cold gallery becomes ready by itself, and a reload loads nothing again', async ({
  cloud,
  visiting,
}) => {
  const images = await putPhotos(cloud.target, 'holiday', 80);
  const { page, watched } = await visiting(TALL);
  let navigations = 0;
  page.on('framenavigated', () => {
    navigations += 1;
  });
  await windowOfUrls();
  await page.goto(address(cloud, { gallery: 'holiday' }));
  await tile(page, images[79] ?? '').waitFor();
  expect((await pictures(page)).some(({ state }) => state === 'pending')).toBe(true);
  const held = await places(page);
  const shown = await allShown(page, 80, 50_000);
  expect(await places(page)).toEqual(held);
  expect(shown.map(({ image }) => image)).toEqual(images);
  expect(navigations).toBe(1);
  const times = watched.api.map(({ at }) => `${(at / 1000).toFixed(1)} s`).join(', ');
  console.log(`a cold page of 80: ${watched.api.length} API calls, at ${times}`);
  expect(watched.api.length).toBeLessThan(8);
  expect(watched.mostAtOnce('POST /thumbnails')).toBe(1);
  await nothingMoved(watched);
  expect(watched.thumbnails).toHaveLength(80);
  expect(watched.thumbnails.every(({ status }) => status === 200)).toBe(true);

  await page.reload();
  const again = await allShown(page, 80);
  // Signed anew, and the same to the byte; each straight from the bucket.
  expect(again.map(({ src }) => src)).toEqual(shown.map(({ src }) => src));
  expect(again.every(({ src }) => src.startsWith(cloud.endpoints.s3))).toBe(true);
  const reloaded = watched.thumbnails.slice(80);
  expect(reloaded).toHaveLength(80);
  expect(reloaded.filter(({ cached }) => !cached)).toEqual([]);
  expect(watched.calls('GET /images')).toHaveLength(2);
  expect(watched.calls('GET /thumbnail')).toEqual([]);
  await nothingMoved(watched);
});

/** URLs change with the hour, which must not happen in the middle of comparing them. */
async function windowOfUrls(): Promise<void> {
  const left = 3_600_000 - (Date.now() % 3_600_000);
  if (left < 25_000) await new Promise((done) => setTimeout(done, left));
}

test('a warm gallery is one call, however often it is looked at', async ({
  cloud,
  visitor: { page, watched },
}) => {
  await seedReady(cloud, 'warm', 80);
  await page.goto(address(cloud, { gallery: 'warm' }));
  await allShown(page, 10);
  expect(watched.api.map(({ route }) => route)).toEqual(['GET /images']);
  await nothingMoved(watched);
});

test('galleries are listed and lead to their pictures, and back', async ({
  cloud,
  visitor: { page },
}) => {
  await seedReady(cloud, 'spring/2026', 5);
  await page.goto(address(cloud));
  const link = page
    .getByRole('list', { name: 'Galleries' })
    .getByRole('link', { name: 'spring/2026' });
  await link.waitFor();
  await allShown(page, 4);
  expect(await violations(page)).toEqual([]);
  await link.click();
  await grid(page).waitFor();
  expect(page.url()).toBe(address(cloud, { gallery: 'spring/2026' }));
  await allShown(page, 5);
  await page.goBack();
  await link.waitFor();
});

test('a gallery that has no picture to show says why, and leads to the reason', async ({
  cloud,
  visitor: { page },
}) => {
  await put(cloud.target, `${TOLD}words/1.jpg`, Buffer.from('these are words'));
  await until(() => thumbnails(cloud.target, [`${TOLD}words/1.jpg`]), settled);
  await page.goto(address(cloud));
  const link = page
    .getByRole('list', { name: 'Galleries' })
    .getByRole('link', { name: `${TOLD}words` });
  await link.getByText('No thumbnail could be made').waitFor();
  expect(await violations(page)).toEqual([]);
  await link.click();
  await page.getByRole('link', { name: /^1: Not a picture that can be shown: / }).waitFor();
});

test('what is uploaded is seen at once, and becomes a thumbnail', async ({ cloud, visiting }) => {
  const { page, watched, mayFail } = await visiting(MOVING);
  // The API says with a 409 that there is a cake already.
  mayFail(/\/uploads$/);
  await page.goto(address(cloud, { gallery: `${TOLD}party` }));
  await page.getByText('No pictures yet').waitFor();
  const add = async (...files: { name: string; mimeType: string; buffer: Buffer }[]) => {
    const choosing = page.waitForEvent('filechooser');
    await page.getByRole('button', { name: 'Add pictures' }).first().click();
    await (await choosing).setFiles(files);
  };
  const jpeg = async (name: string, index: number) => ({
    name,
    mimeType: 'image/jpeg',
    buffer: await photo(index),
  });
  await add(await jpeg('cake.jpg', 0), await jpeg('garden.jpg', 1));
  await page.getByRole('region', { name: 'Uploads' }).waitFor();
  await tile(page, `${TOLD}party/cake.jpg`).waitFor();
  await tile(page, `${TOLD}party/garden.jpg`).waitFor();
  await allShown(page, 2, 30_000);

  // One that is there already, and one that is no picture: both say so, neither stops the third.
  await add(
    await jpeg('cake.jpg', 2),
    { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('buy candles') },
    await jpeg('lake.jpg', 3),
  );
  const refused = page.getByRole('list', { name: 'Could not be added' });
  await refused.getByText('cake.jpg', { exact: true }).waitFor();
  await refused.getByText('notes.txt', { exact: true }).waitFor();
  await tile(page, `${TOLD}party/lake.jpg`).waitFor();
  await allShown(page, 3, 30_000);
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Keep both pictures called cake.jpg' }).click();
  await expect.poll(async () => (await pictures(page)).length).toBe(4);
  await allShown(page, 4, 30_000);
  // But for the uploads' own panel, which is as high as what it has to say.
  const { shifted } = await watched.measured();
  expect(shifted.filter((moved) => !moved.includes('SECTION.uploads'))).toEqual([]);

  await page.reload();
  await allShown(page, 4);
});

test('files are dropped anywhere on the page', async ({ cloud, visitor: { page } }) => {
  await page.goto(address(cloud, { gallery: `${TOLD}dropped` }));
  await page.getByText('No pictures yet').waitFor();
  const bytes = [...(await photo(4))];
  const files = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([new Uint8Array([${bytes}])], 'dropped.jpg', { type: 'image/jpeg' }));
    return transfer;
  })()`);
  for (const type of ['dragenter', 'dragover', 'drop']) {
    await page.locator('body').dispatchEvent(type, { dataTransfer: files });
    if (type === 'dragover') await page.getByText(/^Drop to add/).waitFor();
  }
  await tile(page, `${TOLD}dropped/dropped.jpg`).waitFor();
  await allShown(page, 1, 30_000);
});

test('an upload may be cancelled', async ({ cloud, visitor: { page, mayFail } }) => {
  const { s3 } = cloud.endpoints;
  mayFail(/originals/);
  // A network so slow that there is time to think again.
  await page.route(`${s3}/**`, (route) =>
    route.request().method() === 'POST' ? undefined : route.continue(),
  );
  await page.goto(address(cloud, { gallery: 'cancelled' }));
  const choosing = page.waitForEvent('filechooser');
  await page.getByRole('button', { name: 'Add pictures' }).first().click();
  await (await choosing).setFiles([
    { name: 'large.jpg', mimeType: 'image/jpeg', buffer: await photo(5) },
  ]);
  const uploads = page.getByRole('region', { name: 'Uploads' });
  await uploads.getByRole('progressbar').first().waitFor();
  expect(await violations(page)).toEqual([]);
  await uploads.getByRole('button', { name: 'Cancel upload of large.jpg' }).click();
  await uploads.getByText('1 picture cancelled').waitFor();
  await page.getByText('No pictures yet').waitFor();
});

test('what cannot be shown says why, and costs the rest nothing', async ({
  cloud,
  visitor: { page },
}) => {
  await put(cloud.target, 'mixed/1.jpg', await photo(0));
  await put(cloud.target, 'mixed/2.jpg', Buffer.from('these are words'));
  await put(cloud.target, 'mixed/3.jpg', (await photo(1)).subarray(0, 200));
  await page.clock.install();
  await page.goto(address(cloud, { gallery: 'mixed' }));
  await expect
    .poll(async () => (await pictures(page)).map(({ state }) => state), { timeout: 30_000 })
    .toEqual(['ready', 'failed', 'failed']);
  const told = await thumbnails(cloud.target, ['mixed/2.jpg', 'mixed/3.jpg']);
  const [, second, third] = await pictures(page);
  expect(second?.reason).toContain(told[0]?.failure?.reason);
  expect(third?.reason).toContain(told[1]?.failure?.reason);
  await page.getByRole('link', { name: /^2: Not a picture that can be shown: / }).waitFor();
  expect(await violations(page)).toEqual([]);
  // The URL of the first may end meanwhile: it is asked for again, and the others are not.
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/thumbnails')) asked.push(request.postData() ?? '');
  });
  await page.clock.fastForward('03:00:00');
  await expect.poll(() => asked.length).toBe(1);
  expect(JSON.parse(asked[0] ?? '').images).toEqual(['mixed/1.jpg']);
});

test('a page that was open for hours shows what it showed, and what is further down', async ({
  cloud,
  visitor: { page, watched },
}) => {
  const seeded = await seedReady(cloud, 'hours', 80);
  await page.clock.install();
  await page.goto(address(cloud, { gallery: 'hours' }));
  const before = await allShown(page, 10);
  const last = seeded[79]?.image ?? '';
  expect(before.map(({ image }) => image)).not.toContain(last);
  await page.clock.fastForward('03:00:00');
  await expect.poll(() => watched.calls('POST /thumbnails').length).toBeGreaterThan(0);
  await allShown(page, 10);
  // Its URL ended before it was first needed.
  const urls: string[] = [];
  page.on('request', (request) => {
    const { images } = JSON.parse(request.postData() ?? '{}');
    if (images?.includes(last)) urls.push('asked');
    if (request.url().includes(encodeURI(last))) urls.push('loaded');
  });
  await tile(page, before[0]?.image ?? '').focus();
  await page.keyboard.press('End');
  await expect.poll(() => focused(page)).toBe(last);
  await allShown(page, 5);
  expect(urls).toEqual(['asked', 'loaded']);
  expect(watched.api.length).toBeLessThan(8);
});

test('the keyboard goes everywhere', async ({ cloud, visitor: { page } }) => {
  const images = await warmPhotos(cloud, 'walk', 12);
  const at = (index: number) => images.at(index) ?? '';
  await page.goto(address(cloud, { gallery: 'walk' }));
  await allShown(page, 12);
  for (let tabs = 0; (await focused(page)) === undefined && tabs < 12; tabs++) {
    await page.keyboard.press('Tab');
  }
  expect(await focused(page)).toBe(at(0));
  await page.keyboard.press('ArrowRight');
  expect(await focused(page)).toBe(at(1));
  await page.keyboard.press('ArrowDown');
  const below = images.indexOf(String(await focused(page)));
  expect(below).toBeGreaterThan(2);
  await page.keyboard.press('ArrowUp');
  expect(images.indexOf(String(await focused(page)))).toBeLessThan(below);
  await page.keyboard.press('End');
  expect(await focused(page)).toBe(at(-1));
  await page.keyboard.press('Home');
  expect(await focused(page)).toBe(at(0));
  // The grid is one stop, wherever in it one is.
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Tab');
  expect(await focused(page)).toBeUndefined();
  await page.keyboard.press('Shift+Tab');
  expect(await focused(page)).toBe(at(1));

  await page.keyboard.press('Enter');
  await dialog(page).waitFor();
  expect(page.url()).toBe(address(cloud, { gallery: 'walk', image: at(1) }));
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => page.url()).toContain(encodeURIComponent(at(2)));
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  await expect.poll(() => page.url()).toContain(encodeURIComponent(at(0)));
  expect(await page.getByRole('button', { name: 'Previous picture' }).isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  await expect.poll(() => focused(page)).toBe(at(0));
  expect(page.url()).toBe(address(cloud, { gallery: 'walk' }));
});

test('a picture is opened large, by click, by link and by Back', async ({ cloud, visiting }) => {
  const { page, watched } = await visiting(MOVING);
  const images = await warmPhotos(cloud, 'large', 5);
  const at = (index: number) => images.at(index) ?? '';
  await page.goto(address(cloud, { gallery: 'large' }));
  await allShown(page, 5);
  await tile(page, at(1)).click();
  await dialog(page).waitFor();
  const large = dialog(page).locator('glimpse-image[variant=zoom]:not([hidden])');
  await expect.poll(() => large.getAttribute('state')).toBe('ready');
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Next picture' }).click();
  await expect.poll(() => page.url()).toContain(encodeURIComponent(at(2)));
  await expect.poll(() => large.getAttribute('state')).toBe('ready');
  await page.goBack();
  await dialog(page).waitFor({ state: 'detached' });
  expect(page.url()).toBe(address(cloud, { gallery: 'large' }));
  await page.goForward();
  await dialog(page).waitFor();
  await page.getByRole('button', { name: 'Close' }).click();
  await dialog(page).waitFor({ state: 'detached' });

  // As someone else's link.
  await page.goto(address(cloud, { gallery: 'large', image: at(4) }));
  await dialog(page).waitFor();
  await expect.poll(() => large.getAttribute('state')).toBe('ready');
  expect(await page.getByRole('button', { name: 'Next picture' }).isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await dialog(page).waitFor({ state: 'detached' });
  expect(page.url()).toBe(address(cloud, { gallery: 'large' }));
  await expect.poll(() => focused(page)).toBe(at(4));
  await nothingMoved(watched);
});

/** One thumbnail for all, as a CDN might have them; what is tried is where they are. */
async function standIn(page: Page): Promise<void> {
  await page.route('**/*.webp*', (route) =>
    route.fulfill({ contentType: 'image/webp', body: THUMBNAIL }),
  );
}

test('a link leads to a picture that is many pages down, and from there to its neighbours', async ({
  cloud,
  visitor: { page },
}) => {
  const seeded = await seedReady(cloud, 'deep', 400, { objects: false });
  const at = (index: number) => seeded[index]?.image ?? '';
  await standIn(page);
  await page.goto(address(cloud, { image: at(300) }));
  await dialog(page)
    .getByText(/^301 of /)
    .waitFor();
  await page.keyboard.press('ArrowRight');
  await dialog(page)
    .getByText(/^302 of /)
    .waitFor();
  await page.keyboard.press('Escape');
  await expect.poll(() => focused(page)).toBe(at(301));
});

test('a reload and Back come to where one was, and another width leaves it there', async ({
  cloud,
  visitor: { page },
}) => {
  const seeded = await seedReady(cloud, 'long', 300, { objects: false });
  await standIn(page);
  await page.goto(address(cloud, { gallery: 'long' }));
  await tile(page, seeded[0]?.image ?? '').waitFor();
  const top = () => page.evaluate('Math.round(scrollY)');
  // Further than the first page of the list.
  await expect
    .poll(async () => {
      // The wheel would still be turning when the place is read.
      await page.evaluate('scrollBy(0, 900)');
      return Number(await top());
    })
    .toBeGreaterThan(5500);
  // It is kept when scrolling has come to rest.
  await expect
    .poll(() => page.evaluate('scrollY > 5500 && Math.abs(scrollY - history.state?.top) < 1'))
    .toBe(true);
  const rest = await top();
  await page.reload();
  await expect.poll(top).toBe(rest);

  await page.getByRole('link', { name: 'Glimpse', exact: true }).click();
  await page.getByRole('heading', { name: 'Galleries' }).waitFor();
  await page.goBack();
  await expect.poll(top).toBe(rest);

  const first = () =>
    page.evaluate(`[...document.querySelectorAll('a[data-image]')].find((tile) =>
      tile.getBoundingClientRect().bottom > 0)?.dataset.image`);
  // The tiles of a place come a frame after the place.
  await expect.poll(first).toBeDefined();
  const before = await first();
  for (const width of [1000, 700, 390, 900, 1280]) {
    await page.setViewportSize({ width, height: 720 });
    await expect.poll(() => page.evaluate('innerWidth')).toBe(width);
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  }
  await expect.poll(first).toBe(before);
});

test('any name works in addresses, links and the large view', async ({
  cloud,
  visitor: { page },
}) => {
  const gallery = `Müller & "Söhne"/100% +1 #?`;
  const names = [`a "quote" & <tag>.jpg`, '100%25 + 1.jpg', 'é #1?x=y.jpg'];
  const images = names.map((name) => `${gallery}/${name}`);
  for (const [index, image] of images.entries()) await put(cloud.target, image, await photo(index));
  await page.goto(address(cloud, { gallery }));
  const shown = await allShown(page, 3, 30_000);
  expect(shown.map(({ image }) => image).sort()).toEqual([...images].sort());
  for (const image of images) {
    await page.goto(address(cloud, { gallery, image }));
    await dialog(page).waitFor();
    const large = dialog(page).locator('glimpse-image[variant=zoom]:not([hidden])');
    await expect.poll(() => large.getAttribute('state')).toBe('ready');
  }
});

const ODD_GALLERIES = [
  ['..', '../dots.jpg'],
  ['.', './dot.jpg'],
  ['/', '/slash.jpg'],
] as const;

test('galleries named .., . and / are like any other, from the first upload to a reload', async ({
  cloud,
  visitor: { page },
}) => {
  await page.goto(address(cloud));
  for (const [gallery, image] of ODD_GALLERIES) {
    await page.getByLabel('A gallery of your own').fill(gallery);
    await page.getByRole('button', { name: 'Open', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: gallery, exact: true }).waitFor();
    expect(page.url()).toBe(address(cloud, { gallery }));
    const name = image.slice(image.lastIndexOf('/') + 1);
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name, mimeType: 'image/jpeg', buffer: await photo(3) });
    const shown = await allShown(page, 1, 30_000);
    expect(shown.map((each) => each.image)).toEqual([image]);
    await tile(page, image).click();
    const large = dialog(page).locator('glimpse-image[variant=zoom]:not([hidden])');
    await expect.poll(() => large.getAttribute('state')).toBe('ready');
    await page.reload();
    expect(page.url()).toBe(address(cloud, { gallery, image }));
    await expect.poll(() => large.getAttribute('state')).toBe('ready');
    await page.goto(address(cloud));
  }
  const galleries = page.getByRole('list', { name: 'Galleries' });
  for (const [gallery] of ODD_GALLERIES) {
    await galleries.getByRole('link', { name: gallery, exact: true }).click();
    expect(page.url()).toBe(address(cloud, { gallery }));
    await allShown(page, 1, 30_000);
    await page.goBack();
  }
}, 120_000);

test('on a phone nothing is wider than the screen', async ({ cloud, visiting }) => {
  const images = await warmPhotos(cloud, 'phone', 9);
  const { page, watched } = await visiting(PHONE);
  const widest = () => page.evaluate('document.documentElement.scrollWidth');
  for (const query of [{}, { gallery: 'phone' }, { gallery: 'nothing here' }]) {
    await page.goto(address(cloud, query));
    await page.getByRole('main').waitFor();
    expect(await widest()).toBe(390);
  }
  for (const width of [320, 700]) {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(address(cloud));
    const field = page.getByRole('banner').getByRole('textbox');
    expect((await field.boundingBox())?.width).toBeGreaterThan(180);
    await page.goto(address(cloud, { gallery: 'phone' }));
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await expect.poll(() => pages.getByRole('link').count()).toBeGreaterThan(1);
    for (const link of await pages.getByRole('link').all()) {
      const { x = -1, width: wide = 0 } = (await link.boundingBox()) ?? {};
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x + wide).toBeLessThanOrEqual(width);
    }
  }
  await page.setViewportSize(PHONE.viewport);
  await page.goto(address(cloud, { gallery: 'phone' }));
  await allShown(page, 9);
  expect(await widest()).toBe(390);
  expect(await violations(page)).toEqual([]);
  await tile(page, images[0] ?? '').tap();
  await dialog(page).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Close' }).tap();
  await dialog(page).waitFor({ state: 'detached' });
  await nothingMoved(watched);
});

test('in the dark it is as legible', async ({ cloud, visiting }) => {
  await put(cloud.target, 'dark/broken.jpg', Buffer.from('these are words'));
  await put(cloud.target, 'dark/good.jpg', await photo(6));
  await until(() => thumbnails(cloud.target, ['dark/broken.jpg', 'dark/good.jpg']), settled);
  const { page } = await visiting({ colorScheme: 'dark' });
  await page.goto(address(cloud, { gallery: 'dark' }));
  await expect
    .poll(async () => (await pictures(page)).map(({ state }) => state))
    .toEqual(['failed', 'ready']);
  expect(await violations(page)).toEqual([]);
  await page.goto(address(cloud));
  await page.getByRole('list', { name: 'Galleries' }).getByRole('link').first().waitFor();
  expect(await violations(page)).toEqual([]);
});

test('offline it says so, and goes on when the network is back', async ({
  cloud,
  visitor: { page, context, mayFail },
}) => {
  await seedWorking(cloud, 'tunnel/1.jpg');
  await seedReady(cloud, 'tunnel', 1);
  mayFail(/thumbnails|images/);
  await page.goto(address(cloud, { gallery: 'tunnel' }));
  await expect
    .poll(async () => (await pictures(page)).map(({ state }) => state))
    .toEqual(['pending', 'ready']);
  await context.setOffline(true);
  const status = page.getByRole('status').filter({ hasText: /offline/i });
  await status.waitFor();
  expect(await violations(page)).toEqual([]);
  await context.setOffline(false);
  await status.waitFor({ state: 'detached' });
});

test('an API that does not answer is told of, and tried again when asked to', async ({
  cloud,
  visitor: { page, mayFail },
}) => {
  await seedReady(cloud, 'trouble', 3);
  mayFail(/\/images\?/);
  let failures = 0;
  await page.route(`${cloud.endpoints.api}/images?**`, async (route) => {
    if (failures++ < 2) {
      await route.fulfill({
        status: 503,
        headers: { 'access-control-allow-origin': '*' },
        json: { message: 'Service Unavailable' },
      });
    } else await route.continue();
  });
  await page.goto(address(cloud, { gallery: 'trouble' }));
  for (let tries = 0; tries < 2; tries++) {
    await page.getByRole('alert').waitFor();
    if (tries === 0) expect(await violations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Try again' }).click();
  }
  await allShown(page, 3);
  expect(await page.getByRole('alert').count()).toBe(0);
});

test('an answer that cannot be read is told of, and tried again when asked to', async ({
  cloud,
  visitor: { page },
}) => {
  await seedReady(cloud, 'garbled', 3);
  let garbled = true;
  await page.route(`${cloud.endpoints.api}/images*`, (route) =>
    garbled
      ? route.fulfill({
          json: { images: 'none' },
          headers: { 'access-control-allow-origin': '*' },
        })
      : route.continue(),
  );
  await page.goto(address(cloud, { gallery: 'garbled' }));
  await page.getByText('Glimpse gave an answer that this page cannot read.').waitFor();
  garbled = false;
  await page.getByRole('button', { name: 'Try again' }).click();
  await allShown(page, 3);
});
