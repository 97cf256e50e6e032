import { GetApiCommand, GetRoutesCommand, GetStageCommand } from '@aws-sdk/client-apigatewayv2';
import {
  DescribeAlarmsCommand,
  GetDashboardCommand,
  ListDashboardsCommand,
} from '@aws-sdk/client-cloudwatch';
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { ListRulesCommand, ListTargetsByRuleCommand } from '@aws-sdk/client-eventbridge';
import {
  GetFunctionCommand,
  GetPolicyCommand,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda';
import {
  GetBucketCorsCommand,
  GetBucketEncryptionCommand,
  GetBucketLifecycleConfigurationCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketPolicyCommand,
  GetPublicAccessBlockCommand,
} from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { z } from 'zod';
import { isToldOfUploads } from '../../cli/buckets.ts';
import { readDashboard } from '../../local/dashboards/dashboard-body.ts';
import { awsClients, type Deployed, deployedResources, namesOf } from './aws.ts';
import { ISSUED } from './cdk.ts';
import { authorizersOf } from './deployed-stack.ts';

// What is there after the deployment, asked of each service, against what the design wants. The
// values are those of cdk/config.ts as it comes; no template is read.

const aws = awsClients(inject('endpoint'));
let resources: Deployed[];
beforeAll(async () => {
  resources = await deployedResources(aws);
});

const names = (type: string) => namesOf(resources, type);
function nameOf(type: string, name: string): string {
  const found = names(type).get(name);
  if (found === undefined) throw new Error(`There is no ${type} ${name}.`);
  return found;
}

/** The answers about all resources of a type, by logical name. */
async function eachOf<T>(type: string, ask: (name: string) => Promise<T>) {
  const all = [...names(type)];
  const answers = await Promise.all(all.map(async ([name, id]) => [name, await ask(id)] as const));
  return Object.fromEntries(answers);
}

const statementSchema = z.object({
  Effect: z.string(),
  Principal: z.record(z.string(), z.unknown()),
  Action: z.unknown(),
  Condition: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
});
type Statement = z.infer<typeof statementSchema>;

const statementsOf = (policy: string | undefined): Statement[] =>
  z.object({ Statement: z.array(statementSchema) }).parse(JSON.parse(policy ?? '')).Statement;

describe('the queues', () => {
  const attributes = () =>
    eachOf('AWS::SQS::Queue', async (QueueUrl) => {
      const asked = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] });
      return (await aws.sqs.send(asked)).Attributes ?? {};
    });
  const WORK = {
    // Six times what their readers may take, seconds.
    ThumbnailsOnDemand: 360,
    ThumbnailsEager: 360,
    SummariesJobs: 5400,
    SummariesInteractive: 720,
    SummariesBulk: 720,
  };

  test('hide a message for six times as long as its reader may take, and keep it for days', async () => {
    const found = Object.entries(await attributes()).map(([name, is]) => [
      name,
      [Number(is.VisibilityTimeout), Number(is.MessageRetentionPeriod) / 86_400],
    ]);
    const work = Object.entries(WORK).map(([name, seconds]) => [`${name}Queue`, [seconds, 4]]);
    const dead = Object.keys(WORK).map((name) => [`${name}DeadLetters`, [180, 14]]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries([...work, ...dead]));
  });

  test('give up a message to their own dead letters when it came eight times', async () => {
    const all = await attributes();
    for (const name of Object.keys(WORK)) {
      const { RedrivePolicy = '{}' } = all[`${name}Queue`] ?? {};
      expect([name, JSON.parse(RedrivePolicy)]).toEqual([
        name,
        {
          deadLetterTargetArn: all[`${name}DeadLetters`]?.QueueArn,
          maxReceiveCount: 8,
        },
      ]);
      expect(all[`${name}DeadLetters`]).not.toHaveProperty('RedrivePolicy');
    }
  });

  test('refuse plain HTTP, and of services only those that tell of uploads may send', async () => {
    const told = ['ThumbnailsEagerQueue', 'SummariesJobsQueue'];
    for (const [name, { Policy }] of Object.entries(await attributes())) {
      const statements = statementsOf(Policy);
      expect(statements).toContainEqual(
        expect.objectContaining({
          Effect: 'Deny',
          Principal: { AWS: '*' },
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      );
      const allowed = statements.filter(({ Effect }) => Effect === 'Allow');
      expect([name, allowed]).toEqual([
        name,
        told.includes(name)
          ? [
              {
                Effect: 'Allow',
                Principal: { Service: 's3.amazonaws.com' },
                Action: 'sqs:SendMessage',
                Condition: { StringEquals: { 'aws:SourceAccount': '123456789012' } },
              },
            ]
          : [],
      ]);
    }
  });
});

