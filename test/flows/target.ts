import { setTimeout as sleep } from 'node:timers/promises';
import { DeleteObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { z } from 'zod';
import { signedIn } from '../callers.ts';

// What a flow needs of wherever Glimpse runs: the API's address, the buckets, and a client for them.

export interface Target {
  api: string;
  s3: S3Client;
  originals: string;
  /** Of somebody who may do everything. */
  token: string;
}

const imageSchema = z.object({
  image: z.string(),
  state: z.enum(['ready', 'pending', 'failed']),
  width: z.number().optional(),
  height: z.number().optional(),
  variants: z.record(
    z.string(),
    z.object({
      state: z.enum(['ready', 'pending', 'failed']),
      url: z.string().optional(),
      width: z.number().optional(),
      height: z.number().optional(),
      expiresAt: z.string().optional(),
    }),
  ),
  placeholder: z.object({ thumbhash: z.string().optional(), color: z.string().optional() }),
  retryAfterMs: z.number().optional(),
  failure: z.object({ class: z.string(), reason: z.string(), retryAt: z.string() }).optional(),
});

export type Image = z.infer<typeof imageSchema>;

const pageSchema = z.object({ images: z.array(imageSchema), cursor: z.string().optional() });
const galleriesSchema = z.object({
  galleries: z.array(z.object({ gallery: z.string() })),
  cursor: z.string().optional(),
});

export async function put(target: Target, image: string, bytes: Uint8Array): Promise<void> {
  await target.s3.send(new PutObjectCommand({ Bucket: target.originals, Key: image, Body: bytes }));
}

export async function remove(target: Target, image: string): Promise<void> {
  await target.s3.send(new DeleteObjectCommand({ Bucket: target.originals, Key: image }));
}

async function ask(target: Target, url: URL, init: RequestInit = {}): Promise<unknown> {
  const answer = await fetch(url, { ...init, headers: signedIn(target) });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url.pathname} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

/** All pages of a gallery. */
export async function gallery(
  target: Target,
  name: string,
  { variant = 'card', limit = 80 }: { variant?: string; limit?: number } = {},
): Promise<Image[]> {
  const images: Image[] = [];
  let cursor: string | undefined;
  do {
    const url = new URL('/images', target.api);
    url.search = new URLSearchParams({
      gallery: name,
      variant,
      limit: String(limit),
      ...(cursor === undefined ? {} : { cursor }),
    }).toString();
    const page = pageSchema.parse(await ask(target, url));
    images.push(...page.images);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return images;
}

export async function galleries(target: Target): Promise<string[]> {
  const { galleries: found } = galleriesSchema.parse(
    await ask(target, new URL('/galleries', target.api)),
  );
  return found.map((each) => each.gallery);
}

export async function thumbnails(
  target: Target,
  images: readonly string[],
  variants: readonly string[] = ['card'],
): Promise<Image[]> {
  const answer = await ask(target, new URL('/thumbnails', target.api), {
    method: 'POST',
    body: JSON.stringify({ images, variants }),
  });
  return pageSchema.parse(answer).images;
}

/**
 * Asks again and again until what comes is as it should be.
 *
 * @param everyMs between two looks, at most; less at first. Each costs whoever is looked at, too
 */
export async function until<T>(
  look: () => Promise<T>,
  enough: (found: T) => boolean,
  { withinMs = 45_000, everyMs = 400 }: { withinMs?: number; everyMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (let pause = Math.min(50, everyMs); ; pause = Math.min(everyMs, pause * 1.5)) {
    const found = await look();
    if (enough(found)) return found;
    if (Date.now() > deadline) {
      throw new Error(
        `not within ${withinMs} ms; last seen: ${JSON.stringify(found).slice(0, 2000)}`,
      );
    }
    await sleep(pause);
  }
}

export const settled = (images: readonly Image[]): boolean =>
  images.every(({ state }) => state !== 'pending');
