import { HeadBucketCommand, NotFound, type S3Client } from '@aws-sdk/client-s3';

/** Whether there is no such bucket. One that may not be looked at may well be there. */
export async function isMissing(s3: S3Client, bucket: string): Promise<boolean> {
  try {
    await s3.send(new HeadBucketCommand({ Bucket: bucket }));
    return false;
  } catch (error) {
    return error instanceof NotFound;
  }
}
