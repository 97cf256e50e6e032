import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { z } from 'zod';
import { settled, thumbnails, until } from '../flows/target.ts';
import { violations } from './accessibility.ts';
import { putPhotos } from './photos.ts';
import { test } from './visitor.ts';

const drawnSchema = z.looseObject({
  dashboards: z.array(
    z.looseObject({
      widgets: z.array(
        z.looseObject({
          times: z.array(z.number()).optional(),
          lines: z.array(z.looseObject({ values: z.array(z.number().nullable()) })).optional(),
        }),
      ),
    }),
  ),
});

/** How many pixels of a chart have a line's color, and nothing else's. */
function pixelsOf(page: Page, title: string, key: string): Promise<number> {
  return page.evaluate(`(() => {
    const figure = [...document.querySelectorAll('.chart')].find(
      (each) => each.querySelector('h3').textContent === ${JSON.stringify(title)});
    const canvas = figure.querySelector('canvas');
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    const color = getComputedStyle(figure.querySelector('.key.${key}')).color.match(/\\d+/g).join();
    let count = 0;
    for (let i = 0; i < data.length; i += 4) {
      if (data[i + 3] === 255 && data.slice(i, i + 3).join() === color) count += 1;
    }
    return count;
  })()`);
}

test('an operator sees both dashboards of the template, with what was measured a moment ago', async ({
  cloud,
  visitor: { page, mayFail },
}) => {
  const { web } = cloud.endpoints;
  await page.goto(web);
  await page.getByRole('link', { name: 'Dashboards', exact: true }).click();
  const section = (name: string) => page.getByRole('region', { name, exact: true });
  await section('Glimpse-us-east-1-thumbnails').getByRole('heading', { level: 2 }).waitFor();
  await section('Glimpse-us-east-1-summaries').getByText('Nothing waits and workers are').waitFor();
  const charts = page.locator('.plot canvas');
  await expect.poll(() => charts.count()).toBe(27);

  const images = await putPhotos(cloud.target, 'measured', 3);
  await until(() => thumbnails(cloud.target, images), settled);
  await thumbnails(cloud.target, images);
  // It comes by itself.
  const measured = (title: string, figures: RegExp) =>
    expect
      .poll(() => page.getByRole('img', { name: title }).first().getAttribute('aria-label'))
      .toMatch(figures);
  await measured('Miss to ready (ms)', /p50 [\d,.]+; p95 [\d,.]+; .*alarm: p95 10,000/);
  await measured('Warm and cold', /warm [\d.]+; cold [\d.]+; being made [\d.]+/);
  await measured('Generations ÷ misses', /generations ÷ claims [\d.]+; .*made once 1/);
  await measured('Concurrency of the worker', /most at once \d+; mean.*; bound 15/);
  await measured('Oldest message (s)', /on demand \d+/);
  await measured('Calls in flight', /fleet bound 134/);

  const drawn = async () => (await pixelsOf(page, 'Miss to ready', 'hue-2')) > 0;
  await expect.poll(drawn).toBe(true);
  expect(await violations(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(drawn).toBe(true);
  expect(await violations(page)).toEqual([]);

  await page.setViewportSize({ width: 390, height: 844 });
  await expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth'))
    .toBeLessThanOrEqual(390);

  mayFail(/drawn\.json/);
  await page.route('**/dashboards/drawn.json**', (route) => route.abort());
  await page.getByRole('button', { name: '1 h', exact: true }).click();
  await page.getByRole('alert').getByText('Glimpse cannot be reached.').waitFor();
  await page.unroute('**/dashboards/drawn.json**');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect.poll(() => page.getByRole('alert').count()).toBe(0);
  const chosen = page.getByRole('button', { name: '1 h', exact: true });
  expect(await chosen.getAttribute('aria-pressed')).toBe('true');
}, 120_000);

test('a single minute is seen, in a stack and beside it, whatever time is looked at', async ({
  cloud,
  visitor: { page },
}) => {
  await page.route('**/dashboards/drawn.json**', async (route) => {
    const told = drawnSchema.parse(await (await route.fetch()).json());
    for (const { times, lines } of told.dashboards.flatMap(({ widgets }) => widgets)) {
      const middle = Math.floor((times?.length ?? 0) / 2);
      for (const line of lines ?? [])
        line.values = line.values.map((_, at) => (at === middle ? 20 : null));
    }
    await route.fulfill({ json: told });
  });
  await page.goto(`${cloud.endpoints.web}/dashboards`);
  await page.locator('.plot canvas').nth(26).waitFor();
  for (const range of ['15 min', '1 h', '3 h']) {
    await page.getByRole('button', { name: range, exact: true }).click();
    // A dot of nine pixels, or a bar of them, is at least so many of its color alone.
    await expect.poll(() => pixelsOf(page, 'Miss to ready', 'hue-2')).toBeGreaterThan(40);
    for (const layer of ['hue-0', 'hue-1', 'hue-2']) {
      await expect
        .poll(() => pixelsOf(page, 'Miss to ready: share of waits', layer))
        .toBeGreaterThan(100);
    }
  }
}, 60_000);

test('the deployed pages know of no dashboards beside them', async ({
  cloud,
  visitor: { page },
}) => {
  await page.route('**/config.json', async (route) => {
    const { dashboards: _, ...config } = await (await route.fetch()).json();
    await route.fulfill({ json: config });
  });
  await page.goto(cloud.endpoints.web);
  await page.getByRole('link', { name: 'Fleet', exact: true }).waitFor();
  expect(await page.getByRole('link', { name: 'Dashboards', exact: true }).count()).toBe(0);
  const minutes = (text: string) =>
    fetch(`${cloud.endpoints.web}/dashboards/drawn.json?minutes=${text}`).then(
      ({ status }) => status,
    );
  expect(await Promise.all(['0', '181', 'x', '15'].map(minutes))).toEqual([400, 400, 400, 200]);
});
