import type { FailureClass } from '../../shared/thumbnails/failure.ts';
import type { ImagesTable } from '../../shared/thumbnails/images-table.ts';
import type { Originals } from '../../shared/thumbnails/originals.ts';
import type { ThumbnailsBucket } from '../../shared/thumbnails/thumbnails-bucket.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';

/** What the worker's verbs work with. */
export interface Workshop {
  table: ImagesTable;
  originals: Originals;
  thumbnails: ThumbnailsBucket;
  variants: readonly Variant[];
  /** Of one original. */
  maxBytes: number;
  /** Of the whole process. */
  memoryBytes: number;
  now: () => number;
  /** Galleries that this process has added to the list already. */
  galleries: Set<string>;
}

export type Outcome =
  /** With the milliseconds since a viewer met it cold, where one did. */
  | { kind: 'made'; variants: number; missToReadyMs?: number }
  | { kind: 'done' | 'stale' | 'removed' }
  | { kind: 'failed'; class: FailureClass; reason: string };
