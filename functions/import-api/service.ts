import type { S3Client } from '@aws-sdk/client-s3';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { FleetTable } from '../../shared/fleet/line-item.ts';
import type { ByMode } from '../../shared/fleet/measure.ts';
import type { FleetPlan } from '../../shared/fleet/plan.ts';
import type { ChunkQueue } from '../../shared/fleet/queue-depth.ts';
import type { ImportLimits } from '../../shared/imports/import-limits.ts';
import type { ImportsTable } from '../../shared/imports/imports-table.ts';
import type { UrlSigner } from '../../shared/signing/sign-url.ts';
import type { Credentials } from '../../shared/signing/signing-key.ts';
import type { UploadFormSigner } from '../../shared/signing/upload-form.ts';
import type { ModelSettings } from '../../shared/summaries/model-settings.ts';
import type { PromptSettings } from '../../shared/summaries/prompt-settings.ts';

/** What the API's verbs work with. */
export interface Service {
  table: ImportsTable;
  bucket: { client: S3Client; name: string };
  jobs: { client: SQSClient; url: string };
  fleet: { table: FleetTable; plan: FleetPlan; queues: ByMode<ChunkQueue> };
  limits: ImportLimits;
  model: ModelSettings;
  prompt: PromptSettings;
  signing: {
    upload: UploadFormSigner;
    download: UrlSigner;
    credentials: () => Promise<Credentials>;
  };
  now: () => number;
}
