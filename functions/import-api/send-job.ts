import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { encodeJob, type ImportJob } from '../../shared/messages/import-job.ts';
import type { Service } from './service.ts';

/** Asks intake to do something for an import as a whole. */
export async function sendJob({ jobs }: Service, job: ImportJob): Promise<void> {
  await jobs.client.send(
    new SendMessageCommand({ QueueUrl: jobs.url, MessageBody: encodeJob(job) }),
  );
}
