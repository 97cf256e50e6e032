import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Asker, Poller } from '../../../web/glimpse-image/poller.ts';
import { readViews } from '../../../web/glimpse-image/view.ts';

// A page without a browser: the poller, a clock that jumps to the next timer, and an API.

interface Request {
  at: number;
  images: string[];
  variants: string[];
}

type Answer = { status: number; json: unknown };

const ready = (image: string) => ({
  image,
  variants: { card: { state: 'ready', url: `https://s3/${image}` } },
});
const pending = (image: string) => ({
  image,
  variants: { card: { state: 'pending' } },
  retryAfterMs: 500,
});

function page(answer: (request: Request) => Answer | Promise<Answer>) {
  let now = 0;
  let timers: { id: number; at: number; run: () => void }[] = [];
  let ids = 0;
  let hidden = false;
  const requests: Request[] = [];
  let asking = 0;
  let mostAsking = 0;
  const poller = new Poller({
    async post(body) {
      const request: Request = { at: now, ...JSON.parse(body) };
      requests.push(request);
      asking += 1;
      mostAsking = Math.max(mostAsking, asking);
      try {
        return await answer(request);
      } finally {
        asking -= 1;
      }
    },
    hidden: () => hidden,
    now: () => now,
    random: () => 0.5,
    setTimer(run, ms) {
      ids += 1;
      timers.push({ id: ids, at: now + ms, run });
      return ids;
    },
    clearTimer(id) {
      timers = timers.filter((timer) => timer.id !== id);
    },
  });
  const settle = async () => {
    for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
  };
  return {
    poller,
    requests,
    mostAsking: () => mostAsking,
    timers: () => timers.length,
    hide(value: boolean) {
      hidden = value;
      poller.wake();
    },
    /** Runs all that happens until then. */
    async until(time: number) {
      for (;;) {
        await settle();
        const next = timers.toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined || next.at > time) break;
        timers = timers.filter(({ id }) => id !== next.id);
        now = Math.max(now, next.at);
        next.run();
      }
      await settle();
      now = Math.max(now, time);
    },
  };
}

function asker(key: string, variant = 'card') {
  const told: string[] = [];
  const refusals: string[] = [];
  const self: Asker = {
    key: () => key,
    variant: () => variant,
    tell(view) {
      const state = view.variants[variant]?.state ?? 'pending';
      told.push(state);
      return state === 'pending';
    },
    refuse: (reason) => refusals.push(reason),
  };
  return { self, told, refusals };
}

const keys = (count: number) => Array.from({ length: count }, (_, index) => `a/${index}.jpg`);
const all = (of: (image: string) => unknown) => (request: Request) => ({
  status: 200,
  json: { images: request.images.map(of) },
});

test('250 images are asked for at once, in three requests of at most 100', async () => {
  const { poller, requests, until } = page(all(ready));
  const askers = keys(250).map((key) => asker(key));
  for (const { self } of askers) poller.want(self, 0);
  await until(60_000);
  expect(requests.map(({ at, images }) => [at, images.length])).toEqual([
    [0, 100],
    [0, 100],
    [0, 50],
  ]);
  expect(askers.every(({ told }) => told.join() === 'ready')).toBe(true);
});

test('what is settled is not asked for again, and no timer is left', async () => {
  const { poller, requests, timers, until } = page(all(ready));
  poller.want(asker('a').self, 0);
  await until(600_000);
  expect(requests).toHaveLength(1);
  expect(timers()).toBe(0);
});

test('images of several variants share a request', async () => {
  const { poller, requests, until } = page(all(ready));
  poller.want(asker('a', 'card').self, 0);
  poller.want(asker('b', 'zoom').self, 0);
  poller.want(asker('c', 'card').self, 0);
  await until(0);
  expect(requests).toEqual([{ at: 0, images: ['a', 'b', 'c'], variants: ['card', 'zoom'] }]);
});

test('one that comes later goes along with those that wait, if their turn is near', async () => {
  const { poller, requests, until } = page(all(pending));
  for (const key of keys(5)) poller.want(asker(key).self, 0);
  await until(1200);
  poller.want(asker('late').self, 1200);
  await until(1201);
  expect(requests.at(-1)?.images).toHaveLength(6);
});

test('what a page was told of as being made is asked for a second later', async () => {
  const { poller, requests, until } = page(all(ready));
  const view = readViews({ images: [pending('a')] }, 200)[0];
  if (view !== undefined) poller.await(asker('a').self, view);
  await until(60_000);
  expect(requests.map(({ at }) => at)).toEqual([1200]);
});

test('waits grow while nothing is made', async () => {
  const { poller, requests, until } = page(all(pending));
  poller.want(asker('a').self, 0);
  await until(31_000);
  const times = requests.map(({ at }) => at);
  expect(times).toEqual([0, 500, 1750, 4875, 12_687.5]);
});

