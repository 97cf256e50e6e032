import type { Mode } from '../shared/fleet/allowance-settings.ts';
import type { PlanInput } from '../shared/fleet/plan-input.ts';
import type { Config } from './config-schema.ts';

/** Files read at once; the others wait in the queue. */
export const INTAKE_CONCURRENCY = 4;
/** Two at a time would find the same. */
export const REAPER_CONCURRENCY = 1;
/** The longest that an import may bring, and what the prompt says besides. */
const INSTRUCTIONS_CHARACTERS = 4000;
const PROMPT_TOKENS = 200;

/** What the fleet's plan follows from, as the configuration says it. */
export function planInputOf({ summaries, concurrency }: Config): PlanInput {
  const { account, measured, headroom, interactiveShare, reserve, prompt } = summaries;
  const { callTimeoutSeconds, chunkRows, workerTimeoutSeconds } = summaries;
  const modeOf = (mode: Mode) => {
    const { provider, ...settings } = summaries[mode];
    if (provider === undefined) return settings;
    const { account: own, measured: calls = measured } = provider;
    return { ...settings, own: { account: own, measured: calls } };
  };
  return {
    account,
    measured,
    headroom,
    interactiveShare,
    reserve,
    callTimeoutSeconds,
    chunkRows,
    workerTimeoutSeconds,
    // A character is a token at most, in the scripts that take the most.
    largestCallTokens:
      prompt.maxInputCharacters + INSTRUCTIONS_CHARACTERS + PROMPT_TOKENS + prompt.maxOutputTokens,
    accountConcurrency: concurrency.account,
    othersConcurrency:
      concurrency.onDemand + concurrency.eager + INTAKE_CONCURRENCY + REAPER_CONCURRENCY,
    reserved: concurrency.reserved,
    interactive: modeOf('interactive'),
    bulk: modeOf('bulk'),
  };
}
