import type { Sending } from '../../shell/send-form.ts';
import type { UploadForm } from '../../shell/upload-form.ts';
import {
  contentTypeOf,
  keyOf,
  type Limits,
  numbered,
  type Picked,
  refusalOf,
  refusalOfName,
} from './picked-file.ts';
import { createRate } from './rate.ts';
import { failureOf, type UploadError } from './upload-error.ts';

// The uploads of a page, without a page: what waits, what is under way, what became of it.

/** `signing`: about to be sent, by a form that the API signs or, after a failure, soon again. */
export type UploadState = 'waiting' | 'signing' | 'sending' | 'done' | 'failed' | 'cancelled';

/** Never changed: another state is another object. */
export interface UploadItem {
  readonly id: number;
  readonly gallery: string;
  /** The key, and the part of it that is the file's name. They change when both pictures are kept. */
  readonly image: string;
  readonly name: string;
  readonly bytes: number;
  readonly sent: number;
  readonly state: UploadState;
  readonly error: UploadError | undefined;
  readonly sketch: Sketch | undefined;
}

/** What the browser can tell of a picture before it is uploaded. */
export interface Sketch {
  /** Of the whole picture, upright. */
  readonly width: number;
  readonly height: number;
  /** Base64. */
  readonly thumbhash: string;
}

export interface UploadsSnapshot {
  /** In the order in which they were added. */
  readonly items: readonly UploadItem[];
  readonly totals: {
    /** All but the cancelled. */
    readonly files: number;
    readonly done: number;
    readonly failed: number;
    readonly cancelled: number;
    readonly waiting: number;
    /** Of those that are done or still to be: when everything is, `sent` is `bytes`. */
    readonly bytes: number;
    readonly sent: number;
    /** By the rate that was measured; undefined while there is none. */
    readonly secondsLeft: number | undefined;
  };
  readonly running: boolean;
  readonly offline: boolean;
  /** Not all that was dropped could be taken. */
  readonly leftOut: boolean;
}

export interface UploadQueueOptions<F extends Picked> {
  /** Rejects with the API's `status` (0: no answer) and `code`. */
  signUpload(
    upload: { image: string; contentType: string; bytes: number },
    signal: AbortSignal,
  ): Promise<UploadForm>;
  /** Rejects with S3's `status` (0: no answer) and `code`. */
  send(sending: Sending<F>): Promise<void>;
  readonly limits: Limits;
  /** Uploads at once. */
  readonly concurrency?: number;
  /** Called for one file at a time. */
  sketch?(file: F): Promise<Sketch | undefined>;
  /** The name was free and the file is being sent. */
  onStarted?(item: UploadItem): void;
  /** The sketch of one that started; it may come after the upload is done. */
  onSketched?(item: UploadItem): void;
  onUploaded?(item: UploadItem): void;
  /** One that started has failed or was cancelled. */
  onStopped?(item: UploadItem): void;
  now?(): number;
  /** Resolves after this time, or at once when the signal is aborted. */
  wait?(ms: number, signal: AbortSignal): Promise<void>;
  /** Runs it soon: in the next animation frame. */
  schedule(run: () => void): void;
  /** Asked when nobody answers. */
  isOnline?(): boolean;
}

/** A page's uploads, for the components. */
export interface Uploads<F extends Picked> {
  /** @param leftOut whether there was more than `files`. */
  add(gallery: string, files: Iterable<F>, leftOut?: boolean): void;
  cancel(id: number): void;
  cancelAll(): void;
  retry(id: number): void;
  /** Uploads it under the next free name: `beach (2).jpg`. */
  keepBoth(id: number): void;
  /** Forgets one that failed, is done or was cancelled. */
  dismiss(id: number): void;
  /** Forgets all of those. */
  clear(): void;
  /** Called at most once a frame; returns how to stop. */
  subscribe(listener: () => void): () => void;
  /** The same object until something changes. */
  snapshot(): UploadsSnapshot;
}

export interface UploadQueue<F extends Picked> extends Uploads<F> {
  /** Nothing is begun while offline; what is under way may still succeed. */
  setOnline(online: boolean): void;
}

