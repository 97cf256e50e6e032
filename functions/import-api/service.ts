import type { S3Client } from '@aws-sdk/client-s3';
import type { SQSClient } from '@aws-sdk/client-sqs';
import type { Bounds } from '../../shared/access/bounds.ts';
import type { AuthenticationKind, Caller } from '../../shared/access/caller.ts';
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
  /** Whose request it is. */
  caller: Caller;
  /** What one caller may cause in a minute. */
  bounds: Bounds;
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

/** The same for all requests; who calls is each one's own. */
export type SharedService = Omit<Service, 'caller'> & { authentication: AuthenticationKind };
