import { Aws, Duration, RemovalPolicy, Token } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import {
  BlockPublicAccess,
  Bucket,
  BucketEncryption,
  type BucketProps,
  CfnBucket,
  type CorsRule,
  HttpMethods,
  type IBucket,
} from 'aws-cdk-lib/aws-s3';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { fitsInHost } from '../../shared/signing/bucket-address.ts';
import type { Config } from '../config-schema.ts';
import { output } from './output.ts';

const baseline = {
  encryption: BucketEncryption.S3_MANAGED,
  enforceSSL: true,
  minimumTLSVersion: 1.2,
  removalPolicy: RemovalPolicy.RETAIN,
  lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(2) }],
} satisfies BucketProps;

function isBucket(construct: object): construct is IBucket {
  return 'bucketArn' in construct && 'addToResourcePolicy' in construct;
}

/** Under exactOptionalPropertyTypes the compiler does not take a `Bucket` for an `IBucket`. */
function owned(scope: Construct, id: string, props: BucketProps): IBucket {
  const bucket = new Bucket(scope, id, props);
  if (!isBucket(bucket)) throw new TypeError(`${id} is not a bucket`);
  return bucket;
}

export function originalsBucket(scope: Construct, config: Config): IBucket {
  if (config.adopt.originals !== undefined) {
    return Bucket.fromBucketName(scope, 'Originals', config.adopt.originals);
  }
  return owned(scope, 'Originals', {
    ...baseline,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    cors: uploadedByForm(config),
  });
}

function uploadedByForm({ allowedOrigins }: Config): CorsRule[] {
  return [
    {
      allowedMethods: [HttpMethods.POST],
      allowedOrigins,
      allowedHeaders: ['*'],
      maxAge: 86_400,
    },
  ];
}

export function thumbnailsBucket(scope: Construct, config: Config): IBucket {
  if (config.adopt.thumbnails !== undefined) {
    return Bucket.fromBucketName(scope, 'Thumbnails', config.adopt.thumbnails);
  }
  const isPublic = config.delivery.kind === 'public';
  return owned(scope, 'Thumbnails', {
    ...baseline,
    publicReadAccess: isPublic,
    blockPublicAccess: isPublic ? BlockPublicAccess.BLOCK_ACLS_ONLY : BlockPublicAccess.BLOCK_ALL,
    cors: [
      {
        allowedMethods: [HttpMethods.GET, HttpMethods.HEAD],
        allowedOrigins: config.allowedOrigins,
        allowedHeaders: ['*'],
        maxAge: 86_400,
      },
    ],
  });
}

/** What it holds can be built again, but CloudFormation deletes no bucket that is not empty. */
export function pagesBucket(scope: Construct): IBucket {
  return owned(scope, 'Pages', { ...baseline, blockPublicAccess: BlockPublicAccess.BLOCK_ALL });
}

/** Sources as they were uploaded, the chunks that were made of them, and what was exported. */
export function importsBucket(scope: Construct, config: Config): IBucket {
  const { sourceDays } = config.summaries.retention;
  return owned(scope, 'Imports', {
    ...baseline,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    cors: uploadedByForm(config),
    lifecycleRules: [
      { id: 'sources', prefix: 'sources/', expiration: Duration.days(sourceDays) },
      { id: 'chunks', prefix: 'chunks/', expiration: Duration.days(sourceDays) },
      // An export is made again when it is asked for again.
      { id: 'exports', prefix: 'exports/', expiration: Duration.days(7) },
      { id: 'unfinished', abortIncompleteMultipartUploadAfter: Duration.days(1) },
    ],
  });
}

/**
 * Where browsers find a bucket's objects: `bucketAddress` with CloudFormation's names for what is
 * only known when the stack is deployed. Buckets that the stack creates have names that fit in a host.
 */
export function browserAddress({ bucketName, stack }: IBucket): { origin: string; path: string } {
  const regional = `s3.${stack.region}.${stack.urlSuffix}`;
  return Token.isUnresolved(bucketName) || fitsInHost(bucketName)
    ? { origin: `https://${bucketName}.${regional}`, path: '' }
    : { origin: `https://${regional}`, path: `/${bucketName}` };
}

/**
 * Sends the bucket's events to the queue through the bucket's own property: `addEventNotification`
 * would add a custom resource and its function.
 *
 * @param prefix of the keys that it is told of; all of them without.
 */
export function notify(
  scope: Construct,
  from: IBucket,
  queue: Queue,
  events: readonly string[],
  prefix?: string,
): void {
  const granted = queue.addToResourcePolicy(
    // The bucket waits for this policy (S3 tries the queue when the notification is set), so the
    // policy cannot name the bucket in turn: it admits this account's buckets.
    new PolicyStatement({
      principals: [new ServicePrincipal('s3.amazonaws.com')],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
  const bucket = from.node.defaultChild;
  if (bucket instanceof CfnBucket) {
    const filter =
      prefix === undefined
        ? {}
        : { filter: { s3Key: { rules: [{ name: 'prefix', value: prefix }] } } };
    bucket.notificationConfiguration = {
      queueConfigurations: events.map((event) => ({ event, queue: queue.queueArn, ...filter })),
    };
    if (granted.policyDependable !== undefined) bucket.node.addDependency(granted.policyDependable);
    return;
  }
  output(
    scope,
    'NotificationsToAdd',
    `{"QueueConfigurations":[{"QueueArn":"${queue.queueArn}","Events":${JSON.stringify(events)}}]}`,
  );
}
