import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';
import type { ChangesInput } from '../../local/provider/settings.ts';
import { signedIn } from '../callers.ts';
import { until } from '../flows/target.ts';
import { violations } from './accessibility.ts';
import { BROKEN, catalogue, HEADER, skuOf, untidyCatalogue } from './catalogues.ts';
import type { Cloud } from './cloud.ts';
import { MOVING } from './visit.ts';
import { quiet, test } from './visitor.ts';

// The imports page as its users meet it, on the whole stack and a simulated model.

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
/** A file is read, or rows are summarised, by functions that may have to start first. */
const SOON = { timeout: 40_000 };
const QUICK = { kind: 'fixed', ms: 20 } as const;

const imports = ({ endpoints }: Cloud) => `${endpoints.web}/imports.html`;
/** The places of the rows that are on screen. */
const SEEN_ROWS = `[...document.querySelectorAll('[data-place]')]
  .filter((row) => row.getBoundingClientRect().top < innerHeight && row.getBoundingClientRect().bottom > 0)
  .map((row) => Number(row.dataset.place))`;
const idIn = (page: Page) => new URL(page.url()).searchParams.get('import') ?? '';
const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });
const chip = (page: Page, state: string) => page.locator('.chip', { hasText: state });
const rows = (page: Page) => page.getByRole('list', { name: 'Rows', exact: true });
const start = (page: Page) => button(page, /^Summarise/);

async function configure({ endpoints }: Cloud, changes: ChangesInput): Promise<void> {
  const answer = await fetch(`${endpoints.provider}/configure`, {
    method: 'POST',
    body: JSON.stringify(changes),
  });
  expect(answer.status).toBe(200);
}

/** As somebody who drops a file on the page. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(text)}], '${name}', { type: 'text/csv' }));
    return transfer;
  })()`);
  const body = page.locator('body');
  await body.dispatchEvent('dragenter', { dataTransfer });
  await body.dispatchEvent('dragover', { dataTransfer });
  await page.locator('.drop-target').waitFor();
  await body.dispatchEvent('drop', { dataTransfer });
  await page.locator('.drop-target').waitFor({ state: 'detached' });
}

async function choose(page: Page, name: string, text: string): Promise<void> {
  const file = { name, mimeType: 'text/csv', buffer: Buffer.from(text) };
  await page.locator('input[type=file]').first().setInputFiles(file);
}

/** Until the report of a file is there. */
async function review(cloud: Cloud, page: Page, text: string): Promise<void> {
  await page.goto(imports(cloud));
  await choose(page, 'goods.csv', text);
  await start(page).waitFor(SOON);
}

