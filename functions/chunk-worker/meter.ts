import {
  NO_USAGE,
  sumOf,
  type ToldAccount,
  USAGE_SECONDS,
  type Usage,
} from '../../shared/fleet/usage-item.ts';
import type { RateLimits, Usage as Tokens } from '../../shared/summaries/provider.ts';
import { readRateLimits } from '../../shared/summaries/rate-limits.ts';
import type { Waits } from './workbench.ts';

/** What this process does, added up until it is written where the fleet's state is read. */
export interface Meter {
  /** @param headers of the answer: what they say of the account is written too. */
  answered(serviceMs: number, tokens: Tokens, headers?: RateLimits): void;
  erred(serviceMs: number, isRefused: boolean, headers?: RateLimits): void;
  waited(waits: Waits): void;
  /** Writes what came since the last time, if that is so many milliseconds ago. Never throws. */
  flush(leastMs: number): Promise<void>;
}

export interface MeterOptions {
  write: (usage: Usage, now: number, told: ToldAccount) => Promise<void>;
  /** How often the shared state was called, ever. */
  storeOps: () => number;
  now: () => number;
  onError: (error: unknown) => void;
}

export function createMeter({ write, storeOps, now, onError }: MeterOptions): Meter {
  let usage: Usage = { ...NO_USAGE };
  let heard: RateLimits = {};
  let written = 0;
  let opsWritten = 0;
  let writes = 0;
  let lastItem = -1;
  let writing = false;

  const add = (more: Partial<Usage>) => {
    usage = sumOf(usage, more);
  };

  return {
    answered: (serviceMs, tokens, headers) => {
      heard = headers ?? heard;
      add({ calls: 1, serviceMs, ...tokens });
    },
    erred: (serviceMs, isRefused, headers) => {
      heard = headers ?? heard;
      add({ calls: 1, serviceMs, ...(isRefused ? { refused: 1 } : { failed: 1 }) });
    },
    waited: (waits) => add(waits),
    async flush(leastMs) {
      const time = now();
      if (writing || time - written < leastMs || usage.calls === 0) return;
      writing = true;
      const item = Math.floor(time / 1000 / USAGE_SECONDS);
      // This write is one, too.
      const ops = storeOps() + ++writes;
      const part = { ...usage, storeOps: ops - opsWritten, processes: item === lastItem ? 0 : 1 };
      usage = { ...NO_USAGE };
      try {
        await write(part, time, toldBy(heard, time));
        [written, opsWritten, lastItem] = [time, ops, item];
      } catch (error) {
        // Whether it was written is not known: a figure that is too low is better than one counted twice.
        onError(error);
      } finally {
        writing = false;
      }
    },
  };
}

function toldBy(headers: RateLimits, now: number): ToldAccount {
  const { requests, tokens } = readRateLimits(headers, now).levels;
  return { requests: requests?.limit, tokens: tokens?.limit };
}
