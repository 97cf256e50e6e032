import type { ChunkRow } from '../../shared/imports/csv/chunk-lines.ts';
import type { ImportItem } from '../../shared/imports/import-item.ts';
import type { RowItem } from '../../shared/imports/row-item.ts';
import { estimateTokens } from '../../shared/summaries/estimate.ts';
import { buildPrompt, type Field, PROMPT_VERSION } from '../../shared/summaries/prompt.ts';
import type {
  Answer,
  Finish,
  RateLimits,
  SummaryRequest,
} from '../../shared/summaries/provider.ts';
import { RefusedError } from '../../shared/summaries/provider-error.ts';
import { type Verdict, verdictOf } from '../../shared/summaries/verdict.ts';
import type { Place, Waits, Workbench } from './workbench.ts';
import { tellsLimits } from './yielding.ts';

/** Milliseconds that an invocation keeps for what comes after its last call. */
export const WIND_DOWN = 3000;

/** So many answers that are none, and a row has failed; refusals of the rate are not counted. */
const MOST_TRIES = 8;
/** Milliseconds before a row's second try; twice as long each time. */
const FIRST_BACKOFF = 1000;
const LONGEST_BACKOFF = 300_000;

/** No call succeeds until somebody acts. */
export class StopError extends Error {
  readonly code: string;

  constructor({ code, message }: Extract<Verdict, { verdict: 'stop' }>) {
    super(message);
    this.code = code;
  }
}

export type RowOutcome =
  | { kind: 'written'; item: Omit<RowItem, 'round'> }
  /** Not in this invocation; and not before so many milliseconds. */
  | { kind: 'left'; delayMs: number; tries: number };

export interface RowWork {
  item: ImportItem;
  chunk: number;
  row: ChunkRow;
  /** How often it was refused an answer in earlier invocations. */
  tries: number;
  /** Epoch milliseconds. */
  deadline: number;
  waits: Waits;
  /** Whether the chunk is still wanted, and still ours. */
  goOn: () => boolean;
  /** Waits so many milliseconds, or until the chunk is not wanted any more. */
  rest: (ms: number) => Promise<void>;
  /** Told, before the next row's turn comes, that no call succeeds any more. */
  stop: (error: StopError) => void;
}

/** One row: one answer, however many calls that takes, or the reason that there is none. */
export async function summariseRow(bench: Workbench, work: RowWork): Promise<RowOutcome> {
  const { row } = work;
  if (row.problem !== undefined) return failed(row, `unreadable: ${row.problem}`);
  const fields = fieldsOf(work.item, row);
  if (fields.every(({ value }) => value.trim() === '')) {
    return failed(row, 'blank: the chosen columns are empty in this row');
  }
  const request = requestOf(bench, work.item, row, fields);
  let { tries } = work;
  while (true) {
    const attempt = await call(bench, work, request, tries);
    switch (attempt.kind) {
      case 'left':
        return { ...attempt, tries };
      case 'answered':
        return written(row, attempt.answer, bench.limits.outputTokens);
      case 'condemned':
        return failed(row, attempt.reason);
      case 'again':
        break;
    }
    ({ tries } = attempt);
    const { delayMs } = attempt;
    if (delayMs > timeLeft(bench, work)) return { kind: 'left', delayMs, tries };
    noteWaits(bench, work, { ...NO_WAITS, refusedMs: delayMs });
    await work.rest(delayMs);
  }
}

type Attempt =
  | { kind: 'answered'; answer: Answer }
  | { kind: 'condemned'; reason: string }
  | { kind: 'again'; delayMs: number; tries: number }
  | { kind: 'left'; delayMs: number };

async function call(
  bench: Workbench,
  work: RowWork,
  request: SummaryRequest,
  tries: number,
): Promise<Attempt> {
  const asked = bench.now();
  return await bench.gate.run(async (signal): Promise<Attempt> => {
    const gateMs = bench.now() - asked;
    const tokens = mostTokens(request);
    const admission = await bench.allowance.admit({
      tokens,
      withinMs: timeLeft(bench, work),
      wanted: () => work.goOn() && !signal.aborted,
    });
    noteWaits(bench, work, { gateMs, ...admission.waited });
    if (admission.kind === 'left') return { kind: 'left', delayMs: admission.delayMs };
    const began = bench.now();
    const settle = (used: number) => admission.settle(used);
    try {
      const provider = await bench.provider();
      const answer = await provider.complete(request, signal);
      settle(answer.usage.inputTokens + answer.usage.outputTokens);
      bench.meter.answered(bench.now() - began, answer.usage, answer.limits);
      bench.allowance.yield(bench.yielding.restMs(answer.limits, bench.now()));
      void bench.meter.writeWhole();
      return { kind: 'answered', answer };
    } catch (error) {
      const verdict = verdictOf(error, bench.now());
      const isRefused = verdict.verdict === 'wait' && verdict.code === 'rate-limited';
      // Whatever failed otherwise may have been worked on.
      settle(isRefused ? 0 : tokens);
      bench.meter.erred(bench.now() - began, isRefused, isRefused ? limitsOf(error) : undefined);
      if (!isRefused) bench.callFailed(placeOf(work), verdict.code, asError(error));
      return erred(bench, work, verdict, tries, limitsOf(error));
    }
  });
}

