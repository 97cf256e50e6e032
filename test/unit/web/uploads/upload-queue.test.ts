import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  createUploadQueue,
  type UploadItem,
  type UploadQueue,
  type UploadQueueOptions,
} from '../../../../web/gallery/uploads/upload-queue.ts';

const limits = { maxBytes: 50_000_000, types: ['image/jpeg', 'image/png', 'image/tiff'] };
const picture = (name: string, size = 1000) => ({ name, size, type: 'image/jpeg' });
type Picture = ReturnType<typeof picture>;

class Answer extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code = '') {
    super(`${status} ${code}`);
    this.status = status;
    this.code = code;
  }
}

/** A call that the test answers. */
interface Call {
  kind: 'sign' | 'send';
  /** The key that is signed, or the file that is sent. */
  of: string;
  contentType?: string;
  settled: boolean;
  aborted: boolean;
  progress(sent: number): void;
  succeed(): void;
  fail(status: number, code?: string): void;
}

function bench(options: Partial<UploadQueueOptions<Picture>> = {}) {
  const calls: Call[] = [];
  const waits: { ms: number; end: () => void }[] = [];
  const frames: (() => void)[] = [];
  const told: string[] = [];
  const clock = { now: 0, online: true };
  const tell = (what: string) => (item: UploadItem) => void told.push(`${what} ${item.image}`);

  function call<T>(kind: Call['kind'], of: string, signal: AbortSignal, value: T, more = {}) {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const made: Call = {
      kind,
      of,
      settled: false,
      aborted: false,
      progress() {},
      succeed: () => end(() => resolve(value)),
      fail: (status, code) => end(() => reject(new Answer(status, code))),
      ...more,
    };
    function end(settle: () => void) {
      if (made.settled) return;
      made.settled = true;
      settle();
    }
    signal.addEventListener('abort', () => {
      made.aborted = true;
      made.fail(0);
    });
    calls.push(made);
    return promise;
  }

  const queue: UploadQueue<Picture> = createUploadQueue<Picture>({
    signUpload: ({ image, contentType }, signal) => {
      const expiresAt = new Date(clock.now + 300_000).toISOString();
      return call(
        'sign',
        image,
        signal,
        { url: '', fields: { image }, expiresAt },
        { contentType },
      );
    },
    send: ({ form, signal, onProgress }) =>
      call('send', form.fields.image ?? '', signal, undefined, { progress: onProgress }),
    limits,
    onStarted: tell('started'),
    onSketched: tell('sketched'),
    onUploaded: tell('uploaded'),
    onStopped: tell('stopped'),
    now: () => clock.now,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        waits.push({ ms, end: resolve });
        signal.addEventListener('abort', () => resolve());
      }),
    schedule: (run) => void frames.push(run),
    isOnline: () => clock.online,
    ...options,
  });
  return {
    queue,
    calls,
    waits,
    frames,
    told,
    clock,
    open: () => calls.filter(({ settled }) => !settled),
    /** The only call that waits for its answer. */
    async next(kind: Call['kind'], of?: string): Promise<Call> {
      await settle();
      const [one, ...more] = calls.filter((made) => !made.settled);
      expect(more).toEqual([]);
      expect(one).toMatchObject(of === undefined ? { kind } : { kind, of });
      if (one === undefined) throw new Error('no call');
      return one;
    },
    states: () => queue.snapshot().items.map(({ state }) => state),
    error: () => queue.snapshot().items[0]?.error,
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

describe('an upload', () => {
  test('is signed, sent and done', async () => {
    const { queue, next, told, states } = bench();
    queue.add('a/b', [picture('c.jpg')]);
    (await next('sign', 'a/b/c.jpg')).succeed();
    expect(states()).toEqual(['signing']);
    const sending = await next('send', 'a/b/c.jpg');
    expect(states()).toEqual(['sending']);
    sending.progress(400);
    expect(queue.snapshot()).toMatchObject({ running: true, totals: { bytes: 1000, sent: 400 } });
    sending.succeed();
    await settle();
    expect(queue.snapshot()).toMatchObject({ running: false, totals: { done: 1, sent: 1000 } });
    expect(told).toEqual(['started a/b/c.jpg', 'uploaded a/b/c.jpg']);
  });

  test('has the type that its extension says where the browser knows none', async () => {
    const { queue, next } = bench();
    queue.add('', [{ name: 'scan.TIF', size: 1, type: '' }]);
    expect(await next('sign', 'scan.TIF')).toMatchObject({ contentType: 'image/tiff' });
  });

  test('counts no more than its own bytes, though a form is larger', async () => {
    const { queue, next } = bench();
    queue.add('', [picture('c.jpg')]);
    (await next('sign')).succeed();
    (await next('send')).progress(1800);
    expect(queue.snapshot().totals).toMatchObject({ bytes: 1000, sent: 1000 });
  });

  test('that cannot be is refused before anybody is asked', async () => {
    const { queue, calls, error, states } = bench();
    queue.add('', [{ name: 'c.heic', size: 5, type: 'image/heic' }]);
    await settle();
    expect(calls).toEqual([]);
    expect(states()).toEqual(['failed']);
    expect(error()).toMatchObject({ title: 'HEIC pictures cannot be read yet', retryable: false });
  });

  test('tells the rate by what was sent', async () => {
    const { queue, next, clock } = bench();
    queue.add('', [picture('c.jpg', 10_000)]);
    (await next('sign')).succeed();
    const sending = await next('send');
    for (const seconds of [1, 2, 3, 4]) {
      clock.now = seconds * 1000;
      sending.progress(seconds * 1000);
    }
    // 6,000 bytes are left, and 4,000 took the 3 s since the first of them was noticed.
    expect(queue.snapshot().totals.secondsLeft).toBeCloseTo(4.5);
  });
});

describe('a failure', () => {
  test.each([0, 429, 500, 503])(
    '%i is tried three more times, then left to a person',
    async (status) => {
      const { queue, next, waits, error, states, told } = bench();
      queue.add('', [picture('c.jpg')]);
      (await next('sign')).succeed();
      for (let retry = 0; retry < 4; retry += 1) {
        (await next('send')).fail(status);
        await settle();
        waits[retry]?.end();
      }
      await settle();
      expect(waits.map(({ ms }) => ms / 1000)).toEqual([
        expect.toSatisfy((s) => s >= 0.5 && s <= 1),
        expect.toSatisfy((s) => s >= 1 && s <= 2),
        expect.toSatisfy((s) => s >= 2 && s <= 4),
      ]);
      expect(states()).toEqual(['failed']);
      expect(error()).toMatchObject({ retryable: true, conflict: false });
      expect(told).toEqual(['started c.jpg', 'stopped c.jpg']);

      queue.retry(1);
      // The name may be taken by now, so it is asked for again.
      (await next('sign')).succeed();
      (await next('send')).succeed();
      await settle();
      expect(states()).toEqual(['done']);
    },
  );

  test('is retried with the same form while that lives, for it may have arrived', async () => {
    const { queue, next, waits, clock, calls } = bench();
    queue.add('', [picture('c.jpg')]);
    (await next('sign')).succeed();
    (await next('send')).fail(500);
    await settle();
    waits[0]?.end();
    (await next('send')).fail(500);
    clock.now = 300_000;
    await settle();
    waits[1]?.end();
    (await next('sign')).succeed();
    (await next('send')).succeed();
    expect(calls.map(({ kind }) => kind)).toEqual(['sign', 'send', 'send', 'sign', 'send']);
  });

  test('whose upload arrived all the same is none', async () => {
    const { queue, next, waits, clock, states } = bench();
    queue.add('', [picture('c.jpg')]);
    (await next('sign')).succeed();
    const sending = await next('send');
    sending.progress(1200);
    sending.fail(0);
    clock.now = 300_000;
    await settle();
    waits[0]?.end();
    (await next('sign')).fail(409, 'conflict');
    await settle();
    expect(states()).toEqual(['done']);
  });

  test('of an expired form is signed once more, and only once', async () => {
    const { queue, next, error } = bench();
    queue.add('', [picture('c.jpg')]);
    (await next('sign')).succeed();
    (await next('send')).fail(403, 'AccessDenied');
    (await next('sign')).succeed();
    (await next('send')).fail(403, 'AccessDenied');
    await settle();
    expect(error()).toMatchObject({ title: 'The permission to upload ran out', retryable: true });
  });

  test.each([
    ['sign', 400, 'invalid-request', 'The service does not take this file'],
    ['sign', 403, 'forbidden', 'You may look at these pictures, but not add any'],
    ['sign', 413, 'too-large', 'The picture is too large'],
    ['send', 400, 'EntityTooLarge', 'The file has changed since it was chosen'],
    ['send', 0, 'unreadable', 'The file cannot be read any more'],
  ] as const)('of %s with %i %s is told and not repeated', async (kind, status, code, title) => {
    const { queue, next, error, open } = bench();
    queue.add('', [picture('c.jpg')]);
    if (kind === 'send') (await next('sign')).succeed();
    (await next(kind)).fail(status, code);
    await settle();
    expect(open()).toEqual([]);
    expect(error()).toMatchObject({ title, retryable: false });
  });
});

describe('a name that is taken', () => {
  test('is told, and nothing is sent', async () => {
    const { queue, next, error, told } = bench();
    queue.add('a', [picture('c.jpg')]);
    (await next('sign')).fail(409);
    await settle();
    expect(error()).toMatchObject({
      title: 'There is already a picture called c.jpg',
      conflict: true,
      retryable: false,
    });
    expect(told).toEqual([]);
    queue.dismiss(1);
    expect(queue.snapshot().items).toEqual([]);
  });

  test('leaves both under the next name that is free', async () => {
    const { queue, next, told } = bench();
    queue.add('a', [picture('c.jpg')]);
    (await next('sign', 'a/c.jpg')).fail(409);
    await settle();
    queue.keepBoth(1);
    (await next('sign', 'a/c (2).jpg')).fail(409);
    (await next('sign', 'a/c (3).jpg')).succeed();
    (await next('send', 'a/c (3).jpg')).succeed();
    await settle();
    expect(told).toEqual(['started a/c (3).jpg', 'uploaded a/c (3).jpg']);
  });

  test('is not counted up for ever', async () => {
    const { queue, next, error, calls } = bench();
    queue.add('', [picture('c.jpg')]);
    (await next('sign')).fail(409);
    await settle();
    queue.keepBoth(1);
    for (let copy = 2; copy <= 50; copy += 1) (await next('sign', `c (${copy}).jpg`)).fail(409);
    await settle();
    expect(calls).toHaveLength(50);
    expect(error()).toMatchObject({ conflict: false, retryable: false });
  });

  test('may be taken by another file of the same drop', async () => {
    const { queue, calls, states, open } = bench();
    queue.add('', [picture('c.jpg'), picture('c.jpg')]);
    await settle();
    expect(calls.map(({ of }) => of)).toEqual(['c.jpg']);
    expect(states()).toEqual(['signing', 'failed']);
    expect(queue.snapshot().items[1]?.error).toMatchObject({ conflict: true });
    queue.keepBoth(2);
    await settle();
    expect(open().map(({ of }) => of)).toEqual(['c.jpg', 'c (2).jpg']);
  });
});

describe('without a network', () => {
  test('the queue waits, spends no retries and goes on by itself', async () => {
    const { queue, next, open, states, clock, waits } = bench();
    queue.add('', [picture('c.jpg')]);
    (await next('sign')).succeed();
    clock.online = false;
    (await next('send')).fail(0);
    await settle();
    queue.add('', [picture('d.jpg')]);
    await settle();
    expect(open()).toEqual([]);
    expect(waits).toEqual([]);
    expect(states()).toEqual(['waiting', 'waiting']);
    expect(queue.snapshot()).toMatchObject({ offline: true, running: true });
    queue.setOnline(true);
    await settle();
    expect(
      open()
        .map(({ kind, of }) => `${kind} ${of}`)
        .sort(),
    ).toEqual(['send c.jpg', 'sign d.jpg']);
  });
});

describe('listeners', () => {
  test('are told once a frame, however much happens', async () => {
    const { queue, next, frames } = bench();
    let times = 0;
    queue.subscribe(() => {
      times += 1;
    });
    queue.add(
      '',
      Array.from({ length: 3000 }, (_, index) => picture(`${index}.tif`, 0)),
    );
    queue.add('', [picture('c.jpg')]);
    (await next('sign')).succeed();
    const sending = await next('send');
    for (let sent = 0; sent < 1000; sent += 1) sending.progress(sent);
    expect(frames).toHaveLength(1);
    frames.shift()?.();
    expect(times).toBe(1);
    expect(queue.snapshot()).toBe(queue.snapshot());
    sending.progress(1000);
    expect(frames).toHaveLength(1);
  });
});

describe('a batch', () => {
  test('that is over is not counted with the next', async () => {
    const { queue, next } = bench();
    queue.add('', [picture('c.jpg')], true);
    expect(queue.snapshot().leftOut).toBe(true);
    (await next('sign')).succeed();
    (await next('send')).succeed();
    await settle();
    queue.add('', [picture('d.jpg')]);
    expect(queue.snapshot()).toMatchObject({ leftOut: false, totals: { files: 1, bytes: 1000 } });
  });
});

describe('sketches', () => {
  test('are made one at a time, of pictures that are still wanted', async () => {
    const asked: { name: string; answer: (sketch: undefined) => void }[] = [];
    const { queue, open, told } = bench({
      sketch: ({ name }) =>
        new Promise((resolve) =>
          asked.push({ name, answer: () => resolve({ width: 3, height: 2, thumbhash: name }) }),
        ),
    });
    queue.add(
      '',
      ['a', 'b', 'c'].map((name) => picture(`${name}.jpg`)),
    );
    await settle();
    for (const call of open()) call.succeed();
    await settle();
    expect(asked.map(({ name }) => name)).toEqual(['a.jpg']);
    queue.cancel(1);
    queue.cancel(2);
    asked[0]?.answer(undefined);
    await settle();
    expect(asked.map(({ name }) => name)).toEqual(['a.jpg', 'c.jpg']);
    for (const call of open()) call.succeed();
    asked[1]?.answer(undefined);
    await settle();
    expect(told.filter((line) => line.startsWith('sketched'))).toEqual(['sketched c.jpg']);
    expect(queue.snapshot().items[2]?.sketch).toEqual({ width: 3, height: 2, thumbhash: 'c.jpg' });
  });
});

// Whatever happens in whatever order.

type Step =
  | { do: 'add'; files: { name: string; size: number }[] }
  | { do: 'cancel' | 'retry' | 'keepBoth' | 'dismiss'; which: number }
  | { do: 'progress'; which: number; share: number }
  | { do: 'answer'; which: number; status: number }
  | { do: 'cancelAll' | 'clear' | 'wake' | 'frame' }
  | { do: 'online'; online: boolean }
  | { do: 'later'; ms: number };

const which = fc.nat({ max: 40 });
const files = fc.array(
  fc.record({
    name: fc.constantFrom('a.jpg', 'b.jpg', 'c.jpg', 'd.jpg', 'e.png', 'f.mov', 'g/h.jpg'),
    size: fc.nat({ max: 3000 }),
  }),
  { maxLength: 6 },
);
const steps = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ do: fc.constant('add'), files }) },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constantFrom('cancel', 'retry', 'keepBoth', 'dismiss'),
        which,
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        do: fc.constant('progress'),
        which,
        share: fc.double({ min: 0, max: 1.2, noNaN: true }),
      }),
    },
    {
      weight: 8,
      arbitrary: fc.record({
        do: fc.constant('answer'),
        which,
        status: fc.constantFrom(200, 200, 200, 0, 400, 403, 409, 413, 500),
      }),
    },
    { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('wake', 'frame') }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('cancelAll', 'clear') }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('online'), online: fc.boolean() }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('later'), ms: fc.nat({ max: 400_000 }) }) },
  ) as fc.Arbitrary<Step>,
  { maxLength: 60 },
);

