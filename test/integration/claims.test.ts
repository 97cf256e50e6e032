import { PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { BusyError } from '../../shared/errors.ts';
import { padSequencer, type Work } from '../../shared/messages/thumbnail-work.ts';
import { type ImageItem, isCold } from '../../shared/thumbnails/image-item.ts';
import { type ImagesTable, keyOf, readImages } from '../../shared/thumbnails/images-table.ts';
import { refusalOf } from '../../shared/thumbnails/refusal.ts';
import { recipeOf, type Variant } from '../../shared/thumbnails/variant.ts';
import { claimForViewer, releaseViewerClaim } from '../../shared/thumbnails/viewer-claim.ts';
import { claimForWork, letGo, postpone } from '../../shared/thumbnails/worker-claim.ts';
import { type Engines, startEngines } from './engines.ts';
import { card, zoom } from './workshop.ts';

let engines: Engines;
let table: ImagesTable;

beforeAll(async () => {
  engines = await startEngines();
  table = { client: engines.dynamo, name: await engines.createTable() };
});
afterAll(() => engines.stop());

const both = [card, zoom];
const NOW = 1_000_000;

const made = (variant: Variant) => ({ recipe: recipeOf(variant, 'a.jpg'), width: 1, height: 1 });

/** Every shape that an item can have, as far as a claim looks at it. */
const items: fc.Arbitrary<Omit<ImageItem, 'name'>> = fc.record(
  {
    etag: fc.constantFrom('a', 'b'),
    sequencer: fc.constantFrom('0A', '0B1', '0C').map(padSequencer),
    variants: fc.constantFrom(
      {},
      { card: made(card) },
      { card: made(card), zoom: made(zoom) },
      { card: { ...made(card), recipe: 'old' }, zoom: made(zoom) },
    ),
    failure: fc.record({
      class: fc.constantFrom('corrupt' as const, 'transient' as const),
      reason: fc.constant('because'),
      retryAt: fc.constantFrom(NOW - 1, NOW, NOW + 1),
    }),
    claim: fc.record({
      kind: fc.constantFrom('queued' as const, 'working' as const),
      owner: fc.constant('another'),
      until: fc.constantFrom(NOW - 1, NOW, NOW + 1),
    }),
    deaths: fc.constant(0),
  },
  { requiredKeys: ['variants', 'deaths'] },
);

const works: fc.Arbitrary<Work> = fc.oneof(
  fc.record({ kind: fc.constant('wanted' as const), image: fc.constant('') }),
  fc.record({
    kind: fc.constant('created' as const),
    image: fc.constant(''),
    etag: fc.constantFrom('a', 'b'),
    sequencer: fc.constantFrom('0A', '0B1', '0B2', '0C'),
  }),
  fc.record({
    kind: fc.constant('removed' as const),
    image: fc.constant(''),
    sequencer: fc.constantFrom('0A', '0B1', '0B2', '0C'),
  }),
);

let images = 0;

async function put(item: Omit<ImageItem, 'name'> | undefined): Promise<string> {
  const image = `claims/${++images}.jpg`;
  if (item !== undefined) {
    await engines.dynamo.send(
      new PutCommand({ TableName: table.name, Item: { ...item, ...keyOf(image) } }),
    );
  }
  return image;
}

test('DynamoDB lets a worker begin exactly where the rule does', async () => {
  await fc.assert(
    fc.asyncProperty(fc.option(items, { nil: undefined }), works, async (item, anyWork) => {
      const image = await put(item);
      const work = { ...anyWork, image };
      const rule = refusalOf({ variants: {}, deaths: 0, ...item, name: '' }, work, both, NOW);
      const outcome = await claimForWork(table, work, both, {
        owner: 'me',
        now: NOW,
        until: NOW + 1000,
      }).catch((error: unknown) => (error instanceof BusyError ? 'busy' : Promise.reject(error)));
      expect(typeof outcome === 'string' ? outcome : undefined).toBe(rule);
    }),
    { numRuns: 400 },
  );
});

test('DynamoDB lets a viewer claim exactly what is cold', async () => {
  await fc.assert(
    fc.asyncProperty(fc.option(items, { nil: undefined }), async (item) => {
      const image = await put(item);
      const cold = isCold({ variants: {}, deaths: 0, ...item, name: '' }, both, NOW);
      const claim = await claimForViewer(table, image, both, { owner: 'me', now: NOW });
      expect(claim.won).toBe(cold);
    }),
    { numRuns: 200 },
  );
});

test('of fifty viewers who claim at once, one wins and the others learn who', async () => {
  const image = await put(undefined);
  const claims = await Promise.all(
    Array.from({ length: 50 }, (_, viewer) =>
      claimForViewer(table, image, [card], { owner: `viewer ${viewer}`, now: NOW }),
    ),
  );
  const winner = claims.findIndex(({ won }) => won);
  expect(claims.filter(({ won }) => won)).toHaveLength(1);
  for (const claim of claims) {
    if (!claim.won) expect(claim.item.claim?.owner).toBe(`viewer ${winner}`);
  }
});

test('of fifty workers who claim at once, one begins', async () => {
  const work: Work = { kind: 'wanted', image: await put(undefined) };
  const claims = await Promise.allSettled(
    Array.from({ length: 50 }, (_, worker) =>
      claimForWork(table, work, both, { owner: `worker ${worker}`, now: NOW, until: NOW + 1000 }),
    ),
  );
  expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test("a worker takes over a viewer's claim, and a viewer no worker's", async () => {
  const image = await put(undefined);
  await claimForViewer(table, image, both, { owner: 'viewer', now: NOW });
  const hold = await claimForWork(table, { kind: 'wanted', image }, both, {
    owner: 'worker',
    now: NOW,
    until: NOW + 1000,
  });
  expect(hold).toMatchObject({ owner: 'worker' });
  const again = await claimForViewer(table, image, both, { owner: 'viewer', now: NOW + 999 });
  expect(again.won).toBe(false);
});

test('a lapsed claim is claimed again, and its holder can no longer write', async () => {
  const work: Work = { kind: 'wanted', image: await put(undefined) };
  const first = await claimForWork(table, work, both, { owner: 'one', now: NOW, until: NOW + 10 });
  const second = await claimForWork(table, work, both, {
    owner: 'two',
    now: NOW + 10,
    until: NOW + 20,
  });
  if (typeof first === 'string' || typeof second === 'string') throw new Error('not claimed');
  await expect(letGo(first)).rejects.toThrow(BusyError);
  await letGo(second);
});

test('a claim that is given back can be claimed at once, by its owner only', async () => {
  const image = await put(undefined);
  await claimForViewer(table, image, both, { owner: 'one', now: NOW });
  await releaseViewerClaim(table, image, 'two');
  expect((await claimForViewer(table, image, both, { owner: 'two', now: NOW })).won).toBe(false);
  await releaseViewerClaim(table, image, 'one');
  expect((await claimForViewer(table, image, both, { owner: 'two', now: NOW })).won).toBe(true);
});

test('a postponed image waits for its message: viewers send no second one', async () => {
  const image = await put(undefined);
  const hold = await claimForWork(table, { kind: 'wanted', image }, both, {
    owner: 'one',
    now: NOW,
    until: NOW + 10,
  });
  if (typeof hold === 'string') throw new Error('not claimed');
  await postpone(hold, 60_000, NOW);
  expect((await claimForViewer(table, image, both, { owner: 'two', now: NOW + 60_000 })).won).toBe(
    false,
  );
  const again = await claimForWork(table, { kind: 'wanted', image }, both, {
    owner: 'three',
    now: NOW + 60_000,
    until: NOW + 70_000,
  });
  expect(again).toMatchObject({ owner: 'three', item: { deaths: 1 } });
});

test('unknown images are unknown items, known ones are read in one request of a hundred', async () => {
  const known = await put({ variants: { card: made(card) }, deaths: 0, etag: 'a' });
  const names = Array.from({ length: 99 }, (_, index) => `nowhere/${index}.jpg`);
  const read = await readImages(table, [known, ...names]);
  expect(read.size).toBe(100);
  expect(read.get(known)?.variants).toEqual({ card: made(card) });
  expect(read.get('nowhere/7.jpg')).toEqual({ name: '7.jpg', variants: {}, deaths: 0 });
});
