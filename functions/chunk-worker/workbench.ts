import type { Allowance } from '../../shared/fleet/allowance.ts';
import type { ImportsBucket } from '../../shared/imports/chunk-objects.ts';
import type { ImportItem, Tallies } from '../../shared/imports/import-item.ts';
import type { ImportsTable } from '../../shared/imports/imports-table.ts';
import type { Queue } from '../../shared/imports/send-chunks.ts';
import type { Prices } from '../../shared/summaries/estimate.ts';
import type { PromptLimits } from '../../shared/summaries/prompt.ts';
import type { Provider } from '../../shared/summaries/provider.ts';
import type { Gate } from './gate.ts';
import type { Meter } from './meter.ts';
import type { Yielding } from './yielding.ts';

/** What the worker's verbs work with. */
export interface Workbench {
  table: ImportsTable;
  bucket: ImportsBucket;
  /** The queue that this worker reads, to hand chunks back. */
  queue: Queue;
  /** Built with its key at the first call. @throws what `verdictOf` knows */
  provider: () => Promise<Provider>;
  limits: PromptLimits;
  prices: Prices;
  callTimeoutMs: number;
  gate: Gate;
  /** This process's part of what all may call. */
  allowance: Allowance;
  yielding: Yielding;
  meter: Meter;
  now: () => number;
  sleep: (ms: number) => Promise<unknown>;
  /** 0 ≤ x < 1. */
  random: () => number;
  /** Told of an import that this worker completed. */
  completed: (item: ImportItem) => void;
  /** Told of a row that is written as failed, and why, by code. */
  rowFailed: (place: Place, code: string) => void;
  /** Told of a call that brought no answer, unless it was refused for the rate. */
  callFailed: (place: Place, code: string, error: Error) => void;
}

/** Where something went wrong, for a log. */
export interface Place {
  importId: string;
  chunk: number;
  row: number;
}

/** Milliseconds that rows of a chunk waited, by what for. */
export type Waits = Pick<Tallies, 'gateMs' | 'allowanceMs' | 'yieldMs' | 'refusedMs'>;
