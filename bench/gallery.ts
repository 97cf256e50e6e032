// What somebody waits for who opens a gallery of 80 pictures: cold, warm on a first visit, and warm
// again; beside a page of plain <img> tags on the API's own redirect, which has no placeholders and
// never notices that a cold picture was made. In a real browser, on the local cloud.
//
//   npm run bench:gallery -- [rounds=5]
import { createServer, type Server } from 'node:http';
import { resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { buildPages } from '../local/pages/built.ts';
import { synthesise } from '../local/synthesis.ts';
import { launchBrowser, unpackChromium } from '../test/browser/chromium.ts';
import { type Cloud, startCloud } from '../test/browser/cloud.ts';
import { arrivals, awaited } from '../test/browser/in-page.ts';
import { putPhotos, sizeOf } from '../test/browser/photos.ts';
import { visit } from '../test/browser/visit.ts';
import { until } from '../test/flows/target.ts';

const ROUNDS = Number(process.argv[2] ?? 5);
const COUNT = 80;
/** Three times what suffices for tests: 900 pixels wide, as a site's own pictures are. */
const SCALE = 3;
const USUAL = { width: 1280, height: 800 };
/** All 80 are on screen. */
const TALL = { width: 1280, height: 6000 };

interface Seen {
  /** Milliseconds from the navigation. */
  placeholder: number;
  first: number;
  last: number;
  calls: number;
  kilobytes: number;
  shift: number;
}

const ROWS = {
  placeholder: 'first placeholder, ms',
  first: 'first thumbnail, ms',
  last: 'last thumbnail on screen, ms',
  calls: 'API calls',
  kilobytes: 'KB from the bucket',
  shift: 'layout shift',
} as const satisfies Record<keyof Seen, string>;

async function main(): Promise<void> {
  const root = resolve(import.meta.dirname, '..');
  const [cdkOut, chromium] = await Promise.all([
    synthesise(root),
    unpackChromium(root),
    buildPages(root),
  ]);
  const cloud = await startCloud(cdkOut);
  const browser = await launchBrowser(chromium);
  const plain = await servePlainPages(cloud);
  try {
    report(await measure(cloud, browser, plain.origin));
  } finally {
    plain.server.close();
    plain.server.closeAllConnections();
    await browser.close();
    await cloud.stop();
  }
}

type Scenes = Record<
  'cold' | 'cold, all on screen' | 'first visit' | 'reload' | 'plain first visit' | 'plain reload',
  Seen[]
>;

async function measure(cloud: Cloud, browser: Browser, plain: string): Promise<Scenes> {
  const scenes: Scenes = {
    cold: [],
    'cold, all on screen': [],
    'first visit': [],
    reload: [],
    'plain first visit': [],
    'plain reload': [],
  };
  // The first round is not counted: processes start, and are slow for reasons of their own.
  for (let round = 0; round <= ROUNDS; round++) {
    const gallery = `round ${round}`;
    await putPhotos(cloud.target, gallery, COUNT, SCALE);
    await putPhotos(cloud.target, `${gallery} tall`, COUNT, SCALE);
    const ours = `${cloud.endpoints.web}/?${new URLSearchParams({ gallery })}`;
    const tall = `${cloud.endpoints.web}/?${new URLSearchParams({ gallery: `${gallery} tall` })}`;
    const theirs = `${plain}/?${new URLSearchParams({ gallery })}`;
    const seen = {
      cold: await look(cloud, browser, ours),
      'cold, all on screen': await look(cloud, browser, tall, { viewport: TALL }),
      'first visit': await look(cloud, browser, ours),
      'plain first visit': await look(cloud, browser, theirs),
      reload: await look(cloud, browser, ours, { again: true }),
      'plain reload': await look(cloud, browser, theirs, { again: true }),
    };
    if (round === 0) continue;
    for (const [name, all] of Object.entries(scenes)) {
      all.push(...Object.entries(seen).flatMap(([other, one]) => (name === other ? [one] : [])));
    }
  }
  return scenes;
}

/** Opens a page in a browser that knows nothing, or, `again`, reloads it there. */
async function look(
  cloud: Cloud,
  browser: Browser,
  url: string,
  { again = false, viewport = USUAL }: { again?: boolean; viewport?: typeof USUAL } = {},
): Promise<Seen> {
  const { page, watched, context } = await visit(browser, cloud.endpoints, {
    token: cloud.endpoints.token,
    viewport,
  });
  let calls = cloud.answered();
  await page.goto(url);
  await allThere(page);
  let fetched = 0;
  if (again) {
    calls = cloud.answered();
    fetched = watched.thumbnails.length;
    await page.reload();
    await allThere(page);
  }
  const { firstPlaceholder = Number.NaN, arrivals: all } = await arrivals(page);
  const onScreen = all.filter(({ top }) => top < viewport.height);
  const bytes = watched.thumbnails.slice(fetched).reduce((sum, each) => sum + each.bytes, 0);
  const seen = {
    placeholder: firstPlaceholder,
    first: onScreen[0]?.at ?? Number.NaN,
    last: onScreen.at(-1)?.at ?? Number.NaN,
    calls: cloud.answered() - calls,
    kilobytes: bytes / 1024,
    shift: (await watched.measured()).layoutShift,
  };
  await context.close();
  return seen;
}

async function allThere(page: Page): Promise<void> {
  await until(
    () => awaited(page),
    (count) => count === 0,
    { withinMs: 120_000, everyMs: 50 },
  );
}

/** What one would write without Glimpse's pages: the same pictures, their places reserved. */
async function servePlainPages(cloud: Cloud): Promise<{ server: Server; origin: string }> {
  const server = createServer((request, response) => {
    const gallery = new URL(request.url ?? '', 'http://plain').searchParams.get('gallery') ?? '';
    const tags = Array.from({ length: COUNT }, (_, index) => {
      const query = new URLSearchParams({
        image: `${gallery}/${1000 + index}.jpg`,
        variant: 'card',
      });
      const { width, height } = sizeOf(index);
      const src = `${cloud.endpoints.api}/img?${query}&token=${cloud.endpoints.token}`.replaceAll(
        '&',
        '&amp;',
      );
      return `<img src="${src}" width="${Math.round((width * 236) / height)}" height="236" loading="lazy" alt="">`;
    });
    response
      .writeHead(200, { 'content-type': 'text/html; charset=utf-8' })
      .end(`<!doctype html><title>${gallery}</title>${tags.join('\n')}`);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No address.');
  return { server, origin: `http://127.0.0.1:${address.port}` };
}

function report(scenes: Scenes): void {
  const names = [
    'cold',
    'cold, all on screen',
    'first visit',
    'plain first visit',
    'reload',
    'plain reload',
  ] as const;
  console.log(`Medians of ${ROUNDS} rounds; in brackets, plain <img> ÷ Glimpse.\n`);
  console.log(`| ${['', ...names].join(' | ')} |`);
  console.log(`|${'---|'.repeat(names.length + 1)}`);
  const median = (name: keyof Scenes, row: keyof Seen) => {
    const sorted = scenes[name].map((seen) => seen[row]).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  };
  for (const [row, title] of Object.entries(ROWS)) {
    if (!isRow(row)) continue;
    const cells = names.map((name) => {
      const value = median(name, row);
      if (Number.isNaN(value)) return '–';
      const text = row === 'shift' ? value.toFixed(3) : value.toFixed(0);
      const ours = name === 'plain reload' ? 'reload' : 'first visit';
      const ratio = value / median(ours, row);
      const compared = name.startsWith('plain') && Number.isFinite(ratio) && row !== 'shift';
      return compared ? `${text} (${ratio.toFixed(2)})` : text;
    });
    console.log(`| ${[title, ...cells].join(' | ')} |`);
  }
}

function isRow(name: string): name is keyof Seen {
  return name in ROWS;
}

await main();
