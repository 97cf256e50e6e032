import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CreateBucketCommand, DeleteObjectCommand } from '@aws-sdk/client-s3';
import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Backfill, enqueue, type Tally } from '../../cli/enqueue.ts';
import { makeThumbnails } from '../../functions/thumbnail-worker/make-thumbnails.ts';
import { claimForWork, letGo } from '../../shared/thumbnails/worker-claim.ts';
import { type Engines, ORIGINALS, startEngines, THUMBNAILS } from './engines.ts';
import {
  card,
  drainQueue,
  itemOf,
  picture,
  putOriginal,
  thumbnailKeys,
  workshopOf,
  zoom,
} from './workshop.ts';

let engines: Engines;
let table: string;
let folder: string;
let folders = 0;
const clock = { now: Date.now() };

beforeAll(async () => {
  engines = await startEngines();
});
afterAll(() => engines.stop());
beforeEach(async () => {
  folder = `backfill ${++folders}`;
  table = await engines.createTable();
  await engines.sqs.send(new PurgeQueueCommand({ QueueUrl: engines.queueUrl }));
});

async function put(...names: string[]): Promise<string[]> {
  const images = names.map((name) => `${folder}/${name}`);
  for (const image of images) await putOriginal(engines, image, await picture('red'));
  return images;
}

async function run(options: Partial<Backfill>): Promise<Tally> {
  let last: Tally | undefined;
  const backfill: Backfill = {
    originals: { client: engines.s3, bucket: ORIGINALS },
    table: { client: engines.dynamo, name: table },
    queue: { client: engines.sqs, url: engines.queueUrl },
    signal: new AbortController().signal,
    now: () => clock.now,
    gallery: folder,
    ...options,
  };
  for await (const tally of enqueue(backfill)) last = tally;
  if (last === undefined) throw new Error('nothing was listed');
  return last;
}

const make = (image: string, variants = [card, zoom]) =>
  makeThumbnails(
    { ...workshopOf(engines.newProcess(), table, clock), variants },
    { kind: 'wanted', image },
    { attempt: 1, deadline: clock.now + 60_000 },
  );

test('every image of a gallery gets a message, none of the folders below it', async () => {
  const images = await put('a.jpg', 'b.jpg', 'ü + %.jpg');
  await put('below/c.jpg');
  expect(await run({})).toEqual({ listed: 3, queued: 3, made: 0, failed: 0 });
  expect((await drainQueue(engines)).sort()).toEqual(images);
});

test('only what lacks something gets a message, and the rest is told apart', async () => {
  const [made = '', half = '', broken = '', cold = ''] = await put('1', '2', '3', '4');
  await putOriginal(engines, broken, Buffer.from('<html>'));
  await make(made);
  await make(half, [card]);
  await make(broken);
  expect(await run({ lacking: [card, zoom] })).toEqual({
    listed: 4,
    queued: 2,
    made: 1,
    failed: 1,
  });
  expect((await drainQueue(engines)).sort()).toEqual([half, cold]);
  expect(await run({ lacking: [card] })).toMatchObject({ queued: 1, made: 2 });
  expect((await drainQueue(engines)).sort()).toEqual([cold]);
});

/** Deletes one thumbnail's object, as a lifecycle rule or a person would. */
async function lose(image: string, variant: string): Promise<string> {
  const keys = await thumbnailKeys(engines, `${image}/`);
  const Key = keys.find((key) => key.endsWith(`/${variant}.webp`)) ?? '';
  await engines.s3.send(new DeleteObjectCommand({ Bucket: THUMBNAILS, Key }));
  return Key;
}

const looking = () => ({
  lacking: [card, zoom],
  lostFrom: { client: engines.s3, bucket: THUMBNAILS },
});