describe('the functions', () => {
  const functions = () =>
    eachOf('AWS::Lambda::Function', (FunctionName) =>
      aws.functions.send(new GetFunctionCommand({ FunctionName })),
    );
  const FUNCTIONS = {
    ThumbnailsWorker: { memoryMb: 1769, seconds: 60, reserved: 15 },
    ThumbnailsFailures: { memoryMb: 256, seconds: 30 },
    ApiFunction: { memoryMb: 1024, seconds: 10 },
    SummariesFailures: { memoryMb: 256, seconds: 30 },
    SummariesIntake: { memoryMb: 1769, seconds: 900, reserved: 4 },
    SummariesInteractiveWorker: { memoryMb: 512, seconds: 120, reserved: 4 },
    SummariesBulkWorker: { memoryMb: 512, seconds: 120, reserved: 9 },
    SummariesApi: { memoryMb: 1024, seconds: 29 },
    SummariesReaper: { memoryMb: 256, seconds: 60, reserved: 1 },
  };

  test('have their memory, their time and the ceiling that no backlog lifts', async () => {
    const found = Object.entries(await functions()).map(
      ([name, { Configuration, Concurrency }]) => {
        const reserved = Concurrency?.ReservedConcurrentExecutions;
        return [
          name,
          {
            memoryMb: Configuration?.MemorySize,
            seconds: Configuration?.Timeout,
            ...(reserved === undefined ? {} : { reserved }),
          },
        ];
      },
    );
    expect(Object.fromEntries(found)).toEqual(FUNCTIONS);
  });

  test('run on the processor that was asked for, on Node 24', async () => {
    for (const { Configuration } of Object.values(await functions())) {
      expect(Configuration?.Architectures).toEqual([inject('here').architecture]);
      expect(Configuration?.Runtime).toBe('nodejs24.x');
    }
  });

  test('are as small as their budgets: 400 KB, a worker 10 MB', async () => {
    const sizes = Object.entries(await functions()).map(([name, { Configuration }]) => [
      name,
      Math.round((Configuration?.CodeSize ?? 0) / 1000),
    ]);
    console.log(`zipped, KB: ${sizes.map((size) => size.join(' ')).join(', ')}`);
    for (const [name, size] of sizes) {
      expect([name, size]).toEqual([name, expect.any(Number)]);
      expect(Number(size), String(name)).toBeLessThan(
        String(name).endsWith('Worker') ? 10_000 : 400,
      );
    }
  });

  test('are fed by their queues, no faster than their ceiling, and report what failed of a batch', async () => {
    const queues = new Map(
      Object.entries(
        await eachOf('AWS::SQS::Queue', async (url) => url.split('/').at(-1) ?? ''),
      ).map(([name, id]) => [id, name]),
    );
    const functionNames = new Map([...names('AWS::Lambda::Function')].map(([a, b]) => [b, a]));
    const last = (arn = '') => arn.split(':').at(-1) ?? '';
    const { EventSourceMappings: mappings = [] } = await aws.functions.send(
      new ListEventSourceMappingsCommand({}),
    );
    const found = mappings.map((mapping) => [
      queues.get(last(mapping.EventSourceArn)),
      functionNames.get(last(mapping.FunctionArn)),
      mapping.BatchSize,
      mapping.ScalingConfig?.MaximumConcurrency,
    ]);
    const dead = (queue: string, reader: string) => [`${queue}DeadLetters`, reader, 10, 2];
    const wanted = [
      ['ThumbnailsOnDemandQueue', 'ThumbnailsWorker', 1, 10],
      ['ThumbnailsEagerQueue', 'ThumbnailsWorker', 10, 5],
      ['SummariesJobsQueue', 'SummariesIntake', 1, 4],
      ['SummariesInteractiveQueue', 'SummariesInteractiveWorker', 1, 4],
      ['SummariesBulkQueue', 'SummariesBulkWorker', 4, 9],
      dead('ThumbnailsOnDemand', 'ThumbnailsFailures'),
      dead('ThumbnailsEager', 'ThumbnailsFailures'),
      dead('SummariesJobs', 'SummariesFailures'),
      dead('SummariesInteractive', 'SummariesFailures'),
      dead('SummariesBulk', 'SummariesFailures'),
    ];
    expect(found).toHaveLength(wanted.length);
    expect(found).toEqual(expect.arrayContaining(wanted));
    for (const mapping of mappings) {
      expect(mapping.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
      expect(mapping.State).toBe('Enabled');
    }
  });

  test('are called by the API and the schedule alone', async () => {
    const callers = await eachOf('AWS::Lambda::Function', async (FunctionName) => {
      try {
        const { Policy } = await aws.functions.send(new GetPolicyCommand({ FunctionName }));
        return [...new Set(statementsOf(Policy).map(({ Principal }) => Principal.Service))];
      } catch (error) {
        if (error instanceof Error && error.name === 'ResourceNotFoundException') return [];
        throw error;
      }
    });
    expect(callers).toEqual({
      ...Object.fromEntries(Object.keys(FUNCTIONS).map((name) => [name, []])),
      ApiFunction: ['apigateway.amazonaws.com'],
      SummariesApi: ['apigateway.amazonaws.com'],
      SummariesReaper: ['events.amazonaws.com'],
    });
  });
});

describe('the buckets', () => {
  const BUCKETS = ['ThumbnailsOriginals', 'Thumbnails', 'SummariesImports', 'Pages'];

  test('are closed to the public, encrypted, and refuse plain HTTP and old TLS', async () => {
    expect([...names('AWS::S3::Bucket').keys()].sort()).toEqual([...BUCKETS].sort());
    for (const Bucket of names('AWS::S3::Bucket').values()) {
      const closed = await aws.s3.send(new GetPublicAccessBlockCommand({ Bucket }));
      expect([Bucket, closed.PublicAccessBlockConfiguration]).toEqual([
        Bucket,
        {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
      ]);
      const encrypted = await aws.s3.send(new GetBucketEncryptionCommand({ Bucket }));
      const [rule] = encrypted.ServerSideEncryptionConfiguration?.Rules ?? [];
      expect(rule?.ApplyServerSideEncryptionByDefault?.SSEAlgorithm).toBe('AES256');
      const { Policy } = await aws.s3.send(new GetBucketPolicyCommand({ Bucket }));
      const statements = statementsOf(Policy);
      const denied = statements.filter(({ Effect }) => Effect === 'Deny');
      expect(denied.map(({ Condition }) => Condition)).toEqual([
        { Bool: { 'aws:SecureTransport': 'false' } },
        { NumericLessThan: { 's3:TlsVersion': 1.2 } },
      ]);
      // Of the allowed there is CloudFront, for its own distribution.
      const allowed = statements.filter(({ Effect }) => Effect === 'Allow');
      for (const { Principal, Condition } of allowed) {
        expect(Principal).toEqual({ Service: 'cloudfront.amazonaws.com' });
        expect(Condition).toHaveProperty('StringEquals');
      }
      const isPages = Bucket === nameOf('AWS::S3::Bucket', 'Pages');
      expect(allowed).toHaveLength(isPages ? 1 : 0);
    }
  });

  test('tell the eager queue of all originals, and the jobs of sources alone', async () => {
    const arnOf = async (name: string) => {
      const asked = new GetQueueAttributesCommand({
        QueueUrl: nameOf('AWS::SQS::Queue', name),
        AttributeNames: ['QueueArn'],
      });
      return (await aws.sqs.send(asked)).Attributes?.QueueArn;
    };
    const told = await eachOf('AWS::S3::Bucket', async (Bucket) => {
      const found = await aws.s3.send(new GetBucketNotificationConfigurationCommand({ Bucket }));
      return (found.QueueConfigurations ?? []).map(({ Events, QueueArn, Filter }) => ({
        Events,
        QueueArn,
        prefix: Filter?.Key?.FilterRules?.map(({ Name, Value }) => `${Name}=${Value}`),
      }));
    });
    const eager = await arnOf('ThumbnailsEagerQueue');
    expect(told).toEqual({
      ThumbnailsOriginals: [
        { Events: ['s3:ObjectCreated:*'], QueueArn: eager, prefix: undefined },
        { Events: ['s3:ObjectRemoved:*'], QueueArn: eager, prefix: undefined },
      ],
      Thumbnails: [],
      SummariesImports: [
        {
          Events: ['s3:ObjectCreated:*'],
          QueueArn: await arnOf('SummariesJobsQueue'),
          prefix: ['prefix=sources/'],
        },
      ],
      Pages: [],
    });
    // As a deployment asks of a bucket that it has adopted.
    const wanted = JSON.stringify({ QueueConfigurations: [{ QueueArn: eager }] });
    const isTold = (name: string) =>
      isToldOfUploads(aws.s3, nameOf('AWS::S3::Bucket', name), wanted);
    expect(await isTold('ThumbnailsOriginals')).toBe(true);
    expect(await isTold('Thumbnails')).toBe(false);
  });

  test('let sources, chunks and exports expire, and what was not uploaded to its end', async () => {
    const rules = await eachOf('AWS::S3::Bucket', async (Bucket) => {
      const found = await aws.s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket }));
      return (found.Rules ?? []).map((rule) => [
        rule.Status,
        rule.Filter?.Prefix ?? '',
        rule.Expiration?.Days ?? null,
        rule.AbortIncompleteMultipartUpload?.DaysAfterInitiation ?? null,
      ]);
    });
    const unfinished = ['Enabled', '', null, 2];
    expect(rules).toEqual({
      ThumbnailsOriginals: [unfinished],
      Thumbnails: [unfinished],
      Pages: [unfinished],
      SummariesImports: [
        ['Enabled', 'sources/', 30, null],
        ['Enabled', 'chunks/', 30, null],
        ['Enabled', 'exports/', 7, null],
        ['Enabled', '', null, 1],
      ],
    });
  });

  test('let pages upload by a form where they may, and read thumbnails', async () => {
    const methods = await eachOf('AWS::S3::Bucket', async (Bucket) => {
      try {
        const found = await aws.s3.send(new GetBucketCorsCommand({ Bucket }));
        return (found.CORSRules ?? []).map((rule) => [rule.AllowedMethods, rule.MaxAgeSeconds]);
      } catch (error) {
        if (error instanceof Error && error.name === 'NoSuchCORSConfiguration') return 'none';
        throw error;
      }
    });
    expect(methods).toEqual({
      ThumbnailsOriginals: [[['POST'], 86_400]],
      Thumbnails: [[['GET', 'HEAD'], 86_400]],
      SummariesImports: [[['POST'], 86_400]],
      Pages: 'none',
    });
  });
});

