/** Lets at most so many run at once; the others wait their turn. */
export interface Slots {
  with<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(limit: number): Slots {
  let taken = 0;
  const waiting: (() => void)[] = [];
  return {
    async with(work) {
      if (taken >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
      else taken += 1;
      try {
        return await work();
      } finally {
        // The slot is handed on, not freed: nobody slips in before whoever waits.
        const next = waiting.shift();
        if (next === undefined) taken -= 1;
        else next();
      }
    },
  };
}
