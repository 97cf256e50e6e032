import type { Presence } from './presence.ts';

export interface Polling {
  /** Answers how to stop. */
  start(): () => void;
  /** Soon, whatever the plan says: something was done. */
  now(): void;
}

/**
 * Looks again and again, one look at a time, as `wait` says after each; not while nobody sees the
 * page, and at once when somebody does again.
 *
 * @param wait milliseconds, or undefined for never by itself
 */
export function createPolling(
  look: () => Promise<void>,
  wait: () => number | undefined,
  page: Presence,
): Polling {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;
  let busy = false;
  let again = false;

  const plan = () => {
    clearTimeout(timer);
    const ms = running ? wait() : undefined;
    if (ms !== undefined) timer = setTimeout(poll, ms);
  };
  const poll = async () => {
    clearTimeout(timer);
    if (!running) return;
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    try {
      await look();
    } finally {
      busy = false;
      if (again) {
        again = false;
        void poll();
      } else plan();
    }
  };

  return {
    start() {
      running = true;
      let seen = !page.hidden();
      const stop = page.onChange(() => {
        const hidden = page.hidden();
        if (hidden) clearTimeout(timer);
        // What rests is looked at once when it is seen again: others may have done something.
        else if (wait() !== undefined || !seen) void poll();
        seen = !hidden;
      });
      void poll();
      return () => {
        running = false;
        clearTimeout(timer);
        stop();
      };
    },
    now: () => void poll(),
  };
}
