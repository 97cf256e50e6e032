import type { ImportsBucket } from '../../shared/imports/chunk-objects.ts';
import type { CsvLimits } from '../../shared/imports/csv/limits.ts';
import type { Mode } from '../../shared/imports/import-item.ts';
import type { ImportsTable } from '../../shared/imports/imports-table.ts';
import type { Queue } from '../../shared/imports/send-chunks.ts';
import type { Prices } from '../../shared/summaries/estimate.ts';
import type { PromptLimits } from '../../shared/summaries/prompt.ts';

/** What intake's verbs work with. */
export interface Desk {
  table: ImportsTable;
  bucket: ImportsBucket;
  queues: Readonly<Record<Mode, Queue>>;
  limits: CsvLimits;
  chunkRows: number;
  prompt: PromptLimits;
  prices: Prices;
  now: () => number;
}
