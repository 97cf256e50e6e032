import sharp from 'sharp';
import { expect } from 'vitest';
import { z } from 'zod';
import { signedIn } from '../callers.ts';
import { HOSTILE_IMAGES } from '../hostile-images.ts';
import {
  galleries,
  gallery,
  type Image,
  put,
  remove,
  settled,
  type Target,
  thumbnails,
  until,
} from './target.ts';

// Scenarios without a target in them: whatever runs Glimpse must pass them.

const ORIGIN = 'https://any.example';

/** A picture whose card is told apart from another's by its colour. */
function photo(hue: number, width = 300, height = 200): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: `hsl(${hue}, 90%, 50%)` } })
    .jpeg()
    .toBuffer();
}

async function putFolder(target: Target, folder: string, count: number): Promise<string[]> {
  const images = Array.from({ length: count }, (_, index) => `${folder}/${1000 + index}.jpg`);
  await Promise.all(
    images.map(async (image, index) => put(target, image, await photo((index * 360) / count))),
  );
  return images;
}

async function fetchCard({ variants, image }: Image): Promise<{ bytes: Buffer; headers: Headers }> {
  const url = variants.card?.url;
  if (url === undefined) throw new Error(`${image} has no URL`);
  const answer = await fetch(url, { headers: { origin: ORIGIN } });
  const bytes = Buffer.from(await answer.arrayBuffer());
  if (!answer.ok) throw new Error(`${image}: ${url} answered ${answer.status}: ${bytes}`);
  return { bytes, headers: answer.headers };
}

const formSchema = z.object({ url: z.string(), fields: z.record(z.string(), z.string()) });

export async function aFormUploadsAnImage(target: Target): Promise<void> {
  const image = 'forms/by a form.jpg';
  const bytes = await photo(7);
  const asked = { image, contentType: 'image/jpeg', bytes: bytes.length };
  const answer = await fetch(`${target.api}/uploads`, {
    method: 'POST',
    headers: signedIn(target),
    body: JSON.stringify(asked),
  });
  const { url, fields } = formSchema.parse(await answer.json());
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(bytes)], { type: 'image/jpeg' }), 'a.jpg');
  expect((await fetch(url, { method: 'POST', body: form })).ok).toBe(true);
  await until(
    () => thumbnails(target, [image]),
    ([found]) => found?.state === 'ready',
  );
}

export async function uploadsBecomeThumbnails(target: Target): Promise<void> {
  const images = await putFolder(target, 'uploads/spring 2026', 12);
  const made = await until(
    () => gallery(target, 'uploads/spring 2026'),
    (found) => found.length === 12 && found.every(({ state }) => state === 'ready'),
  );
  expect(made.map(({ image }) => image)).toEqual(images);
  expect(await galleries(target)).toContain('uploads/spring 2026');
  for (const each of made) {
    expect(each).toMatchObject({ width: 300, height: 200 });
    expect(each.placeholder.thumbhash).toMatch(/^[\w+/=]+$/);
    const { bytes, headers } = await fetchCard(each);
    expect(headers.get('content-type')).toBe('image/webp');
    expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    // Any page may read it; S3 says the first, moto the second.
    expect(['*', ORIGIN]).toContain(headers.get('access-control-allow-origin'));
    const { width, height } = await sharp(bytes).metadata();
    expect({ width, height }).toEqual({
      width: each.variants.card?.width,
      height: each.variants.card?.height,
    });
  }
}

export async function replacedAndRemovedOriginalsAreFollowed(target: Target): Promise<void> {
  const image = 'lives/one.jpg';
  const ready = (found: Image[]) => found[0]?.state === 'ready';
  await put(target, image, await photo(0));
  const [first] = await until(() => gallery(target, 'lives'), ready);
  await put(target, image, await photo(240));
  const [second] = await until(
    () => gallery(target, 'lives'),
    (found) => ready(found) && found[0]?.placeholder.color !== first?.placeholder.color,
  );
  expect(second?.variants.card?.url).not.toBe(first?.variants.card?.url);
  await remove(target, image);
  await until(
    () => gallery(target, 'lives'),
    (found) => found.length === 0,
  );
  const gone = await fetch(second?.variants.card?.url ?? '');
  expect(gone.ok).toBe(false);
}

/** A bucket that was there before, without notifications: only requests set work going. */
export async function coldImagesBecomeThumbnails(target: Target): Promise<void> {
  const images = await putFolder(target, 'cold', 30);
  const first = await gallery(target, 'cold', { limit: 100 });
  expect(first.map(({ image }) => image)).toEqual(images);
  // Had the answer waited for one of them, that one would be ready.
  expect(first.every(({ state }) => state === 'pending')).toBe(true);
  const made = await until(() => gallery(target, 'cold'), settled);
  expect(made.every(({ state }) => state === 'ready')).toBe(true);
}

