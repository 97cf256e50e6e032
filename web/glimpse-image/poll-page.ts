import { Poller } from './poller.ts';

// The one poller that a page has for each API.

/** A token for the API; another one than `refused`, which it did not take. */
export type Authorize = (refused?: string) => Promise<string | undefined> | string | undefined;

/** What the page says of itself, for all its elements. */
export const access: { authorize?: Authorize | undefined } = {};

const pollers = new Map<string, Poller>();

/** An API that takes longer has lost the request. */
const TIMEOUT_MS = 15_000;

export function pollerOf(api: string): Poller {
  const existing = pollers.get(api);
  if (existing !== undefined) return existing;
  const poller = new Poller({
    post: async (body) => {
      const ask = async (refused?: string) => {
        const token = await access.authorize?.(refused);
        // Without a content type of its own and a token it is a simple request, which needs no preflight.
        const answer = await fetch(`${api.replace(/\/$/, '')}/thumbnails`, {
          method: 'POST',
          body,
          credentials: 'omit',
          ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        return { token, answer };
      };
      const first = await ask();
      const again = first.answer.status === 401 && first.token !== undefined;
      const { answer } = again ? await ask(first.token) : first;
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