test('a thumbnail that was deleted from the bucket is made again, and what is there is left alone', async () => {
  const [whole = '', one = '', both = '', cold = ''] = await put('1', '2', '3', '4');
  for (const image of [whole, one, both]) await make(image);
  const lost = [await lose(one, 'card'), await lose(both, 'card'), await lose(both, 'zoom')];
  // The record alone does not tell.
  expect(await run({ lacking: [card, zoom] })).toMatchObject({ queued: 1, made: 3 });
  expect(await drainQueue(engines)).toEqual([cold]);

  expect(await run(looking())).toEqual({ listed: 4, queued: 3, made: 1, failed: 0, lost: 3 });
  expect((await drainQueue(engines)).sort()).toEqual([one, both, cold]);
  expect(Object.keys((await itemOf(engines, table, one))?.variants ?? {})).toEqual(['zoom']);
  expect(await make(one)).toMatchObject({ kind: 'made', variants: 1 });
  expect(await make(both)).toMatchObject({ kind: 'made', variants: 2 });
  const there = await thumbnailKeys(engines, `${folder}/`);
  expect(there).toEqual(expect.arrayContaining(lost));
  expect(await run(looking())).toMatchObject({ queued: 1, made: 3, lost: 0 });
});

test('a lost thumbnail of an image that a worker has in hand waits for the next look', async () => {
  const [image = ''] = await put('1');
  await make(image);
  await lose(image, 'card');
  const shop = workshopOf(engines.newProcess(), table, clock);
  const more = [card, zoom, { ...card, name: 'more' }];
  const times = { owner: 'worker', now: clock.now, until: clock.now + 60_000 };
  const hold = await claimForWork(shop.table, { kind: 'wanted', image }, more, times);
  if (hold === 'done' || hold === 'stale') throw new Error(hold);
  expect(await run(looking())).toMatchObject({ queued: 0, made: 1, lost: 0 });
  await letGo(hold);
  expect(await run(looking())).toMatchObject({ queued: 1, lost: 1 });
});

test('a bucket of more than a page is walked to its end, and taken up where it was stopped', async () => {
  const bytes = await picture('red');
  const images = Array.from({ length: 1005 }, (_, index) => `${folder}/${10_000 + index}`);
  await Promise.all(images.map((image) => putOriginal(engines, image, bytes)));
  const stop = new AbortController();
  const tallies: Tally[] = [];
  const backfill: Backfill = {
    originals: { client: engines.s3, bucket: ORIGINALS },
    table: { client: engines.dynamo, name: table },
    queue: { client: engines.sqs, url: engines.queueUrl },
    signal: stop.signal,
    now: () => clock.now,
    gallery: folder,
  };
  for await (const tally of enqueue(backfill)) {
    tallies.push(tally);
    stop.abort();
  }
  expect(tallies).toEqual([{ listed: 1000, queued: 1000, made: 0, failed: 0, after: images[999] }]);
  const rest = await run({ after: images[999] ?? '' });
  expect(rest).toMatchObject({ listed: 5, queued: 5 });
  expect((await drainQueue(engines)).sort()).toEqual(images);
});

/** The commands themselves, on these engines: each call is a command's name and its options. */
async function commands(
  others: Readonly<Record<string, string>>,
  ...calls: string[][]
): Promise<{ status: unknown; stdout: string; stderr: string }[]> {
  const state = await mkdtemp(join(tmpdir(), 'glimpse-backfill-'));
  const target = {
    s3: engines.s3Endpoint,
    sqs: engines.s3Endpoint,
    dynamodb: engines.dynamoEndpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    outputs: {
      OriginalsBucket: ORIGINALS,
      ThumbnailsBucket: THUMBNAILS,
      ImagesTable: table,
      EagerQueueUrl: engines.queueUrl,
      Delivery: JSON.stringify({ kind: 'public' }),
      Variants: JSON.stringify([card]),
      ...others,
    },
  };
  await writeFile(join(state, 'endpoints.json'), JSON.stringify(target));
  const run = async ([name, ...options]: readonly string[]) =>
    await new Promise<{ status: unknown; stdout: string; stderr: string }>((done) => {
      const command = resolve(import.meta.dirname, `../../cli/${name}.ts`);
      const args = [command, '--state', state, ...options];
      // Where it has come to is kept below the folder that it is called in.
      execFile(process.execPath, args, { cwd: state }, (error, stdout, stderr) =>
        done({ status: error?.code ?? 0, stdout, stderr }),
      );
    });
  try {
    return await Promise.all(calls.map(run));
  } finally {
    await rm(state, { recursive: true, force: true });
  }
}

test('the command --lost says how many were lost, and queues their images', async () => {
  const [image = ''] = await put('1');
  await make(image);
  await lose(image, 'card');
  const [done] = await commands({}, ['backfill', '--gallery', folder, '--lost']);
  expect(done).toEqual({
    status: 0,
    stdout: expect.stringContaining('1 listed · 1 queued · 1 thumbnails lost'),
    stderr: '',
  });
  expect(await drainQueue(engines)).toEqual([image]);
});