/** Without script: a placeholder that nobody may cache, then a redirect to the thumbnail itself. */
export async function aPlainImgWorks(target: Target): Promise<void> {
  const image = 'plain/a+b %25.jpg';
  await put(target, image, await photo(120));
  const url = new URL('/thumbnail', target.api);
  url.search = new URLSearchParams({ image, variant: 'card' }).toString();
  const ask = () => fetch(url, { redirect: 'manual', headers: signedIn(target) });
  const cold = await ask();
  expect(cold.status).toBe(200);
  expect(cold.headers.get('content-type')).toMatch(/^image\//);
  expect(cold.headers.get('cache-control')).toBe('no-store');
  expect(cold.headers.get('retry-after')).toBe('1');
  expect(cold.headers.get('x-glimpse-state')).toBe('pending');
  const warm = await until(ask, ({ status }) => status === 302);
  expect(warm.headers.get('cache-control')).toBe('private, max-age=60');
  const followed = await fetch(url, { headers: signedIn(target) });
  expect(followed.headers.get('content-type')).toBe('image/webp');
}

/** @returns the images that were asked for; the caller knows how many were made. */
export async function fiftyCallersAskForOnePage(
  target: Target,
  tokens: readonly string[],
): Promise<string[]> {
  const images = await putFolder(target, 'fifty', 80);
  const callers = tokens.map((token) => gallery({ ...target, token }, 'fifty'));
  for (const seen of await Promise.all(callers)) expect(seen).toHaveLength(80);
  await until(() => gallery(target, 'fifty'), settled);
  return images;
}

/** Keys that break URL handling, lists, messages and file systems. */
const HOSTILE_KEYS = [
  'keys/plain.jpg',
  'keys/with space.jpg',
  'keys/a+b.jpg',
  'keys/100%.jpg',
  'keys/100%25.jpg',
  'keys/%2F.jpg',
  'keys/#hash?query&a=b.jpg',
  `keys/"double" and 'single'.jpg`,
  'keys/back\\slash<angle>.jpg',
  'keys//double.jpg',
  'keys/../up.jpg',
  'keys/./dot.jpg',
  '/leading.jpg',
  'keys/😀.jpg',
  'keys/\u00e9 composed.jpg',
  'keys/e\u0301 decomposed.jpg',
  'keys/$&{}[]^`|~;,:@!*().jpg',
  'root.jpg',
  `keys/${'x'.repeat(1024 - 5)}`,
  `keys/${'é'.repeat(509)}a`,
];

export async function anyKeyWorksFromUploadToBrowser(target: Target): Promise<void> {
  await Promise.all(
    HOSTILE_KEYS.map(async (key, index) => put(target, key, await photo(index * 18))),
  );
  const byUpload = await until(
    () => thumbnails(target, HOSTILE_KEYS),
    (found) => settled(found),
  );
  expect(byUpload.map(({ image }) => image)).toEqual(HOSTILE_KEYS);
  const colors = new Set<string>();
  for (const each of byUpload) {
    expect([each.image, each.state, each.failure?.reason]).toEqual([
      each.image,
      'ready',
      undefined,
    ]);
    await fetchCard(each);
    colors.add(each.placeholder.color ?? '');
  }
  // Each key leads to its own picture.
  expect(colors.size).toBe(HOSTILE_KEYS.length);

  const names = ['keys', 'keys/', 'keys/..', 'keys/.', '/', ''];
  const lists = await Promise.all(names.map((name) => gallery(target, name, { limit: 3 })));
  const listed = new Set(lists.flat().map(({ image }) => image));
  for (const key of HOSTILE_KEYS) expect(listed).toContain(key);
  const inKeys = lists[0]?.map(({ image }) => image) ?? [];
  expect(inKeys).toEqual(
    [...inKeys].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );

  await Promise.all(HOSTILE_KEYS.map((key) => remove(target, key)));
  await until(
    () => Promise.all(names.map((name) => gallery(target, name))),
    (found) => found.flat().every(({ image }) => !HOSTILE_KEYS.includes(image)),
  );
}

export async function hostileImagesAreToldApart(target: Target): Promise<void> {
  const hostile = await Promise.all(
    HOSTILE_IMAGES.map(async ({ name, bytes, expected }) => ({
      image: `hostile/${name}`,
      bytes: await bytes(),
      expected,
    })),
  );
  for (const { image, bytes } of hostile) await put(target, image, bytes);
  const found = await until(
    () =>
      thumbnails(
        target,
        hostile.map(({ image }) => image),
      ),
    settled,
    { withinMs: 90_000 },
  );
  expect(found.map(({ image, state, failure }) => [image, failure?.class ?? state])).toEqual(
    hostile.map(({ image, expected }) => [image, expected]),
  );
}

export async function whatThereIsNoRouteForIsToldAsAnError({ api, token }: Target): Promise<void> {
  for (const [method, path] of [
    ['POST', '/imports/01abc/frob'],
    ['DELETE', '/images'],
    ['GET', '/galleries/'],
  ]) {
    const answer = await fetch(`${api}${path}`, {
      method: method ?? '',
      headers: { origin: ORIGIN, ...signedIn({ token }) },
    });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect([answer.status, await answer.json()]).toEqual([
      404,
      { error: { code: 'not-found', message: `there is no ${method} ${path}` } },
    ]);
  }
}
