import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { SAMPLE_IMAGES } from './catalogue.ts';

export interface SamplePicture {
  /** The object's key. */
  image: string;
  contentType: string;
  bytes: Uint8Array;
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
  heic: 'image/heic',
};

/** More threads than this wait for each other's memory. */
const MOST_THREADS = 4;

const renderedSchema = z.object({ image: z.string(), bytes: z.instanceof(Uint8Array) });

/**
 * Draws the sample in threads of its own and gives each picture as it is done, about in the order
 * of their keys. Ends early, without an error, when the signal says so.
 *
 * @param options.only what the keys start with
 * @param options.except keys to leave out, because they are there already
 */
export async function* samplePictures(
  options: { only?: string; except?: ReadonlySet<string>; signal?: AbortSignal } = {},
): AsyncGenerator<SamplePicture> {
  const { only = '', except, signal } = options;
  const waiting = SAMPLE_IMAGES.filter((image) => image.startsWith(only) && !except?.has(image));
  let left = waiting.length;
  const done: SamplePicture[] = [];
  const idle: Worker[] = [];
  const events = new AbortController();
  let failure: unknown;
  const bell = new EventTarget();
  const ring = () => bell.dispatchEvent(new Event('ring'));
  const threads = Array.from(
    { length: Math.min(left, MOST_THREADS, availableParallelism()) },
    start,
  );
  signal?.addEventListener('abort', ring, { signal: events.signal });
  try {
    while (left > 0 && !signal?.aborted) {
      const picture = done.shift();
      if (picture === undefined) {
        if (failure !== undefined) throw failure;
        await once(bell, 'ring');
        continue;
      }
      left -= 1;
      feed();
      yield picture;
    }
  } finally {
    events.abort();
    await Promise.all(threads.map((thread) => thread.terminate()));
  }

  function start(): Worker {
    const thread = new Worker(new URL('./render-thread.ts', import.meta.url));
    thread.on('message', (message: unknown) => {
      const { image, bytes } = renderedSchema.parse(message);
      done.push({ image, contentType: contentTypeOf(image), bytes });
      idle.push(thread);
      feed();
      ring();
    });
    thread.on('error', (error) => {
      failure = error;
      ring();
    });
    idle.push(thread);
    feed();
    return thread;
  }

  /** Threads go on only while few pictures wait to be taken: a large one is ten megabytes. */
  function feed(): void {
    while (done.length < MOST_THREADS) {
      const thread = idle.pop();
      const image = thread && waiting.shift();
      if (thread === undefined || image === undefined) {
        if (thread) idle.push(thread);
        return;
      }
      thread.postMessage(image);
    }
  }
}

function contentTypeOf(image: string): string {
  const ending = image.slice(image.lastIndexOf('.') + 1).toLowerCase();
  return CONTENT_TYPES[ending] ?? 'application/octet-stream';
}
