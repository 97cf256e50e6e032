import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { templateOf } from './synth.ts';

const template = templateOf();

const resources = (type: string) =>
  Object.entries(z.record(z.string(), z.unknown()).parse(template.findResources(type)));

describe('the buckets', () => {
  test('are private, encrypted and only reached over TLS 1.2', () => {
    template.resourceCountIs('AWS::S3::Bucket', 4);
    template.allResourcesProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: {
        BlockPublicAcls: true,
        BlockPublicPolicy: true,
        IgnorePublicAcls: true,
        RestrictPublicBuckets: true,
      },
      BucketEncryption: Match.anyValue(),
    });
    template.allResourcesProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
          Match.objectLike({
            Effect: 'Deny',
            Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } },
          }),
        ]),
      },
    });
  });

  const delivered = (kind: 'presigned' | 'public' | 'cdn') =>
    templateOf({
      changes: { delivery: kind === 'presigned' ? { kind, windowSeconds: 3600 } : { kind } },
    });
  const policySchema = z.object({
    Properties: z.object({
      PolicyDocument: z.object({
        Statement: z.array(
          z.object({ Effect: z.string(), Principal: z.unknown(), Action: z.unknown() }),
        ),
      }),
    }),
  });

  /** What anybody may do, by the policy that says so. */
  const forAnybody = (of: ReturnType<typeof templateOf>) =>
    Object.entries(of.findResources('AWS::S3::BucketPolicy')).flatMap(([id, policy]) =>
      policySchema
        .parse(policy)
        .Properties.PolicyDocument.Statement.filter(
          ({ Effect, Principal }) => Effect === 'Allow' && /"\*"/.test(JSON.stringify([Principal])),
        )
        .map(({ Action }) => `${id.replace(/[0-9A-F]{8}$/, '')}: ${String(Action)}`),
    );

  /** Those that do not have all four blocks. */
  const unblocked = (of: ReturnType<typeof templateOf>) =>
    Object.entries(of.findResources('AWS::S3::Bucket'))
      .filter(([, bucket]) => {
        const block = bucket.Properties?.PublicAccessBlockConfiguration ?? {};
        const all = [
          'BlockPublicAcls',
          'BlockPublicPolicy',
          'IgnorePublicAcls',
          'RestrictPublicBuckets',
        ];
        return !all.every((name) => block[name] === true);
      })
      .map(([id]) => id.replace(/[0-9A-F]{8}$/, ''));

  test('are never a public bucket, but that of the thumbnails where their delivery is public, to read', () => {
    for (const kind of ['presigned', 'cdn'] as const) {
      expect(forAnybody(delivered(kind))).toEqual([]);
      expect(unblocked(delivered(kind))).toEqual([]);
    }
    expect(forAnybody(delivered('public'))).toEqual(['ThumbnailsPolicy: s3:GetObject']);
    expect(unblocked(delivered('public'))).toEqual(['Thumbnails']);
  });

  test('let abandoned multipart uploads expire, and outlive the stack', () => {
    template.allResourcesProperties('AWS::S3::Bucket', {
      LifecycleConfiguration: {
        Rules: Match.arrayWith([
          Match.objectLike({ AbortIncompleteMultipartUpload: Match.anyValue(), Status: 'Enabled' }),
        ]),
      },
    });
    template.allResources('AWS::S3::Bucket', { DeletionPolicy: 'Retain' });
  });

  test('notify the eager queue of what is created and removed, without a custom resource', () => {
    template.hasResource('AWS::S3::Bucket', {
      Properties: {
        NotificationConfiguration: {
          QueueConfigurations: [
            { Event: 's3:ObjectCreated:*', Queue: Match.anyValue() },
            { Event: 's3:ObjectRemoved:*', Queue: Match.anyValue() },
          ],
        },
      },
      // S3 tries the queue when the notification is set.
      DependsOn: Match.arrayWith([Match.stringLikeRegexp('EagerQueuePolicy')]),
    });
    expect(resources('AWS::Lambda::Function')).toHaveLength(9);
    const types = Object.values(template.toJSON().Resources).map(
      (each) => z.object({ Type: z.string() }).parse(each).Type,
    );
    expect(
      types.filter((type) => type.startsWith('Custom::') || type.includes('CustomResource')),
    ).toEqual([]);
  });

  test('open the thumbnails, and nothing else, where delivery is public', () => {
    const open = templateOf({ changes: { delivery: { kind: 'public' } } });
    const reads = Match.objectLike({
      Effect: 'Allow',
      Principal: { AWS: '*' },
      Action: 's3:GetObject',
    });
    const policies = open.findResources('AWS::S3::BucketPolicy', {
      Properties: { PolicyDocument: { Statement: Match.arrayWith([reads]) } },
    });
    expect(Object.keys(policies)).toEqual([expect.stringMatching(/^ThumbnailsPolicy/)]);
  });

  test('are reached through CloudFront by origin access control where delivery is cdn', () => {
    const cdn = templateOf({ changes: { delivery: { kind: 'cdn' }, pages: false } });
    cdn.resourceCountIs('AWS::CloudFront::Distribution', 1);
    cdn.resourceCountIs('AWS::CloudFront::OriginAccessControl', 1);
    cdn.allResourcesProperties('AWS::S3::Bucket', {
      PublicAccessBlockConfiguration: { BlockPublicPolicy: true },
    });
  });

  test('that exist already are adopted, and the stack says what to add to them', () => {
    const adopting = templateOf({
      changes: { adopt: { originals: 'my-photos', thumbnails: 'small' }, pages: false },
    });
    expect(Object.keys(adopting.findResources('AWS::S3::Bucket'))).toEqual([
      expect.stringMatching(/^SummariesImports/),
    ]);
    const { Value } = adopting.findOutputs('NotificationsToAdd').NotificationsToAdd ?? {};
    expect(JSON.stringify(Value)).toMatch(/ThumbnailsEager.*s3:ObjectCreated:\*.*s3:ObjectRemoved/);
    adopting.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { ORIGINALS_BUCKET: 'my-photos', THUMBNAILS_BUCKET: 'small' } },
    });
  });
});