test('the tables are paid by request, forget by their ttl, and what was paid for can be recovered', async () => {
  const tables = await eachOf('AWS::DynamoDB::Table', async (TableName) => {
    const [{ Table }, live, backups] = await Promise.all([
      aws.dynamodb.send(new DescribeTableCommand({ TableName })),
      aws.dynamodb.send(new DescribeTimeToLiveCommand({ TableName })),
      aws.dynamodb.send(new DescribeContinuousBackupsCommand({ TableName })),
    ]);
    const { PointInTimeRecoveryDescription: recovery } = backups.ContinuousBackupsDescription ?? {};
    return {
      key: Table?.KeySchema?.map(({ AttributeName }) => AttributeName),
      indexes: (Table?.GlobalSecondaryIndexes ?? []).map(({ IndexName }) => IndexName),
      billing: Table?.BillingModeSummary?.BillingMode,
      ttl: live.TimeToLiveDescription?.AttributeName,
      recovery: recovery?.PointInTimeRecoveryStatus,
    };
  });
  const each = { billing: 'PAY_PER_REQUEST', ttl: 'ttl' };
  expect(tables).toEqual({
    ThumbnailsImages: { ...each, key: ['gallery', 'name'], indexes: [], recovery: 'DISABLED' },
    SummariesImportsTable: {
      ...each,
      key: ['pk', 'sk'],
      indexes: ['listed', 'owned', 'active'],
      recovery: 'ENABLED',
    },
    SummariesFleetTable: { ...each, key: ['line', 'at'], indexes: [], recovery: 'DISABLED' },
  });
});

