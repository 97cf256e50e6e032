import { createHash } from 'node:crypto';
import type { Failure, ImportItem, ImportState, Mode } from '../../shared/imports/import-item.ts';
import type { Report } from '../../shared/imports/import-report.ts';
import { chunksOf } from '../../shared/imports/layout.ts';
import type { Progress } from '../../shared/imports/read-progress.ts';
import { costUsd } from '../../shared/summaries/estimate.ts';
import type { Estimate } from '../../shared/summaries/estimate-import.ts';
import { estimateOf } from './estimate-costs.ts';
import { isRead } from './find-import.ts';
import type { Service } from './service.ts';

// An import as the API shows it. Times are ISO 8601.

interface Counts {
  total: number;
  done: number;
  failed: number;
}

export interface ImportSummary {
  importId: string;
  name: string;
  mode: Mode;
  state: ImportState;
  rows: Counts;
  chunks: Counts;
  usage: { inputTokens: number; outputTokens: number; costUsd: number };
  /** Milliseconds, of all rows together. */
  waits: { gateMs: number; allowanceMs: number; yieldMs: number; refusedMs: number };
  /** Before it is begun: whether it will wait, `paused`, once its file has been read. */
  hold?: boolean;
  createdAt: string;
  startedAt?: string;
  completedAt?: string;
  etaSeconds?: number;
  /** While it runs: the row up to which nearly all are written. */
  front?: number;
  /** While it runs and nothing has come for longer than its pace lets expect. There is no ETA then. */
  still?: {
    /** When a row was last written, or it was started. */
    since: string;
    /** Chunks of workers that have not been heard of. What those left is sent again, by then at the latest. */
    unheard?: { chunks: number; againBy: string };
    /** When what a worker had left was sent again, if nothing has come since. */
    sentAgainAt?: string;
  };
  /** What the reaper found, once that it was sent again has not helped. */
  stalled?: Omit<NonNullable<ImportItem['stalled']>, 'at'> & { at: string };
  failure?: Failure;
}

export interface ImportView extends ImportSummary {
  settings: {
    instructions: string;
    /** All of them, where none is named. */
    columns: string[];
    idColumn?: string;
    maxCostUsd?: number;
    deadline?: string;
    model: string;
  };
  report?: Report;
  estimate?: Estimate;
}

type Terms = Pick<Service, 'model' | 'prompt' | 'now'>;

/** @param progress what it has come to (`readProgress`) */
export function summaryOf(
  { model, now }: Terms,
  item: ImportItem,
  progress: Progress,
): ImportSummary {
  const { importId, name, mode, state, layout, createdAt, startedAt, completedAt } = item;
  const { done, failed, inputTokens, outputTokens } = progress;
  const { gateMs, allowanceMs, yieldMs, refusedMs } = progress;
  const still = stillOf(item, progress, now());
  const eta = still === undefined ? etaSeconds(item, progress, now()) : undefined;
  const stalled = stalledOf(item, progress, still, now());
  return {
    importId,
    name,
    mode,
    state,
    rows: { total: layout?.total ?? 0, done, failed },
    chunks: {
      total: layout === undefined ? 0 : chunksOf(layout),
      done: progress.chunksDone,
      failed: progress.chunksFailed,
    },
    usage: {
      inputTokens,
      outputTokens,
      costUsd: costUsd({ inputTokens, outputTokens }, model.prices),
    },
    waits: { gateMs, allowanceMs, yieldMs, refusedMs },
    ...(state === 'awaiting-upload' || state === 'reading' ? { hold: item.hold } : {}),
    createdAt: isoOf(createdAt),
    ...(startedAt === undefined ? {} : { startedAt: isoOf(startedAt) }),
    ...(completedAt === undefined ? {} : { completedAt: isoOf(completedAt) }),
    ...(eta === undefined ? {} : { etaSeconds: eta }),
    ...(state === 'running' ? { front: progress.front } : {}),
    ...(still === undefined ? {} : { still }),
    ...(stalled === undefined ? {} : { stalled: { ...stalled, at: isoOf(stalled.at) } }),
    ...(item.failure === undefined ? {} : { failure: item.failure }),
  };
}

function settingsOf({ model }: Terms, item: ImportItem): ImportView['settings'] {
  const { instructions, columns, idColumn, maxCostUsd, deadline } = item;
  return {
    instructions,
    columns,
    ...(idColumn === undefined ? {} : { idColumn }),
    ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
    ...(deadline === undefined ? {} : { deadline }),
    model: model.model,
  };
}

