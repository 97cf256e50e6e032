import type { Mode } from '../../shared/fleet/allowance-settings.ts';
import type { LinePlan } from '../../shared/fleet/numbers.ts';
import type { Account, PlanInput } from '../../shared/fleet/plan-input.ts';
import { costUsd, type Prices, usd } from '../../shared/summaries/estimate.ts';
import type { Measured } from './measure.ts';
import type { Swept } from './run-sweep.ts';

export interface Report {
  readonly swept: Swept;
  readonly best: Measured;
  /** The account that was called, as it is planned. */
  readonly line: LinePlan;
  readonly mode: Mode;
  readonly input: PlanInput;
  readonly prices: Prices;
  readonly isSimulator: boolean;
}

const ENDS: Readonly<Record<Swept['end'], string>> = {
  flat: 'More calls in flight complete no more work.',
  refused: 'The provider refuses calls: more in flight are no help.',
  failed: 'Calls fail:',
  most: 'The last bound to try was reached while work still grew: raise --to.',
  stopped: 'Stopped before the end: a larger bound may complete more.',
};
/** Closer to what is configured than this part of it is the same. */
const SAME = 0.1;
const LARGEST_HEADROOM = 10;

/** Where no larger bound would complete more: the others have only not been tried. */
export function isFound({ end }: Swept): boolean {
  return end === 'flat' || end === 'refused';
}

/** Calls a minute that an account lets through, when they are as large as those of the sweep. */
export function accountPerMinute(account: Account, steps: readonly Measured[]): number {
  const { calls, tokens } = totalOf(steps);
  const { requestsPerMinute, tokensPerMinute } = account;
  if (tokensPerMinute === null || tokens === 0) return requestsPerMinute;
  return Math.min(requestsPerMinute, Math.floor(tokensPerMinute / (tokens / calls)));
}

/** What a sweep has found, and what of the configuration it speaks for or against. */
export function reportInWords(report: Report): string[] {
  const { swept, best, line, prices, isSimulator } = report;
  const perMinute = accountPerMinute(line.account, swept.steps);
  const { inputTokens, outputTokens, tokens } = totalOf(swept.steps);
  const cost = usd(costUsd({ inputTokens, outputTokens }, prices));
  return [
    [ENDS[swept.end], swept.failure].filter((words) => words !== undefined).join(' '),
    `${isFound(swept) ? 'Fleet bound' : 'The best that was tried'}: ${best.bound} calls in flight complete ${count(best.answeredPerMinute)} a minute, ${Math.round((best.answeredPerMinute / perMinute) * 100)} % of what the account lets through, at ${best.serviceMs} ms a call.`,
    ...adviceOf(report, perMinute),
    isSimulator
      ? 'This was the simulator on this machine: --provider measures yours.'
      : `It took ${count(tokens)} tokens, ${cost} by the configured prices.`,
  ];
}

function adviceOf({ swept, best, line, mode, input }: Report, perMinute: number): string[] {
  if (!isFound(swept)) return [];
  const advice: string[] = [];
  const { needed, inFlight, measured } = line;
  const isEnough = inFlight >= best.bound;
  const own = input[mode].own === undefined ? '' : `${mode}-`;
  advice.push(
    `The plan of cdk/config.ts has ${inFlight} in flight on this account, ${isEnough ? 'enough' : 'too few'} for that.`,
  );
  const seconds = (best.serviceMs ?? 0) / 1000;
  const headroom = Math.ceil((best.bound / needed) * 100) / 100;
  if (Math.abs(seconds - measured.serviceSeconds) > SAME * measured.serviceSeconds) {
    const rounded = Number(seconds.toPrecision(2));
    advice.push(
      `It takes calls for ${measured.serviceSeconds} s long: "npm run plan -- --${own}service-seconds ${rounded}" shows what follows from these.`,
    );
  } else if (!isEnough && headroom <= LARGEST_HEADROOM) {
    advice.push(`"npm run plan -- --headroom ${headroom}" shows one that has as many.`);
  }
  if (best.answeredPerMinute < (1 - SAME) * perMinute) {
    const less = `The account of cdk/config.ts lets ${count(perMinute)} a minute through`;
    if (swept.end === 'refused') {
      advice.push(`${less}, the provider does not: compare its limits page, and who else calls.`);
    } else if (swept.end === 'flat') {
      advice.push(`${less}: the provider, the network or this machine has room for no more.`);
    }
  }
  return advice;
}

function totalOf(steps: readonly Measured[]) {
  const sum = (of: (step: Measured) => number) => steps.reduce((all, step) => all + of(step), 0);
  const inputTokens = sum((step) => step.inputTokens);
  const outputTokens = sum((step) => step.outputTokens);
  const calls = sum((step) => step.calls);
  return { calls, inputTokens, outputTokens, tokens: inputTokens + outputTokens };
}

export function count(value: number): string {
  return value.toLocaleString('en');
}