test('the API has its routes, each with a function, its throttle and its CORS', async () => {
  const ApiId = nameOf('AWS::ApiGatewayV2::Api', 'ApiHttp');
  const { Items: routes = [] } = await aws.apis.send(new GetRoutesCommand({ ApiId }));
  expect(routes.map(({ RouteKey }) => RouteKey).sort()).toEqual([
    '$default',
    'GET /fleet',
    'GET /galleries',
    'GET /images',
    'GET /img',
    'GET /imports',
    'GET /imports/{id}',
    'GET /imports/{id}/export',
    'GET /imports/{id}/rows',
    'GET /thumbnail',
    'OPTIONS /{proxy+}',
    'POST /imports',
    'POST /imports/{id}/cancel',
    'POST /imports/{id}/estimate',
    'POST /imports/{id}/pause',
    'POST /imports/{id}/resume',
    'POST /imports/{id}/retry',
    'POST /thumbnails',
    'POST /uploads',
  ]);
  const open = routes.filter(({ AuthorizationType }) => AuthorizationType !== 'JWT');
  expect(open.map(({ RouteKey }) => RouteKey)).toEqual(['OPTIONS /{proxy+}']);
  const authorizers = await authorizersOf(aws.apis, ApiId, routes);
  for (const { AuthorizerId, JwtConfiguration, IdentitySource } of authorizers) {
    expect(JwtConfiguration).toEqual({ Audience: ['glimpse'], Issuer: ISSUED.issuer });
    const asking = routes.filter((route) => route.AuthorizerId === AuthorizerId);
    const inAddress = IdentitySource?.[0] === '$request.querystring.token';
    expect(asking.map(({ RouteKey }) => RouteKey).includes('GET /img')).toBe(inAddress);
    expect(asking).toHaveLength(inAddress ? 1 : routes.length - 2);
  }
  expect(authorizers).toHaveLength(2);
  const stage = await aws.apis.send(new GetStageCommand({ ApiId, StageName: '$default' }));
  expect(stage.AutoDeploy).toBe(true);
  expect(stage.DefaultRouteSettings).toMatchObject({
    ThrottlingRateLimit: 500,
    ThrottlingBurstLimit: 1000,
  });
  const { CorsConfiguration } = await aws.apis.send(new GetApiCommand({ ApiId }));
  expect(CorsConfiguration).toEqual({
    AllowHeaders: ['authorization', 'content-type'],
    AllowMethods: ['GET', 'POST'],
    AllowOrigins: ['*'],
    MaxAge: 86_400,
  });
});

