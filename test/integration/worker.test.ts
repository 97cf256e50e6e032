import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { makeThumbnails } from '../../functions/thumbnail-worker/make-thumbnails.ts';
import type { Outcome } from '../../functions/thumbnail-worker/workshop.ts';
import { BusyError } from '../../shared/errors.ts';
import type { Work } from '../../shared/messages/thumbnail-work.ts';
import { giveUp } from '../../shared/thumbnails/give-up.ts';
import { splitImage, thumbnailKey } from '../../shared/thumbnails/image-key.ts';
import { keyOf, readGalleries } from '../../shared/thumbnails/images-table.ts';
import { claimForViewer, releaseViewerClaim } from '../../shared/thumbnails/viewer-claim.ts';
import { type Engines, type Process, startEngines } from './engines.ts';
import {
  card,
  colorOf,
  itemOf,
  picture,
  putOriginal,
  thumbnailExists,
  thumbnailKeys,
  workshopOf,
  zoom,
} from './workshop.ts';

let engines: Engines;
let table: string;
let image: string;
let images = 0;
const clock = { now: 1_000_000 };
const LEASE = 60_000;

beforeAll(async () => {
  engines = await startEngines();
  table = await engines.createTable();
});
afterAll(() => engines.stop());
beforeEach(() => {
  image = `worker ${++images}/a+b.jpg`;
});

async function deliver(work: Work, process: Process = engines.newProcess()): Promise<Outcome> {
  return await makeThumbnails(workshopOf(process, table, clock), work, {
    attempt: 1,
    deadline: clock.now + LEASE,
  });
}

const wanted = (): Work => ({ kind: 'wanted', image });
const created = (etag: string, sequencer: string): Work => ({
  kind: 'created',
  image,
  etag,
  sequencer,
});
const removed = (sequencer: string): Work => ({ kind: 'removed', image, sequencer });

const item = () => itemOf(engines, table, image);
const galleryOf = (key: string) => splitImage(key).gallery;
const listed = async () =>
  (await readGalleries({ client: engines.dynamo, name: table }, { limit: 1000 })).galleries;

async function shownColor(): Promise<'red' | 'blue'> {
  const found = await item();
  const [red = 0, , blue = 0] = await colorOf(
    engines,
    thumbnailKey(image, found?.etag ?? '', card),
  );
  return red > blue ? 'red' : 'blue';
}

test('a cold image costs a claim, a read, a write a variant and a record', async () => {
  const others = engines.newProcess();
  await putOriginal(engines, `${image}.first.jpg`, await picture('red'));
  await putOriginal(engines, image, await picture('red'));
  const shop = workshopOf(others, table, clock);
  const times = { attempt: 1, deadline: clock.now + LEASE };
  await makeThumbnails(shop, { kind: 'wanted', image: `${image}.first.jpg` }, times);
  expect(others.calls.splice(0)).toEqual([
    'UpdateItem',
    'GetObject',
    // The first image of its gallery.
    'PutItem',
    'PutObject',
    'PutObject',
    'UpdateItem',
  ]);
  await makeThumbnails(shop, wanted(), times);
  expect(others.calls).toEqual(['UpdateItem', 'GetObject', 'PutObject', 'PutObject', 'UpdateItem']);
});

test('a message that comes again costs one refused claim', async () => {
  await putOriginal(engines, image, await picture('red'));
  await deliver(wanted());
  const process = engines.newProcess();
  expect(await deliver(wanted(), process)).toEqual({ kind: 'done' });
  expect(process.calls).toEqual(['UpdateItem']);
});