test('of a bucket with nothing in it is done, of a gallery that is not there is a mistake, and of a key unknown nothing is explained', async () => {
  const bucket = 'nothing-yet';
  await engines.s3.send(new CreateBucketCommand({ Bucket: bucket }));
  const [all, one, image] = await commands(
    { OriginalsBucket: bucket },
    ['backfill', '--all'],
    ['backfill', '--gallery', 'a/b'],
    ['explain', '--image', 'a/slip.jpg', '--json'],
  );
  expect(all).toEqual({
    status: 0,
    stdout: expect.stringContaining('There is nothing in the originals bucket'),
    stderr: '',
  });
  expect(one).toMatchObject({ status: 2, stderr: expect.stringContaining('Nothing is there') });
  expect(image).toMatchObject({ status: 1, stderr: '' });
  expect(JSON.parse(image?.stdout ?? '')).toMatchObject({ code: 'unknown' });
});

test('of a gallery that holds only folders names some of them, and what to do', async () => {
  await put('one/a.jpg', 'three/b.jpg', 'two/c/d.jpg', 'zero/e.jpg');
  const [only] = await commands({}, ['backfill', '--gallery', folder]);
  const named = ['one', 'three', 'two'].map((name) => `${folder}/${name}`).join(', ');
  expect(only).toMatchObject({
    status: 2,
    stderr: `backfill: ${folder} holds no images itself, only folders: name one of them by --gallery (${named} and others), or take all galleries by --all.\n`,
  });
  expect(await drainQueue(engines)).toEqual([]);
});

const gone = { originals: 'gone-originals', thumbnails: 'gone-thumbnails', table: 'gone-table' };
const backfillOf = (...more: string[]) => ['backfill', '--gallery', folder, ...more];
const explained = (name: string) => ['explain', '--image', `${folder}/${name}`];

test.each<[string, Record<string, string>, () => string[]]>([
  ['bucket gone-originals', { OriginalsBucket: gone.originals }, () => backfillOf()],
  ['bucket gone-originals', { OriginalsBucket: gone.originals }, () => explained('1')],
  ['bucket gone-thumbnails', { ThumbnailsBucket: gone.thumbnails }, () => backfillOf('--lost')],
  ['bucket gone-thumbnails', { ThumbnailsBucket: gone.thumbnails }, () => explained('1')],
  ['table gone-table', { ImagesTable: gone.table }, () => backfillOf('--missing')],
  ['table gone-table', { ImagesTable: gone.table }, () => explained('1')],
  ['queue gone-queue', {}, () => backfillOf()],
  ['queue gone-queue', {}, () => ['redrive', '--queue', 'eager']],
])('where there is no %s any more, with %j, a command names it', async (what, others, words) => {
  const [image = ''] = await put('1');
  await make(image);
  const EagerQueueUrl = `${engines.s3Endpoint}/000000000000/gone-queue`;
  const [done] = await commands(what.startsWith('queue') ? { EagerQueueUrl } : others, words());
  expect(done?.stderr).toMatch(
    new RegExp(
      `^\\w+: There is no ${what}, which .*endpoints\\.json names: start the local cloud again with "npm start"\\.\n$`,
    ),
  );
  expect(done?.status).toBe(2);
  // What was made is still recorded as made.
  const { variants } = (await itemOf(engines, table, image)) ?? {};
  expect(Object.keys(variants ?? {}).sort()).toEqual(['card', 'zoom']);
});

test('names that would command a terminal are shown to it', async () => {
  const gallery = `${folder}/a\n\u001b[31mb`;
  await putOriginal(engines, `${gallery}/1\u001b[2J.jpg`, await picture('red'));
  const shown = `${folder}/a\\n\\u001b[31mb`;
  const [filled, told] = await commands(
    {},
    ['backfill', '--gallery', gallery],
    ['explain', '--image', `${gallery}/1\u001b[2J.jpg`],
  );
  expect(filled?.stdout).toContain(`Backfill of ${shown} in`);
  expect(told?.stdout).toContain(`${shown}/1\\u001b[2J.jpg is in the originals bucket`);
  expect(`${filled?.stdout}${told?.stdout}`).not.toContain('\u001b');
});
