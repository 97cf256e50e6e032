import { Poller } from './poller.ts';

// The one poller that a page has for each API.

const pollers = new Map<string, Poller>();

/** An API that takes longer has lost the request. */
const TIMEOUT_MS = 15_000;

export function pollerOf(api: string): Poller {
  const existing = pollers.get(api);
  if (existing !== undefined) return existing;
  const poller = new Poller({
    post: async (body) => {
      // Without a content type of its own it is a simple request, which needs no preflight.
      const answer = await fetch(`${api.replace(/\/$/, '')}/thumbnails`, {
        method: 'POST',
        body,
        credentials: 'omit',
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      return { status: answer.status, json: await answer.json() };
    },
    hidden: () => document.hidden,
    now: Date.now,
    random: Math.random,
    setTimer: (run, ms) => setTimeout(run, Math.min(ms, 2 ** 31 - 1)),
    clearTimer: (timer) => clearTimeout(timer),
  });
  pollers.set(api, poller);
  return poller;
}

function wakeAll(): void {
  for (const poller of pollers.values()) poller.wake();
}

document.addEventListener('visibilitychange', wakeAll);
addEventListener('online', wakeAll);