test('two workers on one message make it once', async () => {
  await putOriginal(engines, image, await picture('red'));
  const processes = [engines.newProcess(), engines.newProcess()];
  const outcomes = await Promise.allSettled(processes.map((process) => deliver(wanted(), process)));
  const made = outcomes.filter((outcome) => outcome.status === 'fulfilled');
  expect(made.map(({ value }) => value.kind)).toEqual(['made']);
  const puts = processes.flatMap(({ calls }) => calls).filter((name) => name === 'PutObject');
  expect(puts).toHaveLength(2);
  expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
    reason: expect.any(BusyError),
  });
  expect(await deliver(wanted())).toEqual({ kind: 'done' });
});

test('events that arrive out of order leave the newest source', async () => {
  const red = await putOriginal(engines, image, await picture('red'));
  const blue = await putOriginal(engines, image, await picture('blue'));
  expect(await deliver(created(blue, '0B1'))).toMatchObject({ kind: 'made' });
  // Shorter, and yet later in the alphabet than nothing: compared padded, it is the older.
  expect(await deliver(created(red, '0B'))).toEqual({ kind: 'stale' });
  expect(await shownColor()).toBe('blue');
});

test('an event that arrives twice is made once', async () => {
  const etag = await putOriginal(engines, image, await picture('red'));
  expect(await deliver(created(etag, '0A'))).toMatchObject({ kind: 'made' });
  expect(await deliver(created(etag, '0A'))).toEqual({ kind: 'done' });
});

test('what is made carries the ETag of the bytes that were read, not of the event', async () => {
  const red = await putOriginal(engines, image, await picture('red'));
  const blue = await putOriginal(engines, image, await picture('blue'));
  await deliver(created(red, '0A'));
  expect((await item())?.etag).toBe(blue);
  expect(await shownColor()).toBe('blue');
  expect(await thumbnailExists(engines, thumbnailKey(image, red, card))).toBe(false);
  expect(await deliver(created(blue, '0B'))).toEqual({ kind: 'done' });
});

test('an image that is replaced while it is made ends as the replacement', async () => {
  const red = await putOriginal(engines, image, await picture('red'));
  let blue = '';
  const process = engines.newProcess();
  process.after('GetObject', async () => {
    blue = await putOriginal(engines, image, await picture('blue'));
    await expect(deliver(created(blue, '0B'))).rejects.toThrow(BusyError);
  });
  await deliver(created(red, '0A'), process);
  expect((await item())?.etag).toBe(red);
  expect(await shownColor()).toBe('red');
  expect(await deliver(created(blue, '0B'))).toMatchObject({ kind: 'made' });
  expect(await shownColor()).toBe('blue');
});

test('an image that is removed while it is made leaves nothing', async () => {
  const red = await putOriginal(engines, image, await picture('red'));
  const process = engines.newProcess();
  process.after('GetObject', async () => {
    await engines.removeOriginal(image);
    await expect(deliver(removed('0B'))).rejects.toThrow(BusyError);
  });
  await deliver(created(red, '0A'), process);
  expect(await deliver(removed('0B'))).toEqual({ kind: 'removed' });
  expect(await item()).toBeUndefined();
  expect(await thumbnailKeys(engines, `${image}/`)).toEqual([]);
});

test('an upload whose event arrives after its removal leaves nothing', async () => {
  const red = await putOriginal(engines, image, await picture('red'));
  await engines.removeOriginal(image);
  expect(await deliver(removed('0B'))).toEqual({ kind: 'removed' });
  expect(await deliver(created(red, '0A'))).toEqual({ kind: 'removed' });
  expect(await item()).toBeUndefined();
});

test('a removal whose event arrives after the next upload removes nothing', async () => {
  const blue = await putOriginal(engines, image, await picture('blue'));
  await deliver(created(blue, '0C'));
  expect(await deliver(removed('0B'))).toEqual({ kind: 'stale' });
  expect(await shownColor()).toBe('blue');
});

test('a removal that arrives before the event of the next upload removes nothing of it', async () => {
  const blue = await putOriginal(engines, image, await picture('blue'));
  // A viewer was faster than the events.
  await deliver(wanted());
  expect(await deliver(removed('0B'))).toEqual({ kind: 'stale' });
  expect(await shownColor()).toBe('blue');
  expect(await deliver(created(blue, '0C'))).toEqual({ kind: 'done' });
});