test('each minute the reaper is called', async () => {
  const { Rules: rules = [] } = await aws.events.send(new ListRulesCommand({}));
  expect(rules.map(({ ScheduleExpression, State }) => [ScheduleExpression, State])).toEqual([
    ['rate(1 minute)', 'ENABLED'],
  ]);
  const { Targets = [] } = await aws.events.send(
    new ListTargetsByRuleCommand({ Rule: rules[0]?.Name }),
  );
  const reaper = nameOf('AWS::Lambda::Function', 'SummariesReaper');
  expect(Targets.map(({ Arn }) => Arn?.split(':').at(-1))).toEqual([reaper]);
});

test('alarms watch dead letters, waits, errors, throttles, refusals and what was given up', async () => {
  const logical = new Map(resources.map(({ name, physicalId }) => [physicalId, name]));
  for (const [name, url] of names('AWS::SQS::Queue'))
    logical.set(url.split('/').at(-1) ?? '', name);
  const { MetricAlarms = [] } = await aws.alarms.send(new DescribeAlarmsCommand({}));
  const found = MetricAlarms.map((alarm) => {
    const worked = alarm.Metrics?.flatMap(({ MetricStat }) => MetricStat?.Metric?.MetricName ?? []);
    const of = alarm.Dimensions?.[0]?.Value ?? '';
    expect(alarm.ComparisonOperator).toBe('GreaterThanThreshold');
    expect(alarm.TreatMissingData).toBe('notBreaching');
    expect(alarm.AlarmDescription).toMatch(/\w{3}.* What to do: docs\/runbook\.md#\w+$/);
    if (worked !== undefined && worked.length > 0) {
      return `${[...new Set(worked)].join(' of ')} > ${alarm.Threshold}`;
    }
    return `${alarm.Namespace} ${alarm.MetricName} of ${logical.get(of) ?? of} > ${alarm.Threshold}`;
  });
  const dead = (queue: string) =>
    `AWS/SQS ApproximateNumberOfMessagesVisible of ${queue}DeadLetters > 0`;
  const throttles = (name: string) => `AWS/Lambda Throttles of ${name} > 0`;
  expect(found.sort()).toEqual(
    [
      dead('ThumbnailsOnDemand'),
      dead('ThumbnailsEager'),
      dead('SummariesJobs'),
      dead('SummariesInteractive'),
      dead('SummariesBulk'),
      throttles('ThumbnailsWorker'),
      throttles('SummariesIntake'),
      throttles('SummariesInteractiveWorker'),
      throttles('SummariesBulkWorker'),
      'AWS/SQS ApproximateAgeOfOldestMessage of ThumbnailsOnDemandQueue > 60',
      'AWS/SQS ApproximateAgeOfOldestMessage of SummariesInteractiveQueue > 60',
      'AWS/Lambda Errors of ThumbnailsWorker > 0',
      'AWS/ApiGateway 5xx of ApiHttp > 0',
      'Glimpse MissToReady of thumbnail-worker > 10000',
      'Glimpse JobsUnsent of thumbnail-api > 0',
      'CallsRefused of Calls > 5',
      'CallsFailed of Calls > 20',
      'Glimpse ImagesGivenUp of thumbnail-failures > 0',
      'Glimpse ChunksGivenUp of chunk-failures > 0',
      'Glimpse ImportsStalled of import-reaper > 0',
      'AWS/Lambda Errors of SummariesReaper > 0',
    ].sort(),
  );
});

test('two dashboards are of metrics of these very functions, queues and API', async () => {
  const { DashboardEntries = [] } = await aws.alarms.send(new ListDashboardsCommand({}));
  const dashboards = DashboardEntries.map(({ DashboardName = '' }) => DashboardName).sort();
  expect(dashboards).toEqual(['Glimpse-us-east-1-summaries', 'Glimpse-us-east-1-thumbnails']);
  const known = new Set([
    ...['AWS::Lambda::Function', 'AWS::ApiGatewayV2::Api'].flatMap((type) => [
      ...names(type).values(),
    ]),
    ...[...names('AWS::SQS::Queue').values()].map((url) => url.split('/').at(-1) ?? ''),
  ]);
  for (const DashboardName of dashboards) {
    const { DashboardBody = '' } = await aws.alarms.send(
      new GetDashboardCommand({ DashboardName }),
    );
    const lines = readDashboard(DashboardName, DashboardBody).flatMap((widget) =>
      widget.kind === 'text' ? [] : widget.lines,
    );
    const ofAws = lines.filter((line) => line.kind === 'metric' && line.namespace !== 'Glimpse');
    expect(ofAws.length).toBeGreaterThan(10);
    for (const line of ofAws) {
      if (line.kind !== 'metric') continue;
      for (const value of Object.values(line.dimensions)) expect(known).toContain(value);
    }
  }
});
