import { nextPoll, nextTry } from './next-poll.ts';
import { readViews, type View } from './view.ts';

// All images of a page that need an answer from one API share one poll.

/** What the API takes in one request. */
const MOST_IMAGES = 100;

const RETRY_AFTER_MS = 500;

/** At least this long between two polls, also while images come into view all the time. */
const LEAST_INTERVAL_MS = 250;

/** An image that waits for news. */
export interface Asker {
  key(): string;
  variant(): string;
  /** Answers whether it needs to ask again, as the thumbnail is still being made. */
  tell(view: View): boolean;
  /** The API says that it can never be asked this. */
  refuse(reason: string): void;
}

/** What the page's surroundings give, so that tests can give it too. */
export interface Surroundings {
  /** POSTs a body, answers the status and the JSON. */
  post(body: string): Promise<{ status: number; json: unknown }>;
  /** A page that nobody sees does not ask. */
  hidden(): boolean;
  now(): number;
  random(): number;
  setTimer(run: () => void, ms: number): number;
  clearTimer(timer: number): void;
}

interface Turn {
  /** When it is to be asked. */
  due: number;
  /** How much earlier it may come along when others are asked. */
  early: number;
  /** What will have been waited since the last news. */
  waitedMs: number;
  polls: number;
  /** When the page last had news of it. */
  told: number;
}

export class Poller {
  readonly #around: Surroundings;
  readonly #turns = new Map<Asker, Turn>();
  #timer: number | undefined;
  #asking = false;
  #failures = 0;
  #quietUntil = 0;

  constructor(around: Surroundings) {
    this.#around = around;
  }

  /** Asks for this image at `due`, or up to `early` milliseconds before if others are asked then. */
  want(asker: Asker, due: number, early = 0): void {
    this.#turns.set(asker, { due, early, waitedMs: 0, polls: 0, told: this.#around.now() });
    this.#plan();
  }

  /** Asks again for an image that the page itself was told of, as being made. */
  await(asker: Asker, { at, retryAfterMs = RETRY_AFTER_MS }: View): void {
    // A page that brings its own news shows many, and the first of them take a while.
    const waitedMs = 2 * retryAfterMs;
    this.#turns.set(asker, {
      due: at + waitedMs,
      early: waitedMs / 2,
      waitedMs,
      polls: 0,
      told: at,
    });
    this.#plan();
  }

  forget(asker: Asker): void {
    this.#turns.delete(asker);
    this.#plan();
  }

  /** The network is back, or someone looks again: what is due is asked now. */
  wake(): void {
    this.#quietUntil = 0;
    this.#plan();
  }

  #plan(): void {
    if (this.#timer !== undefined) this.#around.clearTimer(this.#timer);
    this.#timer = undefined;
    if (this.#asking || this.#turns.size === 0 || this.#around.hidden()) return;
    let first = Number.POSITIVE_INFINITY;
    for (const { due } of this.#turns.values()) first = Math.min(first, due);
    // A turn of the event loop at least, so that a page's images are all in the first poll.
    const delay = Math.max(0, first, this.#quietUntil) - this.#around.now();
    this.#timer = this.#around.setTimer(() => void this.#ask(), Math.max(0, delay));
  }

  async #ask(): Promise<void> {
    const now = this.#around.now();
    const askers = [...this.#turns]
      .filter(([, { due, early }]) => due - early <= now)
      .map(([asker]) => asker);
    this.#asking = true;
    try {
      const batches = Array.from({ length: Math.ceil(askers.length / MOST_IMAGES) }, (_, index) =>
        askers.slice(index * MOST_IMAGES, (index + 1) * MOST_IMAGES),
      );
      const answers = await Promise.allSettled(batches.map((batch) => this.#askFor(batch)));
      const failed = answers.some(({ status }) => status === 'rejected');
      this.#failures = failed ? this.#failures + 1 : 0;
      this.#quietUntil = failed
        ? this.#around.now() + nextTry(this.#failures, this.#around.random)
        : now + LEAST_INTERVAL_MS;
    } finally {
      this.#asking = false;
      this.#plan();
    }
  }

  /** @throws where there is no answer, or none from the API itself. */
  async #askFor(batch: readonly Asker[]): Promise<void> {
    const { status, json } = await this.#around.post(
      JSON.stringify({
        images: batch.map((asker) => asker.key()),
        variants: [...new Set(batch.map((asker) => asker.variant()))],
      }),
    );
    if (status === 400) return await this.#refused(batch, json);
    if (status !== 200) throw new Error(`The API answered ${status}.`);
    const now = this.#around.now();
    const views = readViews(json, now);
    const pending: [Asker, Turn, View][] = [];
    let settled = 0;
    for (const [index, asker] of batch.entries()) {
      const turn = this.#turns.get(asker);
      const view = views[index];
      // Meanwhile it may have left the page.
      if (turn === undefined || view === undefined) continue;
      this.#turns.delete(asker);
      // Or turned to another image, which is asked for next time.
      if (view.image !== asker.key() || asker.tell(view)) pending.push([asker, turn, view]);
      else settled += 1;
    }
    for (const [asker, turn, { retryAfterMs = RETRY_AFTER_MS }] of pending) {
      const polls = turn.polls + 1;
      const progress = { settled, waiting: pending.length, sinceMs: now - turn.told };
      const waitedMs = nextPoll(
        { ...progress, polls, waitedMs: turn.waitedMs, retryAfterMs },
        this.#around.random,
      );
      this.#turns.set(asker, {
        due: now + waitedMs,
        early: waitedMs / 2,
        waitedMs,
        polls,
        told: now,
      });
    }
  }

  /** One wrong key would cost its whole batch, so the halves are asked apart until it is alone. */
  async #refused(batch: readonly Asker[], json: unknown): Promise<void> {
    const [only, another] = batch;
    if (only !== undefined && another === undefined) {
      this.#turns.delete(only);
      only.refuse(messageOf(json));
      return;
    }
    const middle = Math.ceil(batch.length / 2);
    await this.#askFor(batch.slice(0, middle));
    await this.#askFor(batch.slice(middle));
  }
}

function messageOf(json: unknown): string {
  const message = /"message":("(?:[^"\\]|\\.)*")/.exec(JSON.stringify(json) ?? '')?.[1];
  return message === undefined ? 'The API refused to answer.' : String(JSON.parse(message));
}