test('while thumbnails are removed nothing is made that would be removed with them', async () => {
  const red = await putOriginal(engines, image, await picture('red'));
  await deliver(created(red, '0A'));
  await engines.removeOriginal(image);
  const process = engines.newProcess();
  process.after('HeadObject', async () => {
    // The same picture again, so the same keys that are about to be deleted.
    await putOriginal(engines, image, await picture('red'));
    await expect(deliver(created(red, '0C'))).rejects.toThrow(BusyError);
  });
  await deliver(removed('0B'), process);
  expect(await deliver(created(red, '0C'))).toMatchObject({ kind: 'made' });
  expect(await thumbnailExists(engines, thumbnailKey(image, red, card))).toBe(true);
});

test('an image that is named like a folder takes no thumbnails of that folder with it', async () => {
  const folder = `worker ${images}/a`;
  const inside = `${folder}/b.jpg`;
  for (const key of [folder, inside]) {
    await putOriginal(engines, key, await picture('red'));
    await deliver({ kind: 'wanted', image: key });
  }
  await engines.removeOriginal(folder);
  await deliver({ kind: 'removed', image: folder, sequencer: '0B' });
  const left = await thumbnailKeys(engines, `${folder}/`);
  expect(left).toHaveLength(2);
  expect(left.every((key) => key.startsWith(`${inside}/`))).toBe(true);
});

test('a claim that lapsed while its worker was slow is void, and the other one counts', async () => {
  await putOriginal(engines, image, await picture('red'));
  const slow = engines.newProcess();
  slow.after('GetObject', async () => {
    clock.now += LEASE + 1;
    expect(await deliver(wanted())).toMatchObject({ kind: 'made' });
  });
  // By the time it records, the other is done: there is nothing left to say.
  await deliver(wanted(), slow);
  expect((await item())?.claim).toBeUndefined();
  expect(Object.keys((await item())?.variants ?? {})).toHaveLength(2);
});

test('a slow worker whose claim is held by another leaves the record to it', async () => {
  await putOriginal(engines, image, await picture('red'));
  const slow = engines.newProcess();
  slow.after('GetObject', async () => {
    clock.now += LEASE + 1;
    const dying = engines.newProcess();
    dying.dieAfter(1);
    await expect(deliver(wanted(), dying)).rejects.toThrow();
  });
  await expect(deliver(wanted(), slow)).rejects.toThrow(BusyError);
  expect((await item())?.variants).toEqual({});
});

test('a variant that was added later is made alone', async () => {
  await putOriginal(engines, image, await picture('red'));
  const process = engines.newProcess();
  const shop = workshopOf(process, table, clock);
  const times = { attempt: 1, deadline: clock.now + LEASE };
  await makeThumbnails({ ...shop, variants: [card] }, wanted(), times);
  process.calls.length = 0;
  const outcome = await makeThumbnails({ ...shop, variants: [card, zoom] }, wanted(), times);
  expect(outcome).toEqual({ kind: 'made', variants: 1 });
  expect(process.calls.filter((name) => name === 'PutObject')).toHaveLength(1);
  expect(Object.keys((await item())?.variants ?? {}).sort()).toEqual(['card', 'zoom']);
});

test('a variant whose definition changed is made again', async () => {
  await putOriginal(engines, image, await picture('red'));
  const shop = workshopOf(engines.newProcess(), table, clock);
  const times = { attempt: 1, deadline: clock.now + LEASE };
  await makeThumbnails({ ...shop, variants: [card] }, wanted(), times);
  const smaller = { ...card, width: 24, height: 24 };
  expect(await makeThumbnails({ ...shop, variants: [smaller] }, wanted(), times)).toMatchObject({
    kind: 'made',
  });
  expect((await item())?.variants.card?.width).toBe(24);
});