describe('the queues', () => {
  test('each have a dead-letter queue that keeps letters for 14 days', () => {
    const queues = resources('AWS::SQS::Queue').map(([id, each]) => ({
      id,
      ...z
        .object({
          Properties: z.object({
            RedrivePolicy: z.object({ maxReceiveCount: z.number() }).optional(),
            MessageRetentionPeriod: z.number(),
            VisibilityTimeout: z.number(),
          }),
        })
        .parse(each).Properties,
    }));
    expect(queues).toHaveLength(10);
    for (const queue of queues) {
      if (queue.id.includes('DeadLetters')) expect(queue.MessageRetentionPeriod).toBe(14 * 86_400);
      else expect(queue.RedrivePolicy?.maxReceiveCount).toBeGreaterThanOrEqual(5);
    }
  });

  test('hide a message for six times as long as its reader may run', () => {
    template.hasResourceProperties('AWS::SQS::Queue', {
      VisibilityTimeout: 360,
      RedrivePolicy: Match.anyValue(),
    });
    template.hasResourceProperties('AWS::Lambda::Function', { Timeout: 60, MemorySize: 1769 });
  });

  test('feed no more workers than are reserved, and take answers message by message', () => {
    const mappings = resources('AWS::Lambda::EventSourceMapping').map(([id, each]) => ({
      id,
      ...z
        .object({
          Properties: z.object({
            FunctionResponseTypes: z.array(z.string()),
            ScalingConfig: z.object({ MaximumConcurrency: z.number() }),
          }),
        })
        .parse(each).Properties,
    }));
    expect(mappings).toHaveLength(10);
    for (const mapping of mappings) {
      expect(mapping.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
    }
    const workers = mappings.filter(({ id }) => id.startsWith('ThumbnailsWorker'));
    const most = workers.reduce((sum, each) => sum + each.ScalingConfig.MaximumConcurrency, 0);
    expect(workers).toHaveLength(2);
    template.hasResourceProperties('AWS::Lambda::Function', { ReservedConcurrentExecutions: most });
  });

  test('reserve nothing where an account is too new for it', () => {
    const young = templateOf({
      changes: { concurrency: { onDemand: 3, eager: 2, reserved: false, account: 10 } },
    });
    young.allResourcesProperties('AWS::Lambda::Function', {
      ReservedConcurrentExecutions: Match.absent(),
    });
  });
});

test('the functions run on Node 24 for arm64, unless another is configured', () => {
  template.allResourcesProperties('AWS::Lambda::Function', {
    Runtime: 'nodejs24.x',
    Architectures: ['arm64'],
  });
  templateOf({ changes: { architecture: 'x86_64' } }).allResourcesProperties(
    'AWS::Lambda::Function',
    { Architectures: ['x86_64'] },
  );
});

test('the HTTP API answers the allowed origins only, and is throttled', () => {
  templateOf({ changes: { allowedOrigins: ['https://shop.example'] } }).hasResourceProperties(
    'AWS::ApiGatewayV2::Api',
    { CorsConfiguration: Match.objectLike({ AllowOrigins: ['https://shop.example'] }) },
  );
  template.hasResourceProperties('AWS::ApiGatewayV2::Stage', {
    DefaultRouteSettings: { ThrottlingBurstLimit: 1000, ThrottlingRateLimit: 500 },
  });
  const routes = resources('AWS::ApiGatewayV2::Route').map(
    ([, each]) =>
      z.object({ Properties: z.object({ RouteKey: z.string() }) }).parse(each).Properties.RouteKey,
  );
  expect(routes.filter((key) => !/\/(imports|fleet)/.test(key)).sort()).toEqual([
    // What there is no route for is answered in the shape of every other error.
    '$default',
    'GET /galleries',
    'GET /images',
    'GET /img',
    'GET /thumbnail',
    'OPTIONS /{proxy+}',
    'POST /thumbnails',
    'POST /uploads',
  ]);
});

test('the local template differs from the deployed one in the processor, the bundles and the issuer alone', () => {
  const strip = (text: string) =>
    text
      .replaceAll(/"S3Key":"[^"]*"/g, '"S3Key":"…"')
      .replaceAll(/https:\/\/issuer\.(example\/pool|example|glimpse\.invalid)/g, 'https://issuer')
      .replaceAll(/"Architectures":\["[^"]*"\]/g, '"Architectures":["…"]');
  const local = strip(JSON.stringify(templateOf({ local: true }).toJSON()));
  expect(local).toBe(strip(JSON.stringify(template.toJSON())));
});

test('locally a bucket answers in place of the CDN, and nothing is adopted', () => {
  const changes = { delivery: { kind: 'cdn' }, adopt: { originals: 'my-photos' } } as const;
  const local = templateOf({ changes, local: true });
  local.resourceCountIs('AWS::CloudFront::Distribution', 1);
  local.resourceCountIs('AWS::S3::Bucket', 4);
  local.hasResourceProperties('AWS::Lambda::Function', {
    Environment: { Variables: { DELIVERY: '{"kind":"public"}' } },
  });
});
