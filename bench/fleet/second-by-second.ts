import type { Call } from '../../local/provider/ledger.ts';

/** One second of the provider's ledger, by its own clock. */
export interface Second {
  /** Epoch seconds. */
  readonly at: number;
  readonly begun: number;
  readonly answered: number;
  readonly refused: number;
}

/** Every second from the first call's to the last one's, by when calls came. */
export function secondBySecond(calls: readonly Call[]): Second[] {
  const seconds = new Map<number, { begun: number; answered: number; refused: number }>();
  for (const { start, status } of calls) {
    const at = Math.floor(start / 1000);
    const second = seconds.get(at) ?? { begun: 0, answered: 0, refused: 0 };
    second.begun += 1;
    if (status === 200) second.answered += 1;
    if (status === 429) second.refused += 1;
    seconds.set(at, second);
  }
  const times = [...seconds.keys()];
  if (times.length === 0) return [];
  const from = times.reduce((least, at) => Math.min(least, at));
  const to = times.reduce((most, at) => Math.max(most, at));
  return Array.from({ length: to - from + 1 }, (_, index) => {
    const at = from + index;
    return { at, ...(seconds.get(at) ?? { begun: 0, answered: 0, refused: 0 }) };
  });
}

export interface Steady {
  /** Calls that were let through, whether or not their process lived to see the answer ÷ what the account permits. */
  readonly used: number;
  readonly refused: number;
  readonly answered: number;
  /** The most calls that came in a second ÷ what a second permits. */
  readonly burst: number;
  readonly secondsAbove: number;
}

/** What came to pass between two epoch seconds. */
export function steady(
  calls: readonly Call[],
  { from, to, perMinute }: { from: number; to: number; perMinute: number },
): Steady {
  const within = secondBySecond(calls).filter(({ at }) => at >= from && at < to);
  const total = (of: (second: Second) => number) => within.reduce((all, one) => all + of(one), 0);
  const most = Math.ceil(perMinute / 60);
  const answered = total((second) => second.answered);
  const refused = total((second) => second.refused);
  return {
    used: (total((second) => second.begun) - refused) / ((perMinute / 60) * (to - from)),
    refused,
    answered,
    burst: Math.max(0, ...within.map(({ begun }) => begun)) / (perMinute / 60),
    secondsAbove: within.filter(({ begun }) => begun > most).length,
  };
}