test('a failure is recorded once with its class, and stands until its time', async () => {
  await putOriginal(engines, image, Buffer.from('<html></html>'));
  expect(await deliver(wanted())).toMatchObject({ kind: 'failed', class: 'unsupported' });
  expect(await deliver(wanted())).toEqual({ kind: 'done' });
  clock.now += 7 * 86_400_000;
  expect(await deliver(wanted())).toMatchObject({ kind: 'failed' });
});

test('a gallery of which nothing could be made is listed all the same, once', async () => {
  const process = engines.newProcess();
  const shop = workshopOf(process, table, clock);
  const times = { attempt: 1, deadline: clock.now + LEASE };
  const refused = Buffer.from('buy candles');
  const tooLarge = Buffer.alloc(10_000_001);
  for (const [name, bytes] of [
    ['notes.jpg', refused],
    ['more notes.jpg', refused],
    ['huge.jpg', tooLarge],
  ] as const) {
    const work = { kind: 'wanted', image: `${galleryOf(image)}/${name}` } as const;
    await putOriginal(engines, work.image, bytes);
    expect(await makeThumbnails(shop, work, times)).toMatchObject({ kind: 'failed' });
  }
  expect(await listed()).toContain(galleryOf(image));
  expect(process.calls.filter((name) => name === 'PutItem')).toHaveLength(1);
});

test('a gallery that was never there is not listed for an image that somebody asks for', async () => {
  expect(await deliver(wanted())).toMatchObject({ kind: 'failed', class: 'missing' });
  expect(await listed()).not.toContain(galleryOf(image));
});

test('a gallery of which everything was given up is listed, and not for a removal or what is older', async () => {
  const rows = { client: engines.dynamo, name: table };
  await giveUp(rows, removed('0B'), clock.now);
  await giveUp(rows, created('older', '0A'), clock.now);
  expect(await listed()).not.toContain(galleryOf(image));
  await giveUp(rows, created('newer', '0C'), clock.now);
  expect(await listed()).toContain(galleryOf(image));
});

test('a new source resets a failure, and a failing source the thumbnails of an earlier one', async () => {
  await putOriginal(engines, image, Buffer.from('<html></html>'));
  await deliver(wanted());
  const red = await putOriginal(engines, image, await picture('red'));
  expect(await deliver(created(red, '0B'))).toMatchObject({ kind: 'made' });
  expect((await item())?.failure).toBeUndefined();
  const broken = await putOriginal(engines, image, Buffer.from('broken'));
  expect(await deliver(created(broken, '0C'))).toMatchObject({ kind: 'failed' });
  expect((await item())?.variants).toEqual({});
});

test('an image that a viewer asks for and that is not there is missing, and soon forgotten', async () => {
  expect(await deliver(wanted())).toMatchObject({ kind: 'failed', class: 'missing' });
  expect((await item())?.failure?.retryAt).toBe(clock.now + 300_000);
  const red = await putOriginal(engines, image, await picture('red'));
  expect(await deliver(created(red, '0A'))).toMatchObject({ kind: 'made' });
});

test('an original of too many bytes is refused before it is read', async () => {
  await putOriginal(engines, image, Buffer.alloc(10_000_001));
  expect(await deliver(wanted())).toMatchObject({
    kind: 'failed',
    class: 'too-large',
    reason: 'expected at most 10000000 bytes, got 10000001',
  });
});

test('what another attempt may cure is thrown, and no viewer sends a second message meanwhile', async () => {
  await putOriginal(engines, image, await picture('red'));
  const process = engines.newProcess();
  process.instead('GetObject', () => {
    throw new Error('S3 is not well');
  });
  await expect(deliver(wanted(), process)).rejects.toThrow('S3 is not well');
  expect((await item())?.claim).toMatchObject({ kind: 'queued' });
  expect(await deliver(wanted())).toMatchObject({ kind: 'made' });
});

