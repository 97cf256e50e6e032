/** Time that passes only when everything rests: hours of it in a moment. */
export interface VirtualTime {
  now(): number;
  /** Resolves after so many milliseconds, or at once when the signal says so. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Lets time pass until `until`, epoch milliseconds, or until nobody sleeps any more. */
  pass(until: number): Promise<void>;
}

interface Sleeper {
  at: number;
  order: number;
  wake: () => void;
  isOver: boolean;
}

export function createVirtualTime(start: number): VirtualTime {
  let now = start;
  let order = 0;
  const heap: Sleeper[] = [];
  const before = (a: Sleeper, b: Sleeper) => a.at < b.at || (a.at === b.at && a.order < b.order);

  const push = (sleeper: Sleeper) => {
    let index = heap.push(sleeper) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const [mine, other] = [heap[index], heap[above]];
      if (mine === undefined || other === undefined || !before(mine, other)) break;
      [heap[index], heap[above]] = [other, mine];
      index = above;
    }
  };
  const pop = (): Sleeper | undefined => {
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || first === last) return first;
    heap[0] = last;
    let index = 0;
    while (true) {
      const [left, right] = [heap[2 * index + 1], heap[2 * index + 2]];
      const least = right !== undefined && left !== undefined && before(right, left) ? right : left;
      if (least === undefined || !before(least, last)) break;
      const below = least === left ? 2 * index + 1 : 2 * index + 2;
      [heap[index], heap[below]] = [least, last];
      index = below;
    }
    return first;
  };

  return {
    now: () => now,
    sleep(ms, signal) {
      return new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { at: now + Math.max(0, ms), order: order++, wake: resolve, isOver: false };
        push(sleeper);
        const end = () => {
          sleeper.isOver = true;
          resolve();
        };
        signal?.addEventListener('abort', end, { once: true });
      });
    },
    async pass(until) {
      while (true) {
        await settled();
        while (heap[0]?.isOver) pop();
        const next = heap[0];
        if (next === undefined || next.at > until) break;
        now = Math.max(now, next.at);
        pop()?.wake();
      }
      now = Math.max(now, until);
    },
  };
}

/** Whatever can go on without time has gone on. */
async function settled(): Promise<void> {
  await new Promise(setImmediate);
}
