import {
  GetBucketNotificationConfigurationCommand,
  HeadBucketCommand,
  NotFound,
  type S3Client,
} from '@aws-sdk/client-s3';
import * as z from 'zod';

const notificationsSchema = z.object({
  QueueConfigurations: z.array(z.object({ QueueArn: z.string() })),
});

/** Whether there is no such bucket. One that may not be looked at may well be there. */
export async function isMissing(s3: S3Client, bucket: string): Promise<boolean> {
  try {
    await s3.send(new HeadBucketCommand({ Bucket: bucket }));
    return false;
  } catch (error) {
    return error instanceof NotFound;
  }
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