export function viewOf(
  terms: Terms,
  item: ImportItem,
  progress: Progress,
  report: Report | undefined,
): ImportView {
  return {
    ...summaryOf(terms, item, progress),
    settings: settingsOf(terms, item),
    ...(report === undefined ? {} : { report }),
    ...(report === undefined || !isRead(item) ? {} : { estimate: estimateOf(terms, item, report) }),
  };
}

/**
 * Of everything that the body is made from. The report is not read for it: once the rows have a
 * total, or the file was refused, there is one or none, and that stays as it is.
 */
export function etagOf(terms: Terms, item: ImportItem, progress: Progress): string {
  const { model, prompt } = terms;
  const made = [summaryOf(terms, item, progress), settingsOf(terms, item), model, prompt];
  const digest = createHash('sha256').update(JSON.stringify(made)).digest('base64url');
  return `"${digest.slice(0, 22)}"`;
}

/** Milliseconds without a row that are nothing to speak of: at the beginning, functions start. */
const SHORT = { first: 15_000, later: 10_000 };
/** Rows follow each other unevenly: so many times as long as one takes by the pace so far. */
const PATIENCE = 4;
const LONGEST_PATIENCE = 120_000;
/** Milliseconds after a claim has lapsed in which the reaper sends its chunk again. */
const REAPED_WITHIN = 15_000;

/** Milliseconds in which what was sent again should come. */
const RECOVERS = 15_000;

/** Whether its rows have come to a standstill: a pace that has ended says nothing of what is left. */
function stillOf(
  { state, startedAt, settledAtStart = 0, stalled }: ImportItem,
  { done, failed, movedAt, unheard }: Progress,
  now: number,
): ImportSummary['still'] {
  if (state !== 'running' || startedAt === undefined) return undefined;
  const sentAgainAt = stalled !== undefined && stalled.at >= movedAt ? stalled.at : undefined;
  const settled = done + failed - settledAtStart;
  const usual = settled > 0 ? (movedAt - startedAt) / settled : 0;
  // Workers say every two seconds that they live: of one that has ended, no pace need tell.
  const isLeft = unheard !== undefined || sentAgainAt !== undefined;
  const short = settled > 0 || isLeft ? SHORT.later : SHORT.first;
  const patience = isLeft ? short : Math.max(short, Math.min(LONGEST_PATIENCE, PATIENCE * usual));
  if (now - movedAt <= patience) return undefined;
  return {
    since: isoOf(movedAt),
    ...(unheard === undefined
      ? {}
      : {
          unheard: {
            chunks: unheard.chunks,
            againBy: isoOf(Math.max(unheard.until, movedAt) + REAPED_WITHIN),
          },
        }),
    ...(sentAgainAt === undefined ? {} : { sentAgainAt: isoOf(sentAgainAt) }),
  };
}

/**
 * An import of which other rows come has not stalled, nor has one whose chunk was sent again just now:
 *
 *   killed ── 10 s: no row comes just now ── 35 s: sent again ─┬─ its rows come ──▶ runs
 *                                                             └─ 15 s later: stalled
 *
 * That no worker has begun anything for minutes is said at once. What was stalled before it was paused says
 * nothing of why it rests.
 */
function stalledOf(
  { state, stalled }: ImportItem,
  { movedAt }: Progress,
  still: ImportSummary['still'],
  now: number,
): ImportItem['stalled'] {
  if (stalled === undefined || state !== 'running') {
    return state === 'reading' ? stalled : undefined;
  }
  if (still === undefined || movedAt > stalled.at) return undefined;
  return stalled.chunk !== undefined && now <= stalled.at + RECOVERS ? undefined : stalled;
}

/**
 * From when on rows make a pace, each by the least part of all rows, the least rows and the least milliseconds
 * of work: while places fill, what is written says nothing of what will be.
 */
const PACES = [
  { part: 0, rows: 20, ms: 3_000 },
  { part: 0.02, rows: 1, ms: 10_000 },
  { part: 0, rows: 1, ms: 60_000 },
];

/** By the pace since workers began on it, after it was started or resumed: that functions start is no part of it. */
function etaSeconds(
  { state, layout, startedAt, settledAtStart = 0 }: ImportItem,
  { done, failed, beganAt }: Progress,
  now: number,
): number | undefined {
  if (state !== 'running' || layout === undefined || startedAt === undefined) return undefined;
  const settled = done + failed - settledAtStart;
  const workedMs = now - (beganAt ?? startedAt);
  const isPace = PACES.some(
    ({ part, rows, ms }) => settled >= Math.max(rows, part * layout.total) && workedMs >= ms,
  );
  if (!isPace) return undefined;
  const left = layout.total - done - failed;
  return Math.ceil((left * workedMs) / settled / 1000);
}

const isoOf = (at: number) => new Date(at).toISOString();
