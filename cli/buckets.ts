import {
  GetBucketNotificationConfigurationCommand,
  HeadBucketCommand,
  NotFound,
  type S3Client,
} from '@aws-sdk/client-s3';
import * as z from 'zod';
import { absent, SilentError } from './aws-failure.ts';
import type { Target } from './target.ts';

const notificationsSchema = z.object({
  QueueConfigurations: z.array(z.object({ QueueArn: z.string() })),
});

/** Whether there is no such bucket. One that may not be looked at may well be there. */
export async function isMissing(s3: S3Client, bucket: string): Promise<boolean> {
  try {
    await s3.send(new HeadBucketCommand({ Bucket: bucket }));
    return false;
  } catch (error) {
    if (error instanceof SilentError) throw error;
    return error instanceof NotFound;
  }
}

/** @throws UsageError where there is no such bucket, which the answer to a request for an object does not say. */
export async function requireBucket(
  s3: S3Client,
  bucket: string,
  target: Pick<Target, 'endpoints' | 'source'>,
): Promise<void> {
  if (await isMissing(s3, bucket)) throw absent('bucket', bucket, target);
}

/** @param wanted the output that says what an adopted bucket has to tell, and whom. */
export async function isToldOfUploads(
  s3: S3Client,
  bucket: string,
  wanted: string,
): Promise<boolean> {
  const asked = new GetBucketNotificationConfigurationCommand({ Bucket: bucket });
  const { QueueConfigurations = [] } = await s3.send(asked);
  const queues = notificationsSchema.parse(JSON.parse(wanted)).QueueConfigurations;
  return queues.every(({ QueueArn }) =>
    QueueConfigurations.some((told) => told.QueueArn === QueueArn),
  );
}
