// Pictures of the pages in the states that a reviewer would like to see, of the sample gallery.
//
//   npm run screenshots -- [folder=screenshots]
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { sampleBytes } from '../../cli/sample/bytes.ts';
import { DAMAGED, PICTURES, UNSUPPORTED } from '../../cli/sample/catalogue.ts';
import { buildPages } from '../../local/pages/built.ts';
import { synthesise } from '../../local/synthesis.ts';
import { signedIn } from '../callers.ts';
import { createdSchema, upload } from '../flows/imports.ts';
import { put, settled, thumbnails, until } from '../flows/target.ts';
import { BROKEN, untidyCatalogue } from './catalogues.ts';
import { launchBrowser, unpackChromium } from './chromium.ts';
import { type Cloud, startCloud } from './cloud.ts';
import { awaited, countSettled } from './in-page.ts';
import { visit } from './visit.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = resolve(process.argv[2] ?? 'screenshots');

async function main(): Promise<void> {
  await mkdir(folder, { recursive: true });
  const [cdkOut, chromium] = await Promise.all([
    synthesise(root),
    unpackChromium(root),
    buildPages(root),
  ]);
  const cloud = await startCloud(cdkOut);
  const browser = await launchBrowser(chromium);
  try {
    await takeAll(cloud, browser);
    await takeImports(cloud, browser);
    await takeDashboards(cloud, browser);
  } finally {
    await browser.close();
    await cloud.stop();
  }
}

async function takeAll(cloud: Cloud, browser: Browser): Promise<void> {
  const { web } = cloud.endpoints;
  const gallery = `${web}/?gallery=sample`;
  const take = async (
    name: string,
    url: string,
    ready: (page: Page) => Promise<unknown>,
    options: BrowserContextOptions = {},
  ) => {
    const { page, context } = await visit(browser, cloud.endpoints, {
      token: cloud.endpoints.token,
      ...options,
    });
    await page.goto(url);
    await ready(page);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    console.log(`${name}.png`);
    await context.close();
  };
  const shown = async (page: Page) => {
    await until(
      () => countSettled(page),
      ({ settled, all }) => all > 0 && settled === all,
    );
    // Fades end.
    await sleep(400);
  };

  await take('empty-start', web, (page) =>
    page.getByRole('main').getByRole('button').first().waitFor(),
  );

  const pictures = [...PICTURES.keys(), DAMAGED, UNSUPPORTED];
  for (const image of pictures) await put(cloud.target, image, await sampleBytes(image));
  await take('cold', gallery, (page) => page.locator('glimpse-image').first().waitFor());
  const { page, context } = await visit(browser, cloud.endpoints, { token: cloud.endpoints.token });
  await page.goto(gallery);
  await page.locator('glimpse-image').first().waitFor();
  const onScreen = (await awaited(page)) ?? 0;
  await until(
    () => awaited(page),
    (count = onScreen) => count <= onScreen / 2,
  );
  await page.screenshot({ path: join(folder, 'half-way.png') });
  console.log('half-way.png');
  await context.close();
  await until(() => thumbnails(cloud.target, pictures.slice(0, 100)), settled, {
    withinMs: 120_000,
  });

  await take('warm', gallery, shown);
  await take('dark', gallery, shown, { colorScheme: 'dark' });
  const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true };
  await take('phone', gallery, shown, phone);
  for (const image of [...[...PICTURES.keys()].slice(20, 23), DAMAGED, UNSUPPORTED]) {
    const name = image.slice(image.lastIndexOf('/') + 1);
    await put(cloud.target, `failing/${name}`, await sampleBytes(image));
  }
  await take('failing', `${web}/?gallery=failing`, shown);
  const [, first = ''] = PICTURES.keys();
  const large = `${gallery}&${new URLSearchParams({ image: first })}`;
  const zoomed = async (page: Page) => {
    await page.locator('dialog glimpse-image[variant=zoom][state=ready]').first().waitFor();
    await sleep(400);
  };
  await take('large-view', large, zoomed);
  await take('large-view-phone', large, zoomed, phone);

  for (const name of ['harbour', 'summer/2026']) {
    for (const [index, image] of [...PICTURES.keys()].slice(5, 10).entries()) {
      await put(cloud.target, `${name}/${index}.jpg`, await sampleBytes(image));
    }
    // A gallery is in the list once somebody has looked at it.
    await take(`gallery-${name.replace('/', '-')}`, `${web}/?gallery=${name}`, shown);
  }
  await take('galleries', web, async (page) => {
    const cards = page.getByRole('list', { name: 'Galleries' }).getByRole('link');
    await cards.first().waitFor();
    await until(
      () => cards.filter({ hasNot: page.locator('glimpse-image') }).count(),
      (bare) => bare === 0,
    );
    await shown(page);
  });

  await take('uploads', `${web}/?gallery=harbour`, async (page) => {
    await shown(page);
    // A network so slow that one can look at it.
    await page.route(`${cloud.endpoints.s3}/**`, (route) =>
      route.request().method() === 'POST' ? undefined : route.continue(),
    );
    const jpeg = Buffer.from(await sampleBytes(first));
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles([
        { name: '0.jpg', mimeType: 'image/jpeg', buffer: jpeg },
        { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('buy candles') },
        { name: 'lighthouse.jpg', mimeType: 'image/jpeg', buffer: jpeg },
        { name: 'boats.jpg', mimeType: 'image/jpeg', buffer: jpeg },
      ]);
    await page
      .getByRole('list', { name: 'Could not be added' })
      .getByText('notes.txt')
      .first()
      .waitFor();
    await sleep(1000);
  });
}

