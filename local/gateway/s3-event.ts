import { ACCOUNT, REGION } from '../template/intrinsics.ts';
import type { Intent } from './journal.ts';
import { requestId } from './s3-error.ts';

/** What a created object is, as its event tells; nothing of a removed one. */
export interface CreatedObject {
  readonly size: number;
  /** Without quotation marks. */
  readonly etag: string;
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html */
export function s3Event(intent: Intent, created: CreatedObject | undefined): object {
  return {
    Records: [
      {
        eventVersion: '2.1',
        eventSource: 'aws:s3',
        awsRegion: REGION,
        eventTime: new Date().toISOString(),
        eventName: intent.eventName,
        userIdentity: { principalId: ACCOUNT },
        requestParameters: { sourceIPAddress: '127.0.0.1' },
        responseElements: { 'x-amz-request-id': requestId(), 'x-amz-id-2': requestId() },
        s3: {
          s3SchemaVersion: '1.0',
          configurationId: 'local',
          bucket: {
            name: intent.bucket,
            ownerIdentity: { principalId: ACCOUNT },
            arn: `arn:aws:s3:::${intent.bucket}`,
          },
          object: {
            key: encodeEventKey(intent.key),
            ...(created === undefined ? {} : { size: created.size, eTag: created.etag }),
            sequencer: intent.id,
          },
        },
      },
    ],
  };
}

/** As Java's URLEncoder does: a space is `+`, and `/` stays, as S3 leaves it. */
function encodeEventKey(key: string): string {
  return encodeURIComponent(key)
    .replace(/[!'()~]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+')
    .replaceAll('%2F', '/');
}
