const WINDOW_MS = 10_000;
const SAMPLE_MS = 500;
/** Less says more about the first packets than about the line. */
const ENOUGH_MS = 2_000;

export interface Rate {
  moved(bytes: number): void;
  /** Bytes a second over the last ten seconds; undefined until there is enough to tell. */
  perSecond(): number | undefined;
  reset(): void;
}

export function createRate(now: () => number): Rate {
  let total = 0;
  let samples: { at: number; total: number }[] = [];
  return {
    moved(bytes) {
      const at = now();
      const last = samples.at(-1);
      if (last === undefined || at - last.at >= SAMPLE_MS) samples.push({ at, total });
      if (samples.length > WINDOW_MS / SAMPLE_MS) samples.shift();
      total += bytes;
    },
    perSecond() {
      const first = samples[0];
      if (first === undefined || total === first.total) return undefined;
      const elapsed = now() - first.at;
      return elapsed < ENOUGH_MS ? undefined : ((total - first.total) / elapsed) * 1000;
    },
    reset() {
      samples = [];
    },
  };
}
