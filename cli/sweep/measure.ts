import type { Allowance } from '../../shared/fleet/allowance.ts';
import { estimateTokens } from '../../shared/summaries/estimate.ts';
import { buildPrompt, type PromptLimits } from '../../shared/summaries/prompt.ts';
import type { Provider } from '../../shared/summaries/provider.ts';
import { type Verdict, verdictOf } from '../../shared/summaries/verdict.ts';
import type { Step } from './steps.ts';

export interface Sweep {
  /** Of this sweep alone: in the provider's ledger no row of it is one of another's. */
  name: string;
  provider: Provider;
  /** The account's: no step calls faster than it permits. */
  allowance: Allowance;
  instructions: string;
  limits: PromptLimits;
  signal: AbortSignal;
  now: () => number;
  /** Resolves after so many milliseconds, or when the signal says so. */
  sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

export interface Measured extends Step {
  /** All that were answered, and what they counted for: also outside of the time that is measured. */
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** What the last call that failed said. */
  readonly failure: string | undefined;
}

/** A provider that cannot be called: a key refused, a model that is not there, no connection. */
export class StoppedError extends Error {}

/** So many calls that failed, and not one answer: there is nothing to measure. */
const FAILED_FROM_THE_START = 8;

interface Sums {
  answered: number;
  refused: number;
  failed: number;
  serviceMs: number;
  calls: number;
  inputTokens: number;
  outputTokens: number;
  /** Also before the time that is measured. */
  failures: number;
  failure: string | undefined;
}

/**
 * Keeps `bound` calls in flight, and counts those that end after the first quarter of the time, when
 * they have spread out.
 * @throws StoppedError if no call can succeed; none is under way then.
 */
export async function measure(sweep: Sweep, bound: number, ms: number): Promise<Measured> {
  const { now } = sweep;
  const time = { begins: now() + ms / 4, ends: now() + ms };
  const sums: Sums = {
    answered: 0,
    refused: 0,
    failed: 0,
    serviceMs: 0,
    calls: 0,
    inputTokens: 0,
    outputTokens: 0,
    failures: 0,
    failure: undefined,
  };
  const stopped = new AbortController();
  const signal = AbortSignal.any([sweep.signal, stopped.signal]);
  let row = 0;
  const step = { ...sweep, name: `${sweep.name}/${bound}`, signal };
  const lane = async () => {
    try {
      while (now() < time.ends && !signal.aborted) await call(step, ++row, time, sums);
    } catch (error) {
      stopped.abort();
      throw error;
    }
  };
  const lanes = await Promise.allSettled(Array.from({ length: bound }, lane));
  const broken = lanes.find(({ status }) => status === 'rejected');
  if (broken?.status === 'rejected') throw broken.reason;
  const perMinute = (count: number) => Math.round((count / (time.ends - time.begins)) * 60_000);
  return {
    bound,
    answeredPerMinute: perMinute(sums.answered),
    refusedPerMinute: perMinute(sums.refused),
    failedPerMinute: perMinute(sums.failed),
    serviceMs: sums.answered === 0 ? undefined : Math.round(sums.serviceMs / sums.answered),
    calls: sums.calls,
    inputTokens: sums.inputTokens,
    outputTokens: sums.outputTokens,
    failure: sums.failure,
  };
}

async function call(
  { name, provider, allowance, instructions, limits, signal, now, sleep }: Sweep,
  row: number,
  { begins, ends }: { begins: number; ends: number },
  sums: Sums,
): Promise<void> {
  const { system, input, maxOutputTokens } = buildPrompt(instructions, fieldsOf(row), limits);
  const tokens = estimateTokens(system) + estimateTokens(input) + maxOutputTokens;
  const admission = await allowance.admit({
    tokens,
    withinMs: ends - now(),
    wanted: () => !signal.aborted,
  });
  if (admission.kind === 'left') return;
  const began = now();
  const counts = () => now() >= begins && now() <= ends;
  try {
    const request = { system, input, maxOutputTokens, row: `${name}/${row}` };
    const { usage } = await provider.complete(request, signal);
    admission.settle(usage.inputTokens + usage.outputTokens);
    sums.calls += 1;
    sums.inputTokens += usage.inputTokens;
    sums.outputTokens += usage.outputTokens;
    if (!counts()) return;
    sums.answered += 1;
    sums.serviceMs += now() - began;
  } catch (error) {
    admission.settle(0);
    const verdict = verdictOf(error, now());
    if (verdict.verdict !== 'wait') throw new StoppedError(verdict.message, { cause: error });
    if (verdict.code === 'aborted') return;
    note(verdict, counts(), sums);
    // Long enough not to spin, short enough for the step to see what a refusal costs.
    await sleep(Math.min(verdict.retryAfterMs ?? 1000, 5000), signal).catch(() => {});
  }
}

function note({ code, message }: Verdict, counts: boolean, sums: Sums): void {
  if (code === 'rate-limited' || code === 'overloaded') {
    if (counts) sums.refused += 1;
    return;
  }
  sums.failure = message;
  sums.failures += 1;
  if (counts) sums.failed += 1;
  if (sums.calls === 0 && sums.failures >= FAILED_FROM_THE_START) throw new StoppedError(message);
}

const WORDS = ['oak', 'oiled', 'round', 'for six', 'stackable', 'hand made', 'walnut', 'folding'];

/** A row as a catalogue has it. */
function fieldsOf(row: number) {
  const word = (step: number) => WORDS[(row * step) % WORDS.length] ?? '';
  return [
    { name: 'name', value: `Table ${row}, ${word(1)}` },
    {
      name: 'description',
      value: `A ${word(3)} table, ${word(5)} and ${word(7)}, ${80 + (row % 90)} by ${60 + (row % 40)} cm. The top is one piece; the legs come off for transport.`,
    },
    { name: 'price', value: `${100 + (row % 900)}.00` },
  ];
}
