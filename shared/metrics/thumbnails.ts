import type { MetricTable } from './definition.ts';

const API = ['thumbnail-api'] as const;
const WORKER = ['thumbnail-worker'] as const;

export const THUMBNAIL_METRICS = {
  /** Images that were asked for and had all that was asked. */
  Hits: { unit: 'Count', services: API },
  /** Cold ones: nobody was at it, so that this request set it going, or lost to one that did just then. */
  Misses: { unit: 'Count', services: API },
  /** Those that somebody was at already. */
  Pending: { unit: 'Count', services: API },
  /** Those that failed, and are not to be tried again yet. */
  Failing: { unit: 'Count', services: API },
  /** Claims that were won and whose message was sent. */
  Jobs: { unit: 'Count', services: API },
  JobsUnsent: { unit: 'Count', services: API },
  /** Of requests for images, from the handler's begin to its end; `cold` with one miss or more. */
  AnswerTime: { unit: 'Milliseconds', services: API, dimensions: { answer: ['warm', 'cold'] } },

  /** `wanted` by a viewer or a backfill, or `created`: S3 told of an upload. */
  ImagesMade: { unit: 'Count', services: WORKER, dimensions: { work: ['wanted', 'created'] } },
  ThumbnailsMade: { unit: 'Count', services: WORKER },
  /** From claim to record, of images that were made. */
  MakeDuration: { unit: 'Milliseconds', services: WORKER },
  /** From the claim of the viewer who met it cold to the record of its thumbnails, retries included. */
  MissToReady: { unit: 'Milliseconds', services: WORKER },
  ImagesFailed: {
    unit: 'Count',
    services: WORKER,
    dimensions: { class: ['unsupported', 'corrupt', 'too-large', 'missing', 'transient'] },
  },
  /** Messages that come back after an error that another attempt may cure. */
  Retries: { unit: 'Count', services: WORKER },

  ImagesGivenUp: { unit: 'Count', services: ['thumbnail-failures'] },
} as const satisfies MetricTable;
