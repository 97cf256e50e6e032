import type { AccountSettings } from './settings.ts';

export interface Level {
  readonly limit: number;
  readonly remaining: number;
  /** Until it is full again. */
  readonly resetMs: number;
}

export interface Levels {
  readonly requests: Level;
  readonly tokens: Level;
}

export type Admission =
  | { readonly admitted: true; readonly levels: Levels }
  | {
      readonly admitted: false;
      readonly short: 'requests' | 'tokens';
      readonly retryAfterMs: number;
      readonly levels: Levels;
    };

export interface Account {
  /** Takes a request and, if there is room for both, the tokens. A refused call has spent its request. */
  admit(tokens: number): Admission;
  /** Gives back what a call did not use of its tokens. */
  settle(unused: number): void;
  levels(): Levels;
}

/** Requests and tokens a minute, refilled without pause as real accounts are. @param now milliseconds that never go back. */
export function createAccount(settings: AccountSettings, now: () => number): Account {
  const { requestsPerMinute, tokensPerMinute, burstSeconds } = settings;
  const requests = createBucket(requestsPerMinute, burstSeconds, now);
  const tokens = createBucket(tokensPerMinute, burstSeconds, now);
  const levels = () => ({ requests: requests.level(), tokens: tokens.level() });

  const refuse = (short: 'requests' | 'tokens', retryAfterMs: number): Admission => ({
    admitted: false,
    short,
    retryAfterMs,
    levels: levels(),
  });

  return {
    admit(wanted) {
      const wait = requests.waitFor(1);
      requests.take(1);
      if (wait > 0) return refuse('requests', requests.waitFor(1));
      const tokenWait = tokens.waitFor(wanted);
      if (tokenWait > 0) return refuse('tokens', tokenWait);
      tokens.take(wanted);
      return { admitted: true, levels: levels() };
    },
    settle: (unused) => tokens.take(-unused),
    levels,
  };
}

interface Bucket {
  /** Never below nothing, nor above full. */
  take(amount: number): void;
  /** Milliseconds until so much is there; what is more than the bucket holds never is, and waits for a full one. */
  waitFor(amount: number): number;
  level(): Level;
}

function createBucket(limit: number, burstSeconds: number, now: () => number): Bucket {
  const perMs = limit / 60_000;
  // A small account's burst is one call at least, or it would let none through.
  const capacity = Math.max(1, perMs * burstSeconds * 1000);
  let amount = capacity;
  let at = now();

  const refill = () => {
    const time = now();
    amount = Math.min(capacity, amount + (time - at) * perMs);
    at = time;
  };

  return {
    take(taken) {
      refill();
      amount = Math.max(0, amount - taken);
    },
    waitFor(wanted) {
      refill();
      if (wanted <= amount) return 0;
      return Math.max(1, (Math.min(wanted, capacity) - amount) / perMs);
    },
    level() {
      refill();
      return { limit, remaining: Math.floor(amount), resetMs: (capacity - amount) / perMs };
    },
  };
}
