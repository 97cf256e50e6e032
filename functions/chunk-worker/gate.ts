import pLimit from 'p-limit';

/** The bound on calls in flight in this process, whatever chunks and rows they are for. */
export interface Gate {
  /** Runs `work` when there is room. The signal ends with the invocation that `reset` began. */
  run<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /**
   * Begins an invocation. What one before it left behind, when it was cut off by its timeout, holds no
   * place: its calls are given up, and what waited for its turn gets it, to find its signal aborted.
   */
  reset(): void;
}

export function createGate(size: number): Gate {
  let limit = pLimit(size);
  let invocation = new AbortController();
  return {
    run: (work) => {
      const { signal } = invocation;
      return limit(() => work(signal));
    },
    reset: () => {
      invocation.abort();
      invocation = new AbortController();
      limit = pLimit(size);
    },
  };
}