test('a catalogue is looked at, chosen from, summarised, mended and taken home', async ({
  cloud,
  visitor,
}) => {
  const { page, watched } = visitor;
  await configure(cloud, { latency: QUICK, faults: [] });
  await page.clock.install();
  await page.goto(imports(cloud));
  await page.getByText('No imports yet').waitFor();
  expect(await violations(page)).toEqual([]);
  await choose(page, 'goods.csv', untidyCatalogue(130));
  await start(page).waitFor(SOON);

  // What was understood of it.
  const facts = page.locator('.understood').locator('dt, dd');
  expect(await facts.allTextContents()).toEqual([
    ...['Rows', '130', 'Columns', '7', 'Encoding', 'UTF-8'],
    ...['Separated by', 'semicolon', 'Blank lines', '2, left out'],
  ]);
  await page.getByText('Line 18 has 6 of 7 fields.').waitFor();
  expect(await violations(page)).toEqual([]);

  // What the model sees, and what that costs.
  const amount = page.locator('.estimate');
  const before = await amount.textContent();
  await page.getByLabel('description').uncheck();
  await page.getByLabel('notes').uncheck();
  await expect.poll(() => amount.textContent()).not.toBe(before);
  await page.getByText('5 of 7 chosen').waitFor();
  await page.getByLabel('Instructions for each row').fill('One sentence.');

  const importId = idIn(page);
  await configure(cloud, { faults: [{ fault: 'filtered', row: `${importId}/7` }] });
  await start(page).click();
  await chip(page, 'Done, with failures').waitFor(SOON);
  // The newest row was followed, and so is the last.
  await rows(page).locator('.row.done[data-place="130"]').waitFor();
  await expect.poll(() => page.evaluate(SEEN_ROWS)).toContain(130);
  await rows(page).getByRole('button').nth(2).getByText(/\w/).first().waitFor();
  const told = await fetch(`${cloud.endpoints.api}/imports/${importId}`, {
    headers: signedIn(cloud.endpoints),
  });
  expect(await told.json()).toMatchObject({
    rows: { total: 130, done: 129, failed: 1 },
    settings: {
      instructions: 'One sentence.',
      columns: HEADER.filter((name) => name !== 'description' && name !== 'notes'),
    },
  });
  expect(await violations(page)).toEqual([]);

  // Those on screen came, each once, and nothing is asked for any more.
  const asked = () => watched.calls(`GET /imports/${importId}/rows`).length;
  await quiet(visitor);
  const then = { rows: asked(), all: watched.api.length };
  await page.clock.fastForward('01:00:00');
  await quiet(visitor);
  expect({ rows: asked(), all: watched.api.length }).toEqual(then);

  // A row in full, by the keyboard.
  await rows(page).locator('[data-place="1"]').focus();
  await page.keyboard.press('ArrowDown');
  await rows(page).locator('.row.done[data-place="2"]:focus').waitFor();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Row 2' });
  await dialog.waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'hidden' });

  // The address says which rows are shown.
  await page.getByRole('link', { name: 'Failed 1' }).click();
  expect(new URL(page.url()).searchParams.get('rows')).toBe('failed');
  const failed = page.getByRole('list', { name: 'Failed rows' }).getByRole('button');
  await failed.first().waitFor();
  expect(await failed.count()).toBe(1);
  await page.reload();
  await failed.first().waitFor();
  await expect.poll(() => failed.first().textContent()).toMatch(/^7\D/);
  expect(await violations(page)).toEqual([]);

  await configure(cloud, { faults: [] });
  await button(page, 'Retry the failed row').click();
  await page.locator('.chip.good', { hasText: 'Done' }).waitFor(SOON);
  await page.getByText('No row has failed').waitFor();
  await page.goBack();
  await rows(page).getByRole('button').first().waitFor();

  const downloading = page.waitForEvent('download', SOON);
  await button(page, 'Export').click();
  const download = await downloading;
  const lines = (await readFile(await download.path(), 'utf8')).trim().split(/\r?\n/);
  expect(lines).toHaveLength(131);
  expect(lines[0]).toMatch(/sku.*summary/);
  expect(lines[7]).toContain(skuOf(7));
}, 150_000);

test('a file that cannot be imported says where and what to do, and another takes its place', async ({
  cloud,
  visitor: { page },
}) => {
  await page.goto(imports(cloud));
  await choose(page, 'prices.xlsx', 'PK');
  await page
    .getByRole('alert')
    .getByText(/workbook/)
    .waitFor();
  expect(await violations(page)).toEqual([]);
  await choose(page, 'prices.csv', BROKEN);
  await page.getByText('This file cannot be imported').waitFor(SOON);
  await page.getByText(/^Line 32 /).waitFor();
  await page.getByText('What to do:').waitFor();
  // With what is before the fault, to find it by.
  const before = page.getByRole('region', { name: 'What was read before that' });
  expect(await before.locator('.understood').locator('dt, dd').allTextContents()).toEqual([
    ...['Rows before that', '30', 'Columns', '7', 'Encoding', 'UTF-8'],
    ...['Separated by', 'semicolon', 'Blank lines', 'none'],
  ]);
  expect(await before.getByRole('columnheader').allTextContents()).toEqual(['line', ...HEADER]);
  expect(await before.locator('tbody tr').count()).toBe(5);
  await before.getByRole('cell', { name: skuOf(1), exact: true }).waitFor();
  expect(await violations(page)).toEqual([]);
  const refused = idIn(page);
  await choose(page, 'mended.csv', catalogue(20));
  await start(page).waitFor(SOON);
  expect(idIn(page)).not.toBe(refused);
  await page.getByRole('heading', { name: 'mended.csv' }).waitFor();
}, 100_000);

test('a file that is dropped is read again in another way, and the first reading is given up', async ({
  cloud,
  visitor: { page },
}) => {
  await page.goto(imports(cloud));
  await page.getByRole('heading', { name: /^Drop a CSV/ }).waitFor();
  await drop(page, 'dropped.csv', catalogue(30));
  await start(page).waitFor(SOON);
  await page.getByRole('heading', { name: 'dropped.csv' }).waitFor();
  const first = idIn(page);
  await page.getByLabel('Rows are known by').selectOption('sku');
  await button(page, 'Read the file again').click();
  await expect.poll(() => idIn(page)).not.toBe(first);
  await start(page).waitFor(SOON);
  const chosen = await page.getByLabel('Rows are known by').inputValue();
  expect(chosen).toBe('sku');
  const before = await fetch(`${cloud.endpoints.api}/imports/${first}`, {
    headers: signedIn(cloud.endpoints),
  });
  expect(await before.json()).toMatchObject({ state: 'cancelled' });
}, 100_000);

