import { Logger } from '@aws-lambda-powertools/logger';
import { planFleet } from '../../shared/fleet/plan.ts';
import { createEmitter } from '../../shared/metrics/emitter.ts';
import { SUMMARY_METRICS } from '../../shared/metrics/summaries.ts';
import { createDynamo, createS3, createSqs } from '../../shared/runtime/clients.ts';
import { httpHandler } from '../../shared/runtime/http-stack.ts';
import { once } from '../../shared/runtime/once.ts';
import { createUrlSigner } from '../../shared/signing/sign-url.ts';
import { createUploadFormSigner } from '../../shared/signing/upload-form.ts';
import { readEnv } from './env.ts';
import { routesOf } from './routes.ts';
import type { SharedService } from './service.ts';

// Built on cold start.

/** Seconds in which an upload must have begun. */
const UPLOAD_LIFETIME = 3600;
/** Seconds. A URL lives for two: an export is downloaded at once, or asked for again. */
const DOWNLOAD_WINDOW = 450;

const service = once((): SharedService => {
  const env = readEnv();
  const s3 = createS3();
  const place = {
    region: env.AWS_REGION,
    bucket: env.IMPORTS_BUCKET,
    ...(env.AWS_ENDPOINT_URL_S3 === undefined ? {} : { endpoint: env.AWS_ENDPOINT_URL_S3 }),
  };
  const dynamo = createDynamo();
  const sqs = createSqs();
  return {
    authentication: env.AUTHENTICATION,
    bounds: env.BOUNDS,
    table: { client: dynamo, name: env.IMPORTS_TABLE },
    bucket: { client: s3, name: env.IMPORTS_BUCKET },
    jobs: { client: sqs, url: env.JOBS_QUEUE_URL },
    fleet: {
      table: { client: dynamo, name: env.FLEET_TABLE },
      plan: planFleet(env.PLAN),
      queues: {
        interactive: { client: sqs, url: env.INTERACTIVE_QUEUE_URL },
        bulk: { client: sqs, url: env.BULK_QUEUE_URL },
      },
    },
    limits: env.LIMITS,
    model: env.MODEL,
    prompt: env.PROMPT,
    signing: {
      upload: createUploadFormSigner(place, UPLOAD_LIFETIME),
      download: createUrlSigner(place, DOWNLOAD_WINDOW),
      credentials: () => s3.config.credentials(),
    },
    now: Date.now,
  };
});

// Called by AWS: the HTTP API's routes.

export const handler = httpHandler(routesOf(service), {
  logger: new Logger(),
  metrics: createEmitter(SUMMARY_METRICS),
});