export const placeOf = ({ item, chunk, row }: Pick<RowWork, 'item' | 'chunk' | 'row'>): Place => ({
  importId: item.importId,
  chunk,
  row: row.row,
});

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error('what was thrown is no error');

/** What the provider may count for a call when it begins. */
function mostTokens({ system, input, maxOutputTokens }: SummaryRequest): number {
  return estimateTokens(system) + estimateTokens(input) + maxOutputTokens;
}

const NO_WAITS: Waits = { gateMs: 0, allowanceMs: 0, yieldMs: 0, refusedMs: 0 };

function noteWaits({ meter }: Workbench, { waits }: RowWork, more: Waits): void {
  waits.gateMs += more.gateMs;
  waits.allowanceMs += more.allowanceMs;
  waits.yieldMs += more.yieldMs;
  waits.refusedMs += more.refusedMs;
  meter.waited(more);
}

function limitsOf(error: unknown): RateLimits {
  return error instanceof RefusedError ? error.limits : {};
}

/** What follows from an error. Still within the gate: whoever's turn is next must know of it. */
function erred(
  bench: Workbench,
  work: RowWork,
  verdict: Verdict,
  before: number,
  limits: RateLimits,
): Attempt {
  if (verdict.verdict === 'stop') {
    const error = new StopError(verdict);
    work.stop(error);
    throw error;
  }
  const reason = `${verdict.code}: ${verdict.message}`;
  if (verdict.verdict === 'row') return { kind: 'condemned', reason };
  const rate = verdict.code === 'rate-limited';
  // An invocation that was cut off does not count against the row.
  const tries = rate || verdict.code === 'aborted' ? before : before + 1;
  const delayMs = verdict.retryAfterMs ?? backoff(rate ? 1 : tries, bench.random);
  if (rate) bench.allowance.refused(verdict.retryAfterMs, tellsLimits(limits, bench.now()));
  if (verdict.code === 'overloaded') bench.allowance.overloaded(delayMs);
  return tries >= MOST_TRIES ? { kind: 'condemned', reason } : { kind: 'again', delayMs, tries };
}

/** Milliseconds in which a call must begin to end before its invocation, at the latest. */
function timeLeft({ callTimeoutMs, now }: Workbench, { deadline }: RowWork): number {
  return deadline - WIND_DOWN - callTimeoutMs - now();
}

/** What refused all together does not come back together: half as much again, at random. */
function backoff(tries: number, random: () => number): number {
  return Math.min(FIRST_BACKOFF * 2 ** (tries - 1), LONGEST_BACKOFF) * (1 + random() / 2);
}

function fieldsOf({ header = [], columns }: ImportItem, { cells }: ChunkRow): Field[] {
  return header
    .map((name, index) => ({ name, value: cells[index] ?? '' }))
    .filter(({ name }) => columns.length === 0 || columns.includes(name));
}

function requestOf(
  { limits }: Workbench,
  { importId, instructions }: ImportItem,
  { row }: ChunkRow,
  fields: readonly Field[],
): SummaryRequest {
  const { system, input, maxOutputTokens } = buildPrompt(instructions, fields, limits);
  return { system, input, maxOutputTokens, row: `${importId}/${row}` };
}

const REASONS: Readonly<Record<Exclude<Finish, 'done'>, string>> = {
  refused: 'the model declined to summarise this row',
  truncated:
    'the summary was cut off at % tokens: ask for shorter ones in the instructions, or ask whoever runs Glimpse to allow longer ones',
  filtered: "the provider's content filter stopped the answer",
  empty: 'the model answered nothing',
};

function written(row: ChunkRow, answer: Answer, outputTokens: number): RowOutcome {
  const { text, usage, model } = answer;
  const finish = answer.finish === 'done' && text.trim() === '' ? 'empty' : answer.finish;
  const kept = { ...usage, model, promptVersion: String(PROMPT_VERSION) };
  if (finish === 'done') {
    const item = {
      row: row.row,
      id: row.id,
      state: 'done',
      summary: text.trim(),
      ...kept,
    } as const;
    return { kind: 'written', item };
  }
  const reason = `${finish}: ${REASONS[finish].replace('%', String(outputTokens))}`;
  return { kind: 'written', item: { row: row.row, id: row.id, state: 'failed', reason, ...kept } };
}

function failed({ row, id }: ChunkRow, reason: string): RowOutcome {
  const item = { row, id, state: 'failed', reason, inputTokens: 0, outputTokens: 0 } as const;
  return { kind: 'written', item };
}