/** The imports page: a catalogue of 812 rows from its report to its last row. */
async function takeImports(cloud: Cloud, browser: Browser): Promise<void> {
  const { web, provider } = cloud.endpoints;
  const address = `${web}/imports.html`;
  const phone = { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true };
  const open = async (url: string, options: BrowserContextOptions = {}) => {
    // A picture in the middle of a scroll is one of nothing.
    const visitor = await visit(browser, cloud.endpoints, {
      token: cloud.endpoints.token,
      ...options,
    });
    await visitor.page.goto(url);
    return visitor;
  };
  const shoot = async (page: Page, name: string) => {
    await sleep(700);
    await page.screenshot({ path: join(folder, `${name}.png`) });
    console.log(`${name}.png`);
  };
  const take = async (
    name: string,
    url: string,
    ready: string,
    options: BrowserContextOptions = {},
  ) => {
    const { page, context } = await open(url, options);
    await page.locator(ready).first().waitFor();
    await shoot(page, name);
    await context.close();
  };
  const choose = (page: Page, name: string, text: string) =>
    page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(text) });

  const { page, context } = await open(address);
  // The functions may have to start first, and a whole catalogue takes a minute.
  context.setDefaultTimeout(180_000);
  await page.getByText('No imports yet').waitFor();
  await shoot(page, 'imports-empty');
  await choose(page, 'prices.csv', BROKEN);
  await page.getByText('What to do:').waitFor();
  await shoot(page, 'imports-bad-file');
  await page.getByRole('link', { name: 'Imports', exact: true }).click();
  await choose(page, 'autumn-catalogue.csv', untidyCatalogue(812));
  await page.getByRole('button', { name: /^Summarise/ }).waitFor();
  await page.getByLabel('price').uncheck();
  await page.getByLabel('notes').uncheck();
  await page.setViewportSize({ width: 1280, height: 1200 });
  await page.evaluate('scrollTo(0, 0)');
  await shoot(page, 'imports-report');
  await page.setViewportSize({ width: 1280, height: 800 });
  await take('imports-report-phone', page.url(), '.columns', phone);

  const importId = new URL(page.url()).searchParams.get('import');
  const failing = [4, 97, 330, 331].map((row) => ({
    fault: 'filtered',
    row: `${importId}/${row}`,
  }));
  await fetch(`${provider}/configure`, {
    method: 'POST',
    body: JSON.stringify({ faults: failing }),
  });
  await page.getByRole('button', { name: /^Summarise/ }).click();
  await page.locator('.row.done').first().waitFor();
  await shoot(page, 'imports-running');
  await take('imports-running-phone', page.url(), '.row.done', phone);
  await take('imports-list', address, '.import-list');
  await page.locator('.chip', { hasText: 'Done, with failures' }).waitFor();
  await take('imports-done', page.url(), '.row.done');
  await take('imports-dark', page.url(), '.row.done', { colorScheme: 'dark' });
  await take('imports-phone', page.url(), '.row.done', phone);
  await take('imports-failed', `${page.url()}&rows=failed`, '.row.failed');
  await take('imports-list-dark', address, '.import-list', { colorScheme: 'dark' });
  await take('fleet', `${web}/fleet.html`, '.plot canvas');
  await take('fleet-dark', `${web}/fleet.html`, '.plot canvas', { colorScheme: 'dark' });
  await take('fleet-phone', `${web}/fleet.html`, '.plot canvas', phone);
  await context.close();
}

/** Both dashboards, of all that came before and of a burst of cold pictures and a bulk import that run. */
async function takeDashboards(cloud: Cloud, browser: Browser): Promise<void> {
  const { api, web, token } = cloud.endpoints;
  const burst = [...PICTURES.keys()].slice(0, 40).map((image, index) => [image, index] as const);
  for (const [image, index] of burst) {
    await put(cloud.target, `burst/${index}.jpg`, await sampleBytes(image));
  }
  const created = await fetch(`${api}/imports`, {
    method: 'POST',
    headers: signedIn(cloud.endpoints),
    body: JSON.stringify({ name: 'bulk.csv', mode: 'bulk' }),
  });
  const { upload: form } = createdSchema.parse(await created.json());
  await upload(form, untidyCatalogue(4000));
  const { page: viewer, context: viewing } = await visit(browser, cloud.endpoints, { token });
  await viewer.goto(`${web}/?gallery=burst`);
  await sleep(90_000);
  for (const [name, options] of [
    ['dashboards', { viewport: { width: 1500, height: 1000 } }],
    ['dashboards-dark', { viewport: { width: 1500, height: 1000 }, colorScheme: 'dark' }],
    ['dashboards-phone', { viewport: { width: 390, height: 844 } }],
  ] as const) {
    const { page, context } = await visit(browser, cloud.endpoints, options);
    await page.goto(`${web}/dashboards`);
    await page.locator('.plot canvas').nth(26).waitFor();
    await sleep(1000);
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
    console.log(`${name}.png`);
    await context.close();
  }
  await viewing.close();
}

await main();
