import type { RateLimits } from '../../shared/summaries/provider.ts';
import {
  LEVEL_NAMES,
  type LevelName,
  readRateLimits,
  yieldMs,
} from '../../shared/summaries/rate-limits.ts';

/** When bulk work gives way, by what the provider says remains. */
export interface Yielding {
  /** Milliseconds that bulk work should rest after these headers. */
  restMs(headers: RateLimits, now: number): number;
}

/** @param reserve the part of a limit under which bulk work rests. */
export function createYielding(reserve: number): Yielding {
  // Some accounts keep no minute's worth but a few seconds': what remains is then never near the
  // limit, and is held against the most that has been seen.
  const fullest = new Map<LevelName, number>();
  return {
    restMs(headers, now) {
      const { levels } = readRateLimits(headers, now);
      let longest = 0;
      for (const name of LEVEL_NAMES) {
        const { limit, remaining, ...rest } = levels[name] ?? {};
        if (limit === undefined || remaining === undefined) continue;
        const most = Math.min(limit, Math.max(remaining, fullest.get(name) ?? 0));
        fullest.set(name, most);
        const ms = yieldMs({ [name]: { limit, remaining, ...rest } }, (reserve * most) / limit);
        longest = Math.max(longest, ms);
      }
      return longest;
    },
  };
}

/** Whether the provider says what remains; where it does not, only refusals do. */
export function tellsLimits(headers: RateLimits, now: number): boolean {
  const { levels } = readRateLimits(headers, now);
  return LEVEL_NAMES.some((name) => levels[name]?.remaining !== undefined);
}
