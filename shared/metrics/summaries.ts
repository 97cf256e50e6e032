import type { MetricTable } from './definition.ts';

const WORKER = ['chunk-worker'] as const;
const INTAKE = ['import-intake'] as const;
const REAPER = ['import-reaper'] as const;
const FAILURES = ['chunk-failures'] as const;

const byMode = { mode: ['interactive', 'bulk'] } as const;
const ofWorker = { unit: 'Count', services: WORKER, dimensions: byMode } as const;
const timeOfWorker = { unit: 'Milliseconds', services: WORKER, dimensions: byMode } as const;

export const SUMMARY_METRICS = {
  /** Calls of the provider that ended, with an answer or an error. */
  Calls: ofWorker,
  /** Of these, those that were refused for the rate. */
  CallsRefused: ofWorker,
  /** Of these, those that brought no answer for another reason. */
  CallsFailed: ofWorker,
  InputTokens: ofWorker,
  OutputTokens: ofWorker,
  /** The sum of the calls' durations: ÷ the period it is how many were in flight. */
  CallTime: timeOfWorker,
  /** Of each call. */
  ServiceTime: timeOfWorker,
  /** Sums over rows, by what they waited for: ÷ the period it is how many waited at once. */
  GateWait: timeOfWorker,
  AllowanceWait: timeOfWorker,
  YieldWait: timeOfWorker,
  RefusedWait: timeOfWorker,
  RowsDone: ofWorker,
  RowsFailed: ofWorker,
  /** Chunks that are left for another message: time or the allowance had run out. */
  ChunksHandedBack: ofWorker,
  /** Of those that were settled. */
  ChunkDuration: timeOfWorker,

  RowsRead: { unit: 'Count', services: INTAKE },
  ChunksSent: { unit: 'Count', services: INTAKE },
  ImportsRefused: { unit: 'Count', services: INTAKE },

  /** As the reaper meets them, each minute. */
  ImportsRunning: { unit: 'Count', services: REAPER },
  ImportsStalled: { unit: 'Count', services: REAPER },
  ImportsCompleted: { unit: 'Count', services: [...WORKER, ...FAILURES, ...REAPER] },

  ChunksGivenUp: { unit: 'Count', services: FAILURES },
  JobsGivenUp: { unit: 'Count', services: FAILURES },
} as const satisfies MetricTable;
