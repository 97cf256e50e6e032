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

/** What this process does, added up by the item in which it was done, until that is written. */
export interface Meter {
  /** @param headers of the answer: what they say of the account is written too. */
  answered(serviceMs: number, tokens: Tokens, headers?: RateLimits): void;
  erred(serviceMs: number, isRefused: boolean, headers?: RateLimits): void;
  waited(waits: Waits): void;
  /** Writes the items whose time is over. Never throws. */
  writeWhole(): Promise<void>;
  /** Writes all there is, if something was last written so many milliseconds ago. Never throws. */
  writeAll(leastMs: number): Promise<void>;
}

export interface MeterOptions {
  /** @param at a time within the item. Epoch milliseconds. */
  write: (usage: Usage, at: number, told: ToldAccount) => Promise<void>;
  /** Told of each call's duration, for its distribution. */
  called?: (serviceMs: number) => void;
  /** How often the shared state was called, ever. */
  storeOps: () => number;
  now: () => number;
  /** 0 ≤ x < 1. */
  random: () => number;
  onError: (error: unknown) => void;
}

const ITEM_MS = USAGE_SECONDS * 1000;
/** All processes have something to write when an item is over, and it is one item for all of them. */
const SPREAD_MS = 1000;

export function createMeter(options: MeterOptions): Meter {
  const { write, storeOps, now, random, onError } = options;
  const lateMs = random() * SPREAD_MS;
  /** By the number of the item, the oldest first. */
  const items = new Map<number, Usage>();
  let heard: RateLimits = {};
  let writtenAt = 0;
  let opsWritten = 0;
  let writes = 0;
  let lastCounted = -1;
  let writing = false;

  const add = (more: Partial<Usage>) => {
    const item = Math.floor(now() / ITEM_MS);
    items.set(item, sumOf(items.get(item) ?? NO_USAGE, more));
  };

  const writeBefore = async (end: number) => {
    if (writing) return;
    writing = true;
    for (const [item, usage] of items) {
      if (item >= end) break;
      items.delete(item);
      if (Object.values(usage).every((amount) => amount === 0)) continue;
      // This write is one, too.
      const ops = storeOps() + ++writes;
      const processes = item > lastCounted ? 1 : 0;
      const part = { ...usage, storeOps: ops - opsWritten, processes };
      try {
        await write(part, item * ITEM_MS, toldBy(heard, now()));
        [writtenAt, opsWritten, lastCounted] = [now(), ops, Math.max(lastCounted, item)];
      } catch (error) {
        // Whether it was written is not known: a figure that is too low is better than one counted twice.
        onError(error);
      }
    }
    writing = false;
  };

  return {
    answered: (serviceMs, tokens, headers) => {
      heard = headers ?? heard;
      options.called?.(serviceMs);
      add({ calls: 1, serviceMs, ...tokens });
    },
    erred: (serviceMs, isRefused, headers) => {
      heard = headers ?? heard;
      options.called?.(serviceMs);
      add({ calls: 1, serviceMs, ...(isRefused ? { refused: 1 } : { failed: 1 }) });
    },
    waited: (waits) => add(waits),
    writeWhole: () => writeBefore(Math.floor((now() - lateMs) / ITEM_MS)),
    async writeAll(leastMs) {
      if (now() - writtenAt >= leastMs) await writeBefore(Number.POSITIVE_INFINITY);
    },
  };
}

function toldBy(headers: RateLimits, now: number): ToldAccount {
  const { requests, tokens } = readRateLimits(headers, now).levels;
  return { requests: requests?.limit, tokens: tokens?.limit };
}