interface Entry<F> {
  item: UploadItem;
  readonly file: F;
  /** Of its current run. */
  abort: AbortController;
  form: UploadForm | undefined;
  /** 0: the file's own name. */
  copy: number;
  /** Everything was sent once, though no answer came. */
  mayHaveArrived: boolean;
  /** The page was told that it started, and not yet that it ended. */
  started: boolean;
}

const MOST_RETRIES = 3;
const FIRST_WAIT_MS = 1_000;
const MOST_COPIES = 50;
/** Sketches that wait: with more, decoding does not keep up with sending, and they would come too late. */
const MOST_UNSKETCHED = 12;

const NO_NAME_LEFT: UploadError = {
  title: 'There are pictures by all names like this one',
  advice: 'Rename the file, then add it again.',
  retryable: false,
  conflict: false,
};

const OVER: readonly UploadState[] = ['done', 'failed', 'cancelled'];

/** Another upload of this page is about to take the name. */
class NameHeldError extends Error {
  readonly status = 409;
}

export function createUploadQueue<F extends Picked>({
  signUpload,
  send,
  limits,
  concurrency = 3,
  sketch,
  onStarted,
  onSketched,
  onUploaded,
  onStopped,
  now = Date.now,
  wait = waitFor,
  schedule,
  isOnline = () => true,
}: UploadQueueOptions<F>): UploadQueue<F> {
  const entries = new Map<number, Entry<F>>();
  let waiting = new Set<Entry<F>>();
  let slots = concurrency;
  let lastId = 0;
  let online = true;
  let leftOut = false;
  const rate = createRate(now);

  // Kept up to date by `weigh`, so that an event costs the same with ten files and ten thousand.
  const counts = { waiting: 0, signing: 0, sending: 0, done: 0, failed: 0, cancelled: 0 };
  let bytes = 0;
  let sent = 0;

  function weigh(item: UploadItem, sign: 1 | -1): void {
    counts[item.state] += sign;
    if (item.state === 'failed' || item.state === 'cancelled') return;
    bytes += sign * item.bytes;
    sent += sign * item.sent;
  }

  function change(entry: Entry<F>, changes: Partial<UploadItem>): void {
    weigh(entry.item, -1);
    entry.item = { ...entry.item, ...changes };
    weigh(entry.item, 1);
    changed();
  }

  function forget(entry: Entry<F>): void {
    weigh(entry.item, -1);
    entries.delete(entry.item.id);
    changed();
  }

  function running(): boolean {
    return counts.waiting + counts.signing + counts.sending > 0;
  }

  const listeners = new Set<() => void>();
  let latest: UploadsSnapshot | undefined;
  let scheduled = false;

  function changed(): void {
    latest = undefined;
    if (scheduled) return;
    scheduled = true;
    schedule(() => {
      scheduled = false;
      for (const listener of listeners) listener();
    });
  }

  /** Later, so that a listener that throws does not look like an upload that failed. */
  function tell(listener: ((item: UploadItem) => void) | undefined, { item }: Entry<F>): void {
    if (listener !== undefined) queueMicrotask(() => listener(item));
  }

  function takeSnapshot(): UploadsSnapshot {
    const perSecond = rate.perSecond();
    return {
      items: Array.from(entries.values(), ({ item }) => item),
      totals: {
        files: entries.size - counts.cancelled,
        done: counts.done,
        failed: counts.failed,
        cancelled: counts.cancelled,
        waiting: counts.waiting,
        bytes,
        sent,
        secondsLeft: online && perSecond !== undefined ? (bytes - sent) / perSecond : undefined,
      },
      running: running(),
      offline: !online,
      leftOut,
    };
  }

  // From waiting to done.

  function enqueue(entry: Entry<F>): void {
    waiting.add(entry);
    change(entry, { state: 'waiting', sent: 0, error: undefined });
  }

  function pump(): void {
    while (online && slots > 0) {
      const [entry] = waiting;
      if (entry === undefined) return;
      waiting.delete(entry);
      slots -= 1;
      entry.abort = new AbortController();
      const { signal } = entry.abort;
      void run(entry, signal).then(() => {
        releaseNames(signal);
        slots += 1;
        pump();
      });
    }
  }

  /**
   * Until the upload is over, or back in the queue because the network is gone. It keeps its slot while
   * it waits to retry, so that a service that is busy is asked less. Once the signal is aborted
   * it changes nothing any more.
   */
  async function run(entry: Entry<F>, signal: AbortSignal): Promise<void> {
    let retries = 0;
    let signedAgain = false;
    for (;;) {
      const failure = await attempt(entry, signal);
      if (signal.aborted) return;
      if (failure === undefined) return finish(entry);
      switch (failure.kind) {
        case 'taken':
          // Taken by its own first attempt, whose answer was lost.
          if (entry.mayHaveArrived) return finish(entry);
          if (entry.copy === 0) return fail(entry, failure.error);
          if (!takeNextName(entry)) return fail(entry, NO_NAME_LEFT);
          break;
        case 'stale':
          if (signedAgain) return fail(entry, failure.error);
          signedAgain = true;
          entry.form = undefined;
          break;
        case 'transient':
          if (failure.unanswered && !isOnline()) setOnline(false);
          if (!online) {
            waiting = new Set([entry, ...waiting]);
            return change(entry, { state: 'waiting', sent: 0 });
          }
          if (retries === MOST_RETRIES) return fail(entry, failure.error);
          change(entry, { state: 'signing', sent: 0 });
          await wait(FIRST_WAIT_MS * 2 ** retries * (0.5 + Math.random() / 2), signal);
          if (signal.aborted) return;
          retries += 1;
          break;
        case 'final':
          return fail(entry, failure.error);
      }
    }
  }

  async function attempt(entry: Entry<F>, signal: AbortSignal) {
    let step: 'signing' | 'sending' = 'signing';
    try {
      const form = await formFor(entry, signal);
      if (signal.aborted) return;
      step = 'sending';
      change(entry, { state: 'sending' });
      start(entry);
      await send({
        form,
        file: entry.file,
        signal,
        onProgress(loaded) {
          if (!signal.aborted) progress(entry, loaded);
        },
      });
      return undefined;
    } catch (thrown) {
      return failureOf(thrown, step, entry.item.name);
    }
  }

  /** Signed when its upload begins, for it lives for minutes only; a retry uses it again while it does. */
  async function formFor(entry: Entry<F>, signal: AbortSignal): Promise<UploadForm> {
    const { image, bytes } = entry.item;
    if (!holdName(image, signal)) throw new NameHeldError();
    if (entry.form !== undefined && Date.parse(entry.form.expiresAt) > now()) return entry.form;
    change(entry, { state: 'signing' });
    const contentType = contentTypeOf(entry.file, limits.types) ?? '';
    entry.form = await signUpload({ image, contentType, bytes }, signal);
    return entry.form;
  }

  function progress(entry: Entry<F>, loaded: number): void {
    const { sent, bytes } = entry.item;
    const next = Math.min(loaded, bytes);
    if (next <= sent) return;
    rate.moved(next - sent);
    if (next === bytes) entry.mayHaveArrived = true;
    change(entry, { sent: next });
  }

  function start(entry: Entry<F>): void {
    if (entry.started) return;
    entry.started = true;
    tell(onStarted, entry);
    if (entry.item.sketch === undefined) sketchLater(entry);
  }

  function finish(entry: Entry<F>): void {
    entry.started = false;
    change(entry, { state: 'done', sent: entry.item.bytes });
    tell(onUploaded, entry);
  }

  function fail(entry: Entry<F>, error: UploadError): void {
    // The name is free for others from now on, so a retry has to ask for it again.
    entry.form = undefined;
    entry.mayHaveArrived = false;
    change(entry, { state: 'failed', error });
    stop(entry);
  }

  function stop(entry: Entry<F>): void {
    if (!entry.started) return;
    entry.started = false;
    tell(onStopped, entry);
  }

  // The API signs for names that are free, and two files of one name could be signed for at the same
  // time: the second would replace the first. So a name has one holder, the run that is its signal's.

  const holders = new Map<string, AbortSignal>();

  function holdName(image: string, signal: AbortSignal): boolean {
    const holder = holders.get(image) ?? signal;
    holders.set(image, holder);
    return holder === signal;
  }

  /** There are no more holders than uploads at once, and their former names. */
  function releaseNames(signal: AbortSignal): void {
    for (const [image, holder] of holders) if (holder === signal) holders.delete(image);
  }

  function takeNextName(entry: Entry<F>): boolean {
    const number = entry.copy + 1;
    const name = numbered(entry.file.name, number);
    if (number > MOST_COPIES || refusalOfName(name, entry.item.gallery)) return false;
    entry.copy = number;
    entry.form = undefined;
    change(entry, { name, image: keyOf(entry.item.gallery, name) });
    return true;
  }

  // Sketches, one after the other.

  const unsketched: Entry<F>[] = [];
  let sketching = false;

  function sketchLater(entry: Entry<F>): void {
    if (sketch === undefined) return;
    unsketched.push(entry);
    if (unsketched.length > MOST_UNSKETCHED) unsketched.shift();
    if (!sketching) void sketchAll(sketch);
  }

  async function sketchAll(sketch: (file: F) => Promise<Sketch | undefined>): Promise<void> {
    sketching = true;
    for (let entry = unsketched.shift(); entry !== undefined; entry = unsketched.shift()) {
      const sketched = wanted(entry) ? await sketch(entry.file).catch(() => undefined) : undefined;
      if (sketched === undefined || !wanted(entry)) continue;
      change(entry, { sketch: sketched });
      tell(onSketched, entry);
    }
    sketching = false;
  }

  function wanted({ item }: Entry<F>): boolean {
    return entries.has(item.id) && item.state !== 'failed' && item.state !== 'cancelled';
  }

  // What a person does.

  function setOnline(next: boolean): void {
    if (next === online) return;
    online = next;
    rate.reset();
    changed();
    pump();
  }

  function cancelOne(entry: Entry<F>): void {
    if (OVER.includes(entry.item.state)) return;
    waiting.delete(entry);
    entry.abort.abort();
    change(entry, { state: 'cancelled' });
    stop(entry);
  }

  function forgetAll(states: readonly UploadState[]): void {
    for (const entry of entries.values()) if (states.includes(entry.item.state)) forget(entry);
  }

  return {
    add(gallery, files, more = false) {
      if (!running()) {
        // Another batch, counted from one again.
        forgetAll(['done', 'cancelled']);
        rate.reset();
        leftOut = false;
      }
      leftOut ||= more;
      for (const file of files) {
        lastId += 1;
        const error = refusalOf(file, gallery, limits);
        const entry: Entry<F> = {
          item: {
            id: lastId,
            gallery,
            image: keyOf(gallery, file.name),
            name: file.name,
            bytes: file.size,
            sent: 0,
            state: error === undefined ? 'waiting' : 'failed',
            error,
            sketch: undefined,
          },
          file,
          abort: new AbortController(),
          form: undefined,
          copy: 0,
          mayHaveArrived: false,
          started: false,
        };
        entries.set(lastId, entry);
        weigh(entry.item, 1);
        if (error === undefined) waiting.add(entry);
      }
      changed();
      pump();
    },
    cancel(id) {
      const entry = entries.get(id);
      if (entry !== undefined) cancelOne(entry);
    },
    cancelAll() {
      for (const entry of entries.values()) cancelOne(entry);
    },
    retry(id) {
      const entry = entries.get(id);
      if (entry?.item.state !== 'failed' || !entry.item.error?.retryable) return;
      enqueue(entry);
      pump();
    },
    keepBoth(id) {
      const entry = entries.get(id);
      if (entry?.item.state !== 'failed' || !entry.item.error?.conflict) return;
      entry.copy = Math.max(entry.copy, 1);
      if (!takeNextName(entry)) return fail(entry, NO_NAME_LEFT);
      enqueue(entry);
      pump();
    },
    dismiss(id) {
      const entry = entries.get(id);
      if (entry !== undefined && OVER.includes(entry.item.state)) forget(entry);
    },
    clear() {
      forgetAll(OVER);
      leftOut = false;
      changed();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    snapshot() {
      latest ??= takeSnapshot();
      return latest;
    },
    setOnline,
  };
}

function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
}
