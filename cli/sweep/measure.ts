import { setTimeout as sleep } from 'node:timers/promises';
import type { Allowance } from '../../shared/fleet/allowance.ts';
import { estimateTokens } from '../../shared/summaries/estimate.ts';
import { buildPrompt, type PromptLimits } from '../../shared/summaries/prompt.ts';
import type { Provider } from '../../shared/summaries/provider.ts';
import { verdictOf } from '../../shared/summaries/verdict.ts';
import type { Step } from './steps.ts';

export interface Sweep {
  provider: Provider;
  /** The account's: no step calls faster than it permits. */
  allowance: Allowance;
  instructions: string;
  limits: PromptLimits;
  signal: AbortSignal;
  now: () => number;
}

export interface Measured extends Step {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** A provider that cannot be called at all: a key refused, a model that is not there. */
class StoppedError extends Error {}

interface Sums {
  answered: number;
  refused: number;
  serviceMs: number;
  inputTokens: number;
  outputTokens: number;
}

/**
 * Keeps `bound` calls in flight, and counts those that end after the first quarter of the time, when
 * they have spread out.
 */
export async function measure(sweep: Sweep, bound: number, ms: number): Promise<Measured> {
  const { signal, now } = sweep;
  const begins = now() + ms / 4;
  const ends = now() + ms;
  const sums: Sums = { answered: 0, refused: 0, serviceMs: 0, inputTokens: 0, outputTokens: 0 };
  let row = 0;
  const lane = async () => {
    while (now() < ends && !signal.aborted) await call(sweep, ++row, ends, begins, sums);
  };
  await Promise.all(Array.from({ length: bound }, lane));
  const minutes = (ends - begins) / 60_000;
  return {
    bound,
    answeredPerMinute: Math.round(sums.answered / minutes),
    refusedPerMinute: Math.round(sums.refused / minutes),
    serviceMs: sums.answered === 0 ? undefined : Math.round(sums.serviceMs / sums.answered),
    inputTokens: sums.inputTokens,
    outputTokens: sums.outputTokens,
  };
}

async function call(
  { provider, allowance, instructions, limits, signal, now }: Sweep,
  row: number,
  ends: number,
  begins: number,
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
    const request = { system, input, maxOutputTokens, row: `sweep/${row}` };
    const { usage } = await provider.complete(request, signal);
    admission.settle(usage.inputTokens + usage.outputTokens);
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
    if (counts()) sums.refused += 1;
    // Long enough not to spin, short enough for the step to see what a refusal costs.
    await sleep(Math.min(verdict.retryAfterMs ?? 1000, 5000), undefined, { signal }).catch(
      () => {},
    );
  }
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
