import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { PutCommand, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { askThumbnails } from '../../functions/thumbnail-api/ask-thumbnails.ts';
import { createUpload } from '../../functions/thumbnail-api/create-upload.ts';
import { listGalleries } from '../../functions/thumbnail-api/list-galleries.ts';
import { listImages } from '../../functions/thumbnail-api/list-images.ts';
import type { Service } from '../../functions/thumbnail-api/service.ts';
import { showThumbnail } from '../../functions/thumbnail-api/show-thumbnail.ts';
import { makeThumbnails } from '../../functions/thumbnail-worker/make-thumbnails.ts';
import {
  ConflictError,
  ForbiddenError,
  TooManyRequestsError,
  UploadTooLargeError,
} from '../../shared/errors.ts';
import { encodeCursor } from '../../shared/runtime/parse-request.ts';
import { createUploadFormSigner } from '../../shared/signing/upload-form.ts';
import { createUrls } from '../../shared/thumbnails/delivery.ts';
import type { ImageView } from '../../shared/thumbnails/image-view.ts';
import { keyOf, readGalleries } from '../../shared/thumbnails/images-table.ts';
import { recipeOf } from '../../shared/thumbnails/variant.ts';
import { AMPLE, EVERYTHING } from '../callers.ts';
import { type Engines, ORIGINALS, type Process, startEngines, THUMBNAILS } from './engines.ts';
import { card, drainQueue, picture, putOriginal, workshopOf, zoom } from './workshop.ts';

let engines: Engines;
let table: string;
let gallery: string;
let galleries = 0;
const clock = { now: Date.now() };

beforeAll(async () => {
  engines = await startEngines();
});
afterAll(() => engines.stop());
beforeEach(async () => {
  gallery = `api ${++galleries}`;
  table = await engines.createTable();
  await engines.sqs.send(new PurgeQueueCommand({ QueueUrl: engines.queueUrl }));
});

interface TestService extends Service {
  counted: Record<string, number>;
}

function serviceOf(process: Process): TestService {
  const counted: Record<string, number> = {};
  const credentials = async () => ({ accessKeyId: 'test', secretAccessKey: 'test' });
  const place = (bucket: string) => ({
    region: 'us-east-1',
    bucket,
    endpoint: engines.s3Endpoint,
  });
  return {
    counted,
    caller: EVERYTHING,
    bounds: AMPLE,
    table: { client: process.dynamo, name: table },
    originals: { client: process.s3, bucket: ORIGINALS },
    queue: { client: process.sqs, url: engines.queueUrl },
    variants: [card, zoom],
    urls: createUrls({ kind: 'presigned', windowSeconds: 3600 }, place(THUMBNAILS), credentials),
    uploads: {
      maxBytes: 1000,
      sign: createUploadFormSigner(place(ORIGINALS), 900),
      credentials,
    },
    now: () => clock.now,
    count: (metric, value) => {
      counted[metric] = (counted[metric] ?? 0) + value;
    },
    warn: () => {},
  };
}

/** Rows as a worker leaves them. */
async function putMade(count: number): Promise<string[]> {
  const images = Array.from({ length: count }, (_, index) => `${gallery}/${1000 + index}.jpg`);
  await Promise.all(
    images.map((image) =>
      engines.dynamo.send(
        new PutCommand({
          TableName: table,
          Item: {
            ...keyOf(image),
            etag: '0123456789abcdef0123456789abcdef',
            width: 200,
            height: 100,
            thumbhash: 'aaaa',
            color: '#123456',
            variants: { card: { recipe: recipeOf(card, image), width: 48, height: 24 } },
          },
        }),
      ),
    ),
  );
  return images;
}

async function putFolder(count: number): Promise<string[]> {
  const bytes = await picture('red');
  const images = Array.from({ length: count }, (_, index) => `${gallery}/${1000 + index}.jpg`);
  await Promise.all(images.map((image) => putOriginal(engines, image, bytes)));
  return images;
}

async function work(images: readonly string[]): Promise<void> {
  const shop = workshopOf(engines.newProcess(), table, clock);
  for (const image of images) {
    const times = { attempt: 1, deadline: clock.now + 60_000 };
    await makeThumbnails(shop, { kind: 'wanted', image }, times);
  }
}

const page = (service: Service, limit = 80, cursor?: string) =>
  listImages(service, { gallery, variant: card, limit, cursor });

const statesOf = (images: readonly ImageView[]) => [...new Set(images.map(({ state }) => state))];

const tally = (calls: readonly string[]) =>
  Object.fromEntries(
    [...new Set(calls)].map((name) => [name, calls.filter((call) => call === name).length]),
  );

test('a warm page of 80 is one Query and nothing else', async () => {
  await putMade(80);
  await page(serviceOf(engines.newProcess()));
  const process = engines.newProcess();
  const { images } = await page(serviceOf(process));
  expect(process.calls).toEqual(['Query']);
  expect(images).toHaveLength(80);
  expect(statesOf(images)).toEqual(['ready']);
});

test('a gallery of exactly a page has no second one', async () => {
  await putFolder(80);
  const service = serviceOf(engines.newProcess());
  expect((await page(service)).cursor).toBeUndefined();
  expect((await page(service)).cursor).toBeUndefined();
});

test('80 warm images that are named are one BatchGetItem and nothing else', async () => {
  const named = await putMade(80);
  const process = engines.newProcess();
  const { images } = await askThumbnails(serviceOf(process), named.reverse(), [card]);
  expect(process.calls).toEqual(['BatchGetItem']);
  expect(images.map(({ image }) => image)).toEqual(named);
  expect(statesOf(images)).toEqual(['ready']);
});

test('a cold page of 80 adds one round of claims and 8 SendMessageBatch', async () => {
  const folder = await putFolder(80);
  // The gallery's first page ever also lists the folder and says so.
  const first = engines.newProcess();
  await page(serviceOf(first));
  expect(tally(first.calls)).toEqual({
    Query: 1,
    ListObjectsV2: 1,
    // The caller's two counts, of the listing and of what is cold.
    UpdateItem: 80 + 1 + 2,
    SendMessageBatch: 8,
    PutItem: 1,
  });
  expect((await drainQueue(engines)).sort()).toEqual(folder);

  // Their claims lapse without an answer.
  clock.now += 120_001;
  const process = engines.newProcess();
  const { images } = await page(serviceOf(process));
  expect(tally(process.calls)).toEqual({ Query: 1, UpdateItem: 1 + 80, SendMessageBatch: 8 });
  // Reads come first, then the count, every claim, and every message: four waits.
  expect(process.calls.indexOf('SendMessageBatch')).toBe(82);
  expect(statesOf(images)).toEqual(['pending']);
  expect(images[0]?.retryAfterMs).toBe(500);
});

test('fifty callers who ask for the same 80 cold images cause 80 jobs', async () => {
  await putFolder(80);
  const services = Array.from({ length: 50 }, () => serviceOf(engines.newProcess()));
  await Promise.all(services.map((service) => page(service)));
  const jobs = await drainQueue(engines);
  expect(jobs).toHaveLength(80);
  expect(new Set(jobs).size).toBe(80);
});

test('a pending page is asked again without a claim, and is ready once it is made', async () => {
  const folder = await putFolder(3);
  await page(serviceOf(engines.newProcess()));
  const polling = engines.newProcess();
  expect(statesOf((await page(serviceOf(polling))).images)).toEqual(['pending']);
  expect(polling.calls).toEqual(['Query']);
  await work(folder);
  const { images } = await page(serviceOf(engines.newProcess()));
  expect(images[0]).toMatchObject({
    state: 'ready',
    width: 200,
    height: 100,
    variants: { card: { state: 'ready', width: 48, height: 24 } },
    placeholder: { color: expect.stringMatching(/^#[0-9a-f]{6}$/) },
  });
  const answer = await fetch(images[0]?.variants.card?.url ?? '');
  expect(answer.status).toBe(200);
  expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
});

test('two answers in one window carry the same URL', async () => {
  await putMade(1);
  const window = 3_600_000;
  clock.now = Math.ceil(clock.now / window) * window;
  const urlOf = async () =>
    (await page(serviceOf(engines.newProcess()))).images[0]?.variants.card?.url;
  const first = await urlOf();
  clock.now += window - 1;
  expect(await urlOf()).toBe(first);
  clock.now += 1;
  expect(await urlOf()).not.toBe(first);
});

test('a folder that existed before is walked to its end, listed once, whatever is in the table', async () => {
  const folder = await putFolder(25);
  // An upload was faster than the first viewer.
  await work([folder[7] ?? '', folder[24] ?? '']);
  const walk = async (limit: number) => {
    const process = engines.newProcess();
    const service = serviceOf(process);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await page(service, limit, cursor);
      seen.push(...answer.images.map(({ image }) => image));
      cursor = answer.cursor;
    } while (cursor !== undefined);
    return { seen, lists: process.calls.filter((name) => name === 'ListObjectsV2').length };
  };
  const first = await walk(10);
  expect(first.seen).toEqual(folder);
  expect(first.lists).toBe(3);
  expect(await walk(10)).toEqual({ seen: folder, lists: 0 });
  expect(await walk(7)).toEqual({ seen: folder, lists: 0 });
});

test('many folders before the pictures of a gallery take two looks into the bucket, and none from then on', async () => {
  const small = await picture('red');
  for (let index = 0; index < 30; index++) {
    await putOriginal(engines, `${gallery}/${1000 + index}/a.jpg`, small);
  }
  const own = Array.from({ length: 9 }, (_, index) => `${gallery}/own-${index}.jpg`);
  for (const image of own) await putOriginal(engines, image, small);
  const process = engines.newProcess();
  const first = await page(serviceOf(process), 6);
  expect(first.images.map(({ image }) => image)).toEqual(own.slice(0, 6));
  expect(process.calls.filter((name) => name === 'ListObjectsV2')).toHaveLength(2);
  const rest = await page(serviceOf(process), 6, first.cursor);
  expect(rest.images.map(({ image }) => image)).toEqual(own.slice(6));
  expect(rest.cursor).toBeUndefined();
  const warm = engines.newProcess();
  expect((await page(serviceOf(warm), 6)).images).toHaveLength(6);
  expect(warm.calls).toEqual(['Query']);
});

test('a walk that is broken off is taken up where the listing ends', async () => {
  const folder = await putFolder(25);
  await page(serviceOf(engines.newProcess()), 10);
  const process = engines.newProcess();
  const service = serviceOf(process);
  const first = await page(service, 10);
  expect(process.calls).toEqual(['Query']);
  const second = await page(service, 20, first.cursor);
  expect([...first.images, ...second.images].map(({ image }) => image)).toEqual(folder);
});

test('a cursor of the caller’s own making hides nothing from anyone', async () => {
  const folder = await putFolder(6);
  const forged = [
    { after: '1004.jpg' },
    { after: '1004.jpg', listed: { through: '1004.jpg' } },
    { after: '1004.jpg', listed: { through: '9' } },
    { after: '1004.jpg', listed: { complete: true } },
  ];
  for (const cursor of forged) {
    await page(serviceOf(engines.newProcess()), 80, encodeCursor({ gallery, ...cursor }));
  }
  const { images } = await page(serviceOf(engines.newProcess()));
  expect(images.map(({ image }) => image)).toEqual(folder);
});

test('a cursor is good for the list that gave it, and for no other', async () => {
  await putFolder(6);
  const service = serviceOf(engines.newProcess());
  const { cursor } = await page(service, 2);
  const elsewhere = (other: string, from: string | undefined) =>
    listImages(service, { gallery: other, variant: card, limit: 2, cursor: from });
  const refused = /^query\.cursor: expected the cursor of an earlier page of this list, or none/;
  for (const other of ['', `${gallery}/below`, `${gallery}2`]) {
    await expect(elsewhere(other, cursor)).rejects.toThrow(refused);
  }
  await expect(listGalleries(service, cursor)).rejects.toThrow(refused);
  // As that of the galleries is, and as it was before it said of which gallery it is.
  await expect(page(service, 2, encodeCursor({ after: '1001.jpg' }))).rejects.toThrow(refused);
  await expect(page(service, 3, cursor)).resolves.toMatchObject({ images: { length: 3 } });
});

test('names that sort before the row that says what is listed are no obstacle', async () => {
  const names = [' (1).jpg', ' (2).jpg', ' (3).jpg', ' (4).jpg', 'a.jpg'];
  for (const name of names) await putOriginal(engines, `${gallery}/${name}`, await picture('red'));
  await page(serviceOf(engines.newProcess()));
  const process = engines.newProcess();
  const service = serviceOf(process);
  const first = await page(service, 2);
  const second = await page(service, 3, first.cursor);
  expect([...first.images, ...second.images].map(({ image }) => image)).toEqual(
    names.map((name) => `${gallery}/${name}`),
  );
  // One more Query, for that row; the folder is not listed again.
  expect(process.calls).toEqual(['Query', 'Query', 'Query']);
});

test('a gallery that does not exist is empty, and asking for it is counted and nothing else written', async () => {
  const process = engines.newProcess();
  expect(await page(serviceOf(process))).toEqual({ images: [] });
  expect(process.calls).toEqual(['Query', 'UpdateItem', 'ListObjectsV2']);
});

test('galleries are listed in pages', async () => {
  const service = serviceOf(engines.newProcess());
  for (let index = 0; index < 205; index++) {
    const name = `/${String(index).padStart(3, '0')}`;
    await engines.dynamo.send(
      new PutCommand({ TableName: table, Item: { gallery: 'galleries', name } }),
    );
  }
  await engines.dynamo.send(
    new PutCommand({ TableName: table, Item: { gallery: 'galleries', name: '/' } }),
  );
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const answer = await listGalleries(service, cursor);
    seen.push(...answer.galleries.map((each) => each.gallery));
    cursor = answer.cursor;
  } while (cursor !== undefined);
  expect(seen).toHaveLength(206);
  expect(seen[0]).toBe('');
  expect(new Set(seen).size).toBe(206);
});

test('messages that SQS did not take are sent once more', async () => {
  await putFolder(10);
  const process = engines.newProcess();
  process.instead('SendMessageBatch', () => ({
    Successful: [],
    Failed: [{ Id: '3', Code: 'InternalError', SenderFault: false }],
  }));
  await page(serviceOf(process));
  expect(tally(process.calls)).toMatchObject({ SendMessageBatch: 2 });
  expect(await drainQueue(engines)).toEqual([`${gallery}/1003.jpg`]);
});

describe('where the queue takes nothing', () => {
  const refused = () => {
    const warnings: unknown[] = [];
    const service = serviceOf(engines.newProcess());
    service.queue = { ...service.queue, url: `${engines.queueUrl}-that-is-not-there` };
    service.warn = (message, details) => warnings.push({ message, ...details });
    return { service, warnings };
  };

  test('a page is answered as it is, and the claims are given back', async () => {
    const [made = '', cold = ''] = await putFolder(2);
    await work([made]);
    const { service, warnings } = refused();
    const { images } = await page(service);
    expect(images.map(({ state, retryAfterMs }) => [state, retryAfterMs])).toEqual([
      ['ready', undefined],
      ['pending', 5000],
    ]);
    expect(warnings).toEqual([{ message: 'messages were not taken by the queue', images: [cold] }]);
    expect(service.counted).toMatchObject({ Jobs: 0, JobsUnsent: 1 });
    expect(statesOf((await page(serviceOf(engines.newProcess()))).images)).toEqual([
      'ready',
      'pending',
    ]);
    expect(await drainQueue(engines)).toEqual([cold]);
  });

  test('named images are answered as they are, one cold one alone too', async () => {
    const [made = '', cold = ''] = await putFolder(2);
    await work([made]);
    const { images } = await askThumbnails(refused().service, [cold, made], [card]);
    expect(images.map(({ state, retryAfterMs }) => [state, retryAfterMs])).toEqual([
      ['pending', 5000],
      ['ready', undefined],
    ]);
    expect(await showThumbnail(refused().service, cold, card)).toMatchObject({
      kind: 'pending',
      retryAfterSeconds: 5,
    });
    await askThumbnails(serviceOf(engines.newProcess()), [cold], [card]);
    expect(await drainQueue(engines)).toEqual([cold]);
  });
});

test('names that were made up are told as missing at once and leave nothing behind', async () => {
  const [real = ''] = await putFolder(1);
  await work([real]);
  await page(serviceOf(engines.newProcess()));
  const names = Array.from({ length: 50 }, (_, index) => `${gallery}/0-${index}.jpg`);
  const process = engines.newProcess();
  const { images } = await askThumbnails(serviceOf(process), names, [card]);
  expect(images.map(({ failure }) => failure?.class)).toEqual(Array(50).fill('missing'));
  // The caller's count, and a look into the bucket each: no claim, no message.
  expect(tally(process.calls)).toEqual({ BatchGetItem: 1, UpdateItem: 1, HeadObject: 50 });
  expect(await drainQueue(engines)).toEqual([]);
  const listing = engines.newProcess();
  const first = await page(serviceOf(listing), 1);
  expect(first.images.map(({ image }) => image)).toEqual([real]);
  expect(first.cursor).toBeUndefined();
  expect(listing.calls).toEqual(['Query']);
});

test('an image that was told as missing is made as soon as it is there', async () => {
  const image = `${gallery}/1000.jpg`;
  await askThumbnails(serviceOf(engines.newProcess()), [image], [card]);
  await putFolder(1);
  const process = engines.newProcess();
  const { images } = await askThumbnails(serviceOf(process), [image], [card]);
  expect(statesOf(images)).toEqual(['pending']);
  expect(process.calls).toEqual([
    'BatchGetItem',
    'UpdateItem',
    'HeadObject',
    'UpdateItem',
    'SendMessageBatch',
  ]);
  // What the table has seen is looked for no more.
  await work([image]);
  const known = engines.newProcess();
  await askThumbnails(serviceOf(known), [image], [{ ...card, height: 47 }]);
  expect(known.calls).toEqual(['BatchGetItem', 'UpdateItem', 'UpdateItem', 'SendMessageBatch']);
});

test('where one image cannot be looked for or claimed the others are answered', async () => {
  const [made = '', cold = ''] = await putFolder(2);
  await work([made]);
  for (const call of ['HeadObject', 'UpdateItem']) {
    const process = engines.newProcess();
    const service = serviceOf(process);
    const fail = () => {
      throw new Error('not now');
    };
    // The first write counts what is cold.
    if (call === 'HeadObject') process.instead(call, fail);
    else process.after('HeadObject', async () => process.instead(call, fail));
    const { images } = await askThumbnails(service, [made, cold], [card]);
    expect(images.map(({ state }) => state)).toEqual(['ready', 'pending']);
  }
  expect(await drainQueue(engines)).toEqual([]);
});

test('an API that dies after any of its calls keeps no image from being made', async () => {
  await putFolder(3);
  for (let survived = 1; survived <= 7; survived++) {
    const dying = engines.newProcess();
    dying.dieAfter(survived);
    await expect(page(serviceOf(dying))).rejects.toThrow();
    clock.now += 120_001;
  }
  await drainQueue(engines);
  await page(serviceOf(engines.newProcess()));
  expect(new Set(await drainQueue(engines)).size).toBe(3);
});

test('an image that failed is failed with its reason, and tried again after its time', async () => {
  const image = `${gallery}/page.jpg`;
  await putOriginal(engines, image, Buffer.from('<!doctype html>'));
  await work([image]);
  const process = engines.newProcess();
  const ask = async () => (await askThumbnails(serviceOf(process), [image], [card])).images[0];
  expect(await ask()).toMatchObject({
    state: 'failed',
    variants: { card: { state: 'failed' } },
    failure: { class: 'unsupported', retryAt: new Date(clock.now + 604_800_000).toISOString() },
  });
  expect(process.calls).toEqual(['BatchGetItem']);
  clock.now += 604_800_001;
  expect((await ask())?.state).toBe('pending');
});

test('one image asked for twice in a request is claimed once and answered twice', async () => {
  const [image = ''] = await putFolder(1);
  const service = serviceOf(engines.newProcess());
  const { images } = await askThumbnails(service, [image, image], [card, zoom]);
  expect(images.map(({ state }) => state)).toEqual(['pending', 'pending']);
  expect(await drainQueue(engines)).toEqual([image]);
});

test('an image that is missing is told to whoever named it, and not listed', async () => {
  const image = `${gallery}/gone.jpg`;
  await work([image]);
  const service = serviceOf(engines.newProcess());
  const { images } = await askThumbnails(service, [image], [card]);
  expect(images[0]?.failure?.class).toBe('missing');
  expect((await page(service)).images).toEqual([]);
  // Nor is there a gallery because somebody asked for what was never there.
  expect(await listGalleries(service, undefined)).toEqual({ galleries: [] });
});

test('a plain img gets the URL, or a placeholder that says what it is', async () => {
  const [image = ''] = await putFolder(1);
  const service = serviceOf(engines.newProcess());
  const cold = await showThumbnail(service, image, card);
  expect(cold).toMatchObject({
    kind: 'pending',
    contentType: 'image/svg+xml',
    retryAfterSeconds: 1,
  });
  await work([image]);
  const warm = await showThumbnail(service, image, card);
  expect(warm.kind).toBe('ready');
});

test('a placeholder of an image that is known is its thumbhash', async () => {
  const [image = ''] = await putFolder(1);
  await work([image]);
  const taller = { ...card, height: 47 };
  const shown = await showThumbnail(serviceOf(engines.newProcess()), image, taller);
  expect(shown).toMatchObject({ kind: 'pending', contentType: 'image/png' });
});

test('an upload form takes the file it was asked for', async () => {
  const service = serviceOf(engines.newProcess());
  const image = `${gallery}/ü +%25.png`;
  const form = await createUpload(service, { image, contentType: 'image/png', bytes: 4 });
  const body = new FormData();
  for (const [name, value] of Object.entries(form.fields)) body.append(name, value);
  body.append('file', new Blob(['1234']));
  expect((await fetch(form.url, { method: 'POST', body })).ok).toBe(true);
  expect((await page(service)).images.map((each) => each.image)).toEqual([image]);
});

test('an upload is refused where it is too large or the key is taken', async () => {
  const service = serviceOf(engines.newProcess());
  const [image = ''] = await putFolder(1);
  const upload = { image, contentType: 'image/png', bytes: 4 };
  await expect(createUpload(service, upload)).rejects.toThrow(ConflictError);
  await expect(createUpload(service, { ...upload, bytes: 1001 })).rejects.toThrow(
    UploadTooLargeError,
  );
});

describe('what one caller may cause in a minute', () => {
  const bounded = (process: Process, coldImages: number, caller = 'sub:one') => ({
    ...serviceOf(process),
    caller: { ...EVERYTHING, id: caller },
    bounds: { ...AMPLE, coldImages },
  });
  const soonest = () => Math.ceil((clock.now + 1) / 60_000) * 60_000 - clock.now;
  beforeEach(() => {
    clock.now = Math.ceil(clock.now / 60_000) * 60_000 + 10_000;
  });

  test('bounds the cold images: the rest wait for the next minute, without a claim or a message', async () => {
    const names = await putFolder(9);
    const process = engines.newProcess();
    const first = await askThumbnails(bounded(process, 6), names.slice(0, 4), [card]);
    expect(first.images.map(({ retryAfterMs }) => retryAfterMs)).toEqual([500, 500, 500, 500]);
    const { images } = await askThumbnails(bounded(process, 6), names.slice(4), [card]);
    expect(images.map(({ state }) => state)).toEqual(Array(5).fill('pending'));
    expect(images.map(({ retryAfterMs }) => retryAfterMs)).toEqual([
      500,
      500,
      ...Array(3).fill(50_000),
    ]);
    expect(await drainQueue(engines)).toEqual(names.slice(0, 6));

    const beyond = engines.newProcess();
    await askThumbnails(bounded(beyond, 6), names.slice(6), [card]);
    expect(beyond.calls).toEqual(['BatchGetItem', 'UpdateItem']);
    expect(await drainQueue(engines)).toEqual([]);

    clock.now += soonest();
    await askThumbnails(bounded(engines.newProcess(), 6), names.slice(6), [card]);
    expect(await drainQueue(engines)).toEqual(names.slice(6));
  });

  test('is each one’s own, and forgotten by the table', async () => {
    const [one = '', two = ''] = await putFolder(2);
    await askThumbnails(bounded(engines.newProcess(), 1), [one], [card]);
    await askThumbnails(bounded(engines.newProcess(), 1, 'sub:two'), [two], [card]);
    expect(await drainQueue(engines)).toHaveLength(2);
    const { Items: items = [] } = await engines.dynamo.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'gallery = :bound',
        ExpressionAttributeValues: { ':bound': 'bound:sub:one' },
      }),
    );
    expect(items).toEqual([
      expect.objectContaining({
        name: new Date(clock.now).toISOString().slice(0, 16),
        coldImages: 1,
        ttl: Math.floor(clock.now / 60_000) * 60 + 3600,
      }),
    ]);
  });

  test('is counted once, however many requests count at the same time', async () => {
    const asking = (await putFolder(12)).map((image) =>
      askThumbnails(bounded(engines.newProcess(), 5), [image], [card]),
    );
    await Promise.all(asking);
    expect(await drainQueue(engines)).toHaveLength(5);
  });

  test('leaves a gallery unlisted as long as images of it were held, and lists it then', async () => {
    const folder = await putFolder(4);
    await page(bounded(engines.newProcess(), 2));
    expect(await listGalleries(serviceOf(engines.newProcess()), undefined)).toEqual({
      galleries: [],
    });
    clock.now += soonest();
    const { images } = await page(bounded(engines.newProcess(), 20));
    expect(images.map(({ image }) => image)).toEqual(folder);
    expect(await listGalleries(serviceOf(engines.newProcess()), undefined)).toEqual({
      galleries: [{ gallery }],
    });
  });

  test('bounds the looks into folders that the table does not know', async () => {
    const service = (process: Process) => ({
      ...serviceOf(process),
      bounds: { ...AMPLE, listings: 1 },
    });
    await page(service(engines.newProcess()));
    const process = engines.newProcess();
    await expect(page(service(process))).rejects.toThrow(TooManyRequestsError);
    expect(process.calls).toEqual(['Query', 'UpdateItem']);
    clock.now += soonest();
    expect(await page(service(engines.newProcess()))).toEqual({ images: [] });
  });
});