describe('whatever happens, in whatever order', () => {
  test('uploads stay within bounds, totals add up, and all of them end', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 4 }), async (script, concurrency) => {
        const { queue, calls, waits, frames, clock, open } = bench({ concurrency });
        const ended = new Map<number, UploadItem>();

        const check = () => {
          const { items, totals, running } = queue.snapshot();
          expect(open().length).toBeLessThanOrEqual(concurrency);
          expect(open().length).toBeLessThanOrEqual(
            items.filter(({ state }) => state === 'signing' || state === 'sending').length,
          );
          // No two at a time take one name.
          expect(new Set(open().map(({ of }) => of)).size).toBe(open().length);
          const live = items.filter(({ state }) => state !== 'failed' && state !== 'cancelled');
          const sum = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0);
          const count = (state: string) => items.filter((item) => item.state === state).length;
          expect(totals).toMatchObject({
            files: items.length - count('cancelled'),
            done: count('done'),
            failed: count('failed'),
            cancelled: count('cancelled'),
            waiting: count('waiting'),
            bytes: sum(live.map(({ bytes }) => bytes)),
            sent: sum(live.map(({ sent }) => sent)),
          });
          expect(running).toBe(
            items.some(({ state }) => ['waiting', 'signing', 'sending'].includes(state)),
          );
          expect(frames.length).toBeLessThanOrEqual(1);
          for (const item of items) {
            expect(item.sent).toBeLessThanOrEqual(item.bytes);
            // Cancelled and done are for good.
            const before = ended.get(item.id);
            if (before !== undefined) expect(item).toBe(before);
            if (item.state === 'cancelled' || item.state === 'done') ended.set(item.id, item);
          }
        };

        const pick = <T>(list: readonly T[], index: number): T | undefined =>
          list[index % Math.max(1, list.length)];
        for (const step of script) {
          const { items } = queue.snapshot();
          switch (step.do) {
            case 'add':
              queue.add(
                'g',
                step.files.map(({ name, size }) => ({ name, size, type: '' })),
              );
              break;
            case 'progress': {
              const call = pick(
                open().filter(({ kind }) => kind === 'send'),
                step.which,
              );
              call?.progress(Math.round(step.share * 3000));
              break;
            }
            case 'answer': {
              const call = pick(open(), step.which);
              if (step.status === 200) call?.succeed();
              else call?.fail(step.status);
              break;
            }
            case 'wake':
              waits.shift()?.end();
              break;
            case 'frame':
              frames.shift()?.();
              break;
            case 'online':
              clock.online = step.online;
              queue.setOnline(step.online);
              break;
            case 'later':
              clock.now += step.ms;
              break;
            case 'cancelAll':
            case 'clear':
              queue[step.do]();
              break;
            default:
              queue[step.do](pick(items, step.which)?.id ?? -1);
          }
          check();
          await settle();
          check();
        }

        // What was cancelled has left nobody in flight; a late event of its request changes nothing.
        for (const call of calls) if (call.aborted) call.progress(1);
        check();

        // And with a network and a service that works, everything ends.
        clock.online = true;
        queue.setOnline(true);
        for (let turn = 0; queue.snapshot().running && turn < 200; turn += 1) {
          for (const call of open()) call.succeed();
          for (const wait of waits.splice(0)) wait.end();
          await settle();
          check();
        }
        expect(queue.snapshot().running).toBe(false);
        expect(open()).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  test('a file is sent once, and by a bounded number of attempts', async () => {
    const statuses = fc.array(fc.constantFrom(200, 0, 500, 403, 429), { maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(statuses, async (answers) => {
        const { queue, calls, waits, open } = bench({ concurrency: 3 });
        const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.jpg`);
        queue.add(
          '',
          names.map((name) => picture(name)),
        );
        const succeeded: string[] = [];
        for (let turn = 0; queue.snapshot().running && turn < 200; turn += 1) {
          for (const call of open()) {
            const status = call.kind === 'sign' ? 200 : (answers.shift() ?? 200);
            if (status !== 200) call.fail(status);
            else call.succeed();
            if (call.kind === 'send' && status === 200) succeeded.push(call.of);
          }
          for (const wait of waits.splice(0)) wait.end();
          await settle();
        }
        const { items, running } = queue.snapshot();
        expect(running).toBe(false);
        const done = items.filter(({ state }) => state === 'done').map(({ image }) => image);
        expect(succeeded.sort()).toEqual(done);
        for (const name of names) {
          const attempts = calls.filter(({ kind, of }) => kind === 'send' && of === name).length;
          // One more than the retries, and one for a form that is signed again.
          expect(attempts).toBeGreaterThan(0);
          expect(attempts).toBeLessThanOrEqual(5);
        }
      }),
      { numRuns: 200 },
    );
  });
});
