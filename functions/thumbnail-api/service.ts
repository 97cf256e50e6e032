import type { Bounds } from '../../shared/access/bounds.ts';
import type { Caller } from '../../shared/access/caller.ts';
import type { Credentials } from '../../shared/signing/signing-key.ts';
import type { UploadFormSigner } from '../../shared/signing/upload-form.ts';
import type { Urls } from '../../shared/thumbnails/delivery.ts';
import type { ImagesTable } from '../../shared/thumbnails/images-table.ts';
import type { Originals } from '../../shared/thumbnails/originals.ts';
import type { Queue } from '../../shared/thumbnails/send-requests.ts';
import type { Variant } from '../../shared/thumbnails/variant.ts';

/** What the API's verbs work with. */
export interface Service {
  /** Whose request it is. */
  caller: Caller;
  /** What one caller may cause in a minute. */
  bounds: Bounds;
  table: ImagesTable;
  originals: Originals;
  queue: Queue;
  variants: readonly Variant[];
  urls: (now: Date) => Promise<Urls>;
  uploads: { maxBytes: number; sign: UploadFormSigner; credentials: () => Promise<Credentials> };
  now: () => number;
  /** Counts for the dashboards. */
  count: (
    metric: 'Hits' | 'Misses' | 'Pending' | 'Failing' | 'Jobs' | 'JobsUnsent',
    value: number,
  ) => void;
  warn: (message: string, details: Record<string, unknown>) => void;
}