describe('whoever may see some galleries', () => {
  const reader = (process: Process, ...views: string[]) => ({
    ...serviceOf(process),
    caller: { ...EVERYTHING, views, uploads: [] },
  });

  test('is told of others as of what does not exist, without a call', async () => {
    const [image = ''] = await putFolder(1);
    await work([image]);
    const process = engines.newProcess();
    const service = reader(process, 'elsewhere');
    expect(await page(service)).toEqual({ images: [], readOnly: true });
    const { images } = await askThumbnails(service, [image, `${gallery}/none.jpg`], [card]);
    expect(images).toEqual(
      [image, `${gallery}/none.jpg`].map((each) => ({
        image: each,
        state: 'failed',
        variants: { card: { state: 'failed' } },
        placeholder: {},
        failure: {
          class: 'missing',
          reason: 'there is no such image in the originals bucket',
          retryAt: new Date(clock.now + 300_000).toISOString(),
        },
      })),
    );
    expect((await showThumbnail(service, image, card)).kind).toBe('failed');
    await expect(
      createUpload(service, { image, contentType: 'image/png', bytes: 4 }),
    ).rejects.toThrow(ForbiddenError);
    expect(process.calls).toEqual([]);
  });

  test('is told where they may only look', async () => {
    const [image = ''] = await putFolder(1);
    await work([image]);
    const service = reader(engines.newProcess(), gallery);
    expect(await page(service)).toMatchObject({ images: [{ image }], readOnly: true });
    const { caller } = service;
    const owner = { ...service, caller: { ...caller, uploads: [gallery] } };
    expect(Object.keys(await page(owner))).toEqual(['images']);
  });

  test('has those of a mixed request answered as usual, in its order', async () => {
    const [image = ''] = await putFolder(1);
    await work([image]);
    const service = reader(engines.newProcess(), gallery);
    const { images } = await askThumbnails(service, ['other/a.jpg', image], [card]);
    expect(images.map((each) => [each.image, each.state])).toEqual([
      ['other/a.jpg', 'failed'],
      [image, 'ready'],
    ]);
  });

  test('has those listed in the order of all, in pages, and the others not read', async () => {
    const all = ['a', 'a-b', 'a-b/c', 'a/1', 'a/1/x', 'a/2', 'ab', 'b', 'b/', 'c', 'c/1', 'd'];
    for (const name of all) {
      await engines.dynamo.send(
        new PutCommand({ TableName: table, Item: { gallery: 'galleries', name: `/${name}` } }),
      );
    }
    const byBytes = [...all].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    const seen = async (limit: number, ...within: string[]) => {
      const galleries: string[] = [];
      let after: string | undefined;
      do {
        const at = { client: engines.dynamo, name: table };
        const page = await readGalleries(at, {
          limit,
          within,
          ...(after === undefined ? {} : { after }),
        });
        galleries.push(...page.galleries);
        after = page.next;
      } while (after !== undefined);
      return galleries;
    };
    for (const within of [['a'], ['a', 'a-b'], ['b', 'c'], ['a/1', 'd', 'zz'], ['none'], []]) {
      const expected = byBytes.filter((name) =>
        within.some((prefix) => name === prefix || name.startsWith(`${prefix}/`)),
      );
      for (const limit of [1, 2, 3, 100]) {
        expect([within, limit, await seen(limit, ...within)]).toEqual([within, limit, expected]);
      }
    }
  });

  test('and to very many of them has them all listed, over more pages', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `g${100 + index}`);
    for (const name of names) {
      await engines.dynamo.send(
        new PutCommand({ TableName: table, Item: { gallery: 'galleries', name: `/${name}` } }),
      );
    }
    const service = reader(engines.newProcess(), ...names);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const answer = await listGalleries(service, cursor);
      seen.push(...answer.galleries.map((each) => each.gallery));
      cursor = answer.cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(names);
  });
});