test('one wrong key of a hundred is refused alone, in the words of the API', async () => {
  const { poller, until } = page((request) =>
    request.images.includes('wrong/')
      ? { status: 400, json: { error: { code: 'x', message: 'image: expected an "image"' } } }
      : all(ready)(request),
  );
  const askers = [...keys(60), 'wrong/', ...keys(39).map((key) => `b${key}`)].map((key) =>
    asker(key),
  );
  for (const { self } of askers) poller.want(self, 0);
  await until(60_000);
  const refused = askers.filter(({ refusals }) => refusals.length > 0);
  expect(refused.map(({ self, refusals }) => [self.key(), ...refusals])).toEqual([
    ['wrong/', 'image: expected an "image"'],
  ]);
  expect(askers.filter(({ told }) => told.join() === 'ready')).toHaveLength(99);
});

test('an API that fails is asked at growing intervals, and again at once when the network is back', async () => {
  let broken = true;
  const { poller, requests, until } = page((request) => {
    if (broken) throw new TypeError('no network');
    return all(ready)(request);
  });
  const { self, told } = asker('a');
  poller.want(self, 0);
  await until(40_000);
  expect(requests.map(({ at }) => at)).toEqual([0, 1000, 3000, 7000, 15_000, 31_000]);
  broken = false;
  poller.wake();
  await until(40_000);
  expect(told).toEqual(['ready']);
});

test('503 and an unreadable answer are failures like no answer', async () => {
  const answers: Answer[] = [
    { status: 503, json: {} },
    { status: 200, json: { images: 'none' } },
    { status: 200, json: { images: [ready('a')] } },
  ];
  const { poller, requests, until } = page(() => answers.shift() ?? { status: 500, json: {} });
  const { self, told } = asker('a');
  poller.want(self, 0);
  await until(60_000);
  expect(requests.map(({ at }) => at)).toEqual([0, 1000, 3000]);
  expect(told).toEqual(['ready']);
});

test('a page that nobody sees does not ask, and asks as soon as it is seen', async () => {
  const { poller, requests, until, hide } = page(all(pending));
  poller.want(asker('a').self, 0);
  await until(0);
  hide(true);
  await until(100_000);
  expect(requests).toHaveLength(1);
  hide(false);
  await until(100_000);
  expect(requests.map(({ at }) => at)).toEqual([0, 100_000]);
});

test('an image that left the page is not told, and one that changed hears of its new key only', async () => {
  let key = 'old';
  const changing = asker('');
  const gone = asker('gone');
  const { poller, until, requests } = page((request) => {
    poller.forget(gone.self);
    key = 'new';
    return all(ready)(request);
  });
  const self = { ...changing.self, key: () => key };
  poller.want(self, 0);
  poller.want(gone.self, 0);
  await until(0);
  expect([...changing.told, ...gone.told]).toEqual([]);
  await until(60_000);
  expect(requests.at(-1)?.images).toEqual(['new']);
  expect(changing.told).toEqual(['ready']);
});

test('whatever comes and goes: one poll at a time, never more than 100 keys, and everyone hears', async () => {
  const action = fc.record({
    at: fc.nat(20_000),
    key: fc.nat(300),
    act: fc.constantFrom('want', 'want', 'want', 'forget'),
    readyAfter: fc.nat(5000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 90 }), async (actions) => {
      const readyAt = new Map<string, number>();
      const { poller, requests, until } = page((request) =>
        all((image) => ((readyAt.get(image) ?? 0) <= request.at ? ready(image) : pending(image)))(
          request,
        ),
      );
      const here = new Map<string, ReturnType<typeof asker>>();
      for (const { at, key, act, readyAfter } of actions.toSorted((a, b) => a.at - b.at)) {
        await until(at);
        const name = `k${key}`;
        const one = here.get(name) ?? asker(name);
        if (act === 'forget') {
          poller.forget(one.self);
          here.delete(name);
        } else if (!here.has(name)) {
          readyAt.set(name, at + readyAfter);
          here.set(name, one);
          poller.want(one.self, at);
        }
      }
      await until(200_000);
      expect(requests.every(({ images }) => images.length <= 100)).toBe(true);
      expect(requests.every(({ images }) => new Set(images).size === images.length)).toBe(true);
      for (const { told } of here.values()) expect(told.at(-1)).toBe('ready');
      const times = requests.map(({ at }) => at);
      // To a millionth of a millisecond: the clock has fractions, and their difference is rounded.
      const gaps = times
        .slice(1)
        .map((at, index) => Math.round((at - (times[index] ?? 0)) * 1e6) / 1e6);
      expect(Math.min(250, ...gaps)).toBe(250);
    }),
    { numRuns: 200 },
  );
});