test('an image that keeps killing its workers is given up', async () => {
  await putOriginal(engines, image, await picture('red'));
  for (let death = 0; death < 4; death++) {
    const dying = engines.newProcess();
    dying.dieAfter(2);
    await expect(deliver(wanted(), dying)).rejects.toThrow();
    clock.now += LEASE + 1;
  }
  expect(await deliver(wanted())).toMatchObject({ kind: 'failed', class: 'transient' });
});

test('a request that was given up is recorded as a transient failure', async () => {
  const rows = { client: engines.dynamo, name: table };
  await giveUp(rows, wanted(), clock.now);
  expect((await item())?.failure).toMatchObject({ class: 'transient' });
  expect((await item())?.failure?.retryAt).toBe(clock.now + 60_000);
});

test('a replacement that was given up is not hidden behind the earlier thumbnails', async () => {
  const rows = { client: engines.dynamo, name: table };
  const red = await putOriginal(engines, image, await picture('red'));
  await deliver(created(red, '0A'));
  const blue = await putOriginal(engines, image, await picture('blue'));
  await giveUp(rows, created(blue, '0B'), clock.now);
  expect((await item())?.variants).toEqual({});
  clock.now += 60_001;
  expect(await deliver(wanted())).toMatchObject({ kind: 'made' });
  expect(await shownColor()).toBe('blue');
});

test('a dead letter says nothing of an image that a worker holds, or of which more is known', async () => {
  const rows = { client: engines.dynamo, name: table };
  const held = { ...keyOf(image), variants: {}, deaths: 1 };
  const claim = { kind: 'working', owner: 'another', until: clock.now + 1 };
  await engines.dynamo.send(new PutCommand({ TableName: table, Item: { ...held, claim } }));
  await giveUp(rows, wanted(), clock.now);
  expect((await item())?.failure).toBeUndefined();

  const red = await putOriginal(engines, image, await picture('red'));
  clock.now += 2;
  await deliver(created(red, '0C'));
  await giveUp(rows, created('older', '0B'), clock.now);
  expect((await item())?.failure).toBeUndefined();
});

test('from the first viewer’s miss to the thumbnail is one time, whatever lies between', async () => {
  const { dynamo } = engines.newProcess();
  const images = { client: dynamo, name: table };
  const miss = (owner: string) =>
    claimForViewer(images, image, [card, zoom], { owner, now: clock.now });
  await miss('one');
  // Its message was lost, and a second viewer asks when the claim has lapsed.
  clock.now += 200_000;
  await miss('two');
  await putOriginal(engines, image, await picture('red'));
  clock.now += 5000;
  expect(await deliver(wanted())).toEqual({ kind: 'made', variants: 2, missToReadyMs: 205_000 });
  expect(await item()).not.toHaveProperty('missedAt');
});

test('nobody waits since a miss whose claim was given back, or that came to nothing', async () => {
  const { dynamo } = engines.newProcess();
  const images = { client: dynamo, name: table };
  const miss = (owner: string) =>
    claimForViewer(images, image, [card, zoom], { owner, now: clock.now });
  await miss('one');
  await releaseViewerClaim(images, image, 'one');
  expect(await item()).not.toHaveProperty('missedAt');
  await miss('two');
  expect(await item()).toMatchObject({ missedAt: clock.now });
  await giveUp(images, wanted(), clock.now);
  expect(await item()).not.toHaveProperty('missedAt');
  clock.now += 3_600_000;
  await miss('three');
  expect((await deliver(wanted())).kind).toBe('failed');
  expect(await item()).not.toHaveProperty('missedAt');
  // What S3 tells of is made for nobody in particular.
  const etag = await putOriginal(engines, image, await picture('red'));
  expect(await deliver(created(etag, '01'))).toEqual({ kind: 'made', variants: 2 });
});
