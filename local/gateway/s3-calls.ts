import type { Call } from '../iam/authority.ts';
import type { Operation, S3Request } from './operation.ts';
import { copySourceOf } from './writes.ts';

/** What an operation needs to be allowed, besides what its body names. */
export function callsOf(operation: Operation, request: S3Request): readonly Call[] {
  const { bucket, key } = request;
  switch (operation) {
    case 'ListBuckets':
      return [{ action: 's3:ListAllMyBuckets', resource: '*' }];
    case 'HeadBucket':
    case 'ListObjects':
    case 'ListObjectsV2':
      return [listing(bucket)];
    case 'GetBucketLocation':
      return [{ action: 's3:GetBucketLocation', resource: bucketArn(bucket) }];
    case 'GetObject':
    case 'HeadObject':
      return [of('GetObject', bucket, key)];
    case 'GetObjectAttributes':
      return [of('GetObject', bucket, key), of('GetObjectAttributes', bucket, key)];
    case 'PutObject':
    case 'CreateMultipartUpload':
    case 'UploadPart':
    case 'CompleteMultipartUpload':
      return [of('PutObject', bucket, key)];
    case 'CopyObject': {
      const source = copySourceOf(request);
      return [of('GetObject', source.bucket, source.key), of('PutObject', bucket, key)];
    }
    case 'AbortMultipartUpload':
      return [of('AbortMultipartUpload', bucket, key)];
    case 'DeleteObject':
      return [of('DeleteObject', bucket, key)];
    case 'DeleteObjects':
    case 'PostObject':
      // Their keys are in the body: each is looked at once that is read.
      return [];
    default:
      return operation satisfies never;
  }
}

export function of(operation: string, bucket: string, key: string): Call {
  return { action: `s3:${operation}`, resource: `${bucketArn(bucket)}/${key}` };
}

/** Whoever may not list a bucket does not hear which objects are not there. */
export function listing(bucket: string): Call {
  return { action: 's3:ListBucket', resource: bucketArn(bucket) };
}

function bucketArn(bucket: string): string {
  return `arn:aws:s3:::${bucket}`;
}