/** The numbers of the first 200 rows that are written. */
async function written({ endpoints }: Cloud, importId: string): Promise<number[]> {
  const answer = await fetch(`${endpoints.api}/imports/${importId}/rows?limit=200`, {
    headers: signedIn(endpoints),
  });
  const { rows: found } = z
    .object({ rows: z.array(z.object({ row: z.number() })) })
    .parse(await answer.json());
  return found.map(({ row }) => row);
}

test('an import is paused, resumed, and cancelled after it was asked whether it should be', async ({
  cloud,
  visiting,
}) => {
  const { page } = await visiting(MOVING);
  await configure(cloud, { latency: { kind: 'fixed', ms: 1500 }, faults: [] });
  await review(cloud, page, catalogue(400));
  await start(page).click();
  await rows(page).locator('.row.done').first().waitFor(SOON);
  await button(page, 'Pause').click();
  await chip(page, 'Paused').waitFor();
  // Longer than the page is looked at: nothing more is done then than was begun before.
  await configure(cloud, { latency: { kind: 'fixed', ms: 5000 }, faults: [] });
  await button(page, 'Resume').click();
  await chip(page, 'Running').waitFor();
  // Rows that were begun before are still to come: they are what one waits for, and not what nobody has begun.
  const furthest = await page.evaluate(`new Promise((resolve) => {
    let most = 0;
    addEventListener('scroll', () => { most = Math.max(most, scrollY); });
    setTimeout(() => resolve(most), 4000);
  })`);
  const done = await written(cloud, idIn(page));
  expect(done.length).toBeLessThan(200);
  // A row has 88 pixels.
  expect(furthest).toBeLessThan((Math.max(...done) + 10) * 88);
  await button(page, 'Cancel').click();
  const dialog = page.getByRole('dialog', { name: 'Cancel this import?' });
  await dialog.getByRole('button', { name: 'Keep it' }).click();
  await chip(page, 'Running').waitFor();
  await button(page, 'Cancel').click();
  expect(await violations(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Cancel the import' }).click();
  await chip(page, 'Cancelled').waitFor();
  await page.getByRole('link', { name: 'Imports', exact: true }).click();
  const list = page.getByRole('list', { name: 'Imports' });
  await list.getByText('Cancelled').first().waitFor();
}, 120_000);

test('a page that nobody sees asks nothing, and knows all when it is seen again', async ({
  cloud,
  visitor,
}) => {
  const { page, watched } = visitor;
  await configure(cloud, { latency: { kind: 'fixed', ms: 300 }, faults: [] });
  await page.clock.install();
  await review(cloud, page, catalogue(150));
  await start(page).click();
  await rows(page).locator('.row.done').first().waitFor(SOON);
  const show = (state: 'hidden' | 'visible') =>
    page.evaluate(`
      Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => '${state}' });
      document.dispatchEvent(new Event('visibilitychange'));
    `);
  await show('hidden');
  await quiet(visitor);
  const looks = () => watched.calls(`GET /imports/${idIn(page)}`).length;
  const then = looks();
  await until(
    async () => {
      const headers = signedIn(cloud.endpoints);
      const answer = await fetch(`${cloud.endpoints.api}/imports/${idIn(page)}`, { headers });
      return await answer.json();
    },
    ({ state }) => state === 'completed',
  );
  expect(looks()).toBe(then);
  // Nothing else, either, once the rows are there that it was scrolling to.
  await quiet(visitor);
  const all = watched.api.length;
  await page.clock.fastForward('01:00:00');
  await quiet(visitor);
  expect({ looks: looks(), all: watched.api.length }).toEqual({ looks: then, all });
  await show('visible');
  await page.locator('.chip.good', { hasText: 'Done' }).waitFor(SOON);
}, 100_000);

test('on a phone nothing is wider than the screen', async ({ cloud, visiting }) => {
  await configure(cloud, { latency: QUICK, faults: [] });
  const { page } = await visiting(PHONE);
  const fits = async () =>
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  await review(cloud, page, untidyCatalogue(60));
  await fits();
  expect(await violations(page)).toEqual([]);
  await start(page).tap();
  await page.locator('.chip.good', { hasText: 'Done' }).waitFor(SOON);
  await fits();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('link', { name: 'Imports', exact: true }).tap();
  await page.getByRole('list', { name: 'Imports' }).waitFor();
  await fits();
  await page.getByRole('link', { name: 'Galleries' }).tap();
  await page.getByRole('link', { name: 'Imports' }).waitFor();
  await fits();
}, 100_000);
