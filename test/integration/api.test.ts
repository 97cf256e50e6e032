import { PurgeQueueCommand } from '@aws-sdk/client-sqs';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { askThumbnails } from '../../functions/thumbnail-api/ask-thumbnails.ts';
import { createUpload } from '../../functions/thumbnail-api/create-upload.ts';
import { listGalleries } from '../../functions/thumbnail-api/list-galleries.ts';
import { listImages } from '../../functions/thumbnail-api/list-images.ts';
import type { Service } from '../../functions/thumbnail-api/service.ts';
import { showThumbnail } from '../../functions/thumbnail-api/show-thumbnail.ts';
import { makeThumbnails } from '../../functions/thumbnail-worker/make-thumbnails.ts';
import { ConflictError, UploadTooLargeError } from '../../shared/errors.ts';
import { encodeCursor } from '../../shared/runtime/parse-request.ts';
import { createUploadFormSigner } from '../../shared/signing/upload-form.ts';
import { createUrls } from '../../shared/thumbnails/delivery.ts';
import type { ImageView } from '../../shared/thumbnails/image-view.ts';
import { keyOf } from '../../shared/thumbnails/images-table.ts';
import { recipeOf } from '../../shared/thumbnails/variant.ts';
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
            variants: { card: { recipe: recipeOf(card), width: 48, height: 24 } },
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
    UpdateItem: 80 + 1,
    SendMessageBatch: 8,
    PutItem: 1,
  });
  expect((await drainQueue(engines)).sort()).toEqual(folder);

  // Their claims lapse without an answer.
  clock.now += 120_001;
  const process = engines.newProcess();
  const { images } = await page(serviceOf(process));
  expect(tally(process.calls)).toEqual({ Query: 1, UpdateItem: 80, SendMessageBatch: 8 });
  // Reads come first, then every claim, then every message: three waits.
  expect(process.calls.indexOf('SendMessageBatch')).toBe(81);
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
    await page(serviceOf(engines.newProcess()), 80, encodeCursor(cursor));
  }
  const { images } = await page(serviceOf(engines.newProcess()));
  expect(images.map(({ image }) => image)).toEqual(folder);
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

test('a gallery that does not exist is empty, and asking for it writes nothing', async () => {
  const process = engines.newProcess();
  expect(await page(serviceOf(process))).toEqual({ images: [] });
  expect(process.calls).toEqual(['Query', 'ListObjectsV2']);
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

test('where the queue takes nothing the claims are given back and the caller is told', async () => {
  await putFolder(10);
  const process = engines.newProcess();
  const refuse = () => {
    throw new Error('the queue is not well');
  };
  process.instead('SendMessageBatch', refuse);
  process.after('SendMessageBatch', async () => {});
  const service = serviceOf(process);
  service.queue = { client: process.sqs, url: `${engines.queueUrl}-that-is-not-there` };
  await expect(page(service)).rejects.toThrow('the queue took none of the messages');
  expect(statesOf((await page(serviceOf(engines.newProcess()))).images)).toEqual(['pending']);
  expect(await drainQueue(engines)).toHaveLength(10);
});

test('an API that dies after any of its calls keeps no image from being made', async () => {
  await putFolder(3);
  for (let survived = 1; survived <= 5; survived++) {
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
