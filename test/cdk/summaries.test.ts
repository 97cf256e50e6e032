import { Match, type Template } from 'aws-cdk-lib/assertions';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { config } from '../../cdk/config.ts';
import { parseConfig } from '../../cdk/config-schema.ts';
import { asRunLocally } from '../../cdk/local-differences.ts';
import { templateOf } from './synth.ts';

const template = templateOf();
const { summaries } = config;

/** Another provider, another timeout, another size: whatever follows from them has to follow. */
const bedrock = templateOf({
  changes: {
    summaries: {
      ...summaries,
      provider: { kind: 'bedrock', model: 'eu.amazon.nova-lite-v1:0' },
      workerTimeoutSeconds: 300,
      account: { requestsPerMinute: 60_000, tokensPerMinute: null },
      bulk: { concurrency: 25, gate: 20, batchChunks: 8 },
      retention: { sourceDays: 5, importDays: 10 },
    },
  },
});

const resource = z.object({ Properties: z.record(z.string(), z.unknown()) });

/** The properties of the only resource of that type whose logical id is that name and a hash. */
function propertiesOf(of: Template, type: string, name: string): Record<string, unknown> {
  const found = Object.entries(of.findResources(type)).filter(
    ([id]) => id.replace(/[0-9A-F]{8}$/, '') === name,
  );
  expect(found.map(([id]) => id)).toHaveLength(1);
  return resource.parse(found[0]?.[1]).Properties;
}

const idOf = (of: Template, type: string, name: string): string =>
  Object.keys(of.findResources(type)).find((id) => id.replace(/[0-9A-F]{8}$/, '') === name) ?? '';

const environmentSchema = z.object({
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }),
});
const environmentOf = (of: Template, name: string) =>
  environmentSchema.parse(propertiesOf(of, 'AWS::Lambda::Function', name)).Environment.Variables;

const FUNCTIONS = {
  SummariesApi: 'import-api',
  SummariesIntake: 'import-intake',
  SummariesInteractiveWorker: 'chunk-worker',
  SummariesBulkWorker: 'chunk-worker',
  SummariesFailures: 'chunk-failures',
  SummariesReaper: 'import-reaper',
} as const;

describe('the imports bucket', () => {
  const lifecycle = (days: number) => ({
    Rules: [
      { Id: 'sources', Prefix: 'sources/', ExpirationInDays: days, Status: 'Enabled' },
      { Id: 'chunks', Prefix: 'chunks/', ExpirationInDays: days, Status: 'Enabled' },
      { Id: 'exports', Prefix: 'exports/', ExpirationInDays: 7, Status: 'Enabled' },
      {
        Id: 'unfinished',
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
        Status: 'Enabled',
      },
    ],
  });

  test('forgets sources and chunks when it is told to, and exports after a week', () => {
    const days = (of: Template) => propertiesOf(of, 'AWS::S3::Bucket', 'SummariesImports');
    expect(days(template).LifecycleConfiguration).toEqual(lifecycle(30));
    expect(days(bedrock).LifecycleConfiguration).toEqual(lifecycle(5));
  });

  test('tells the jobs queue of sources alone, and takes forms from browsers', () => {
    const properties = propertiesOf(template, 'AWS::S3::Bucket', 'SummariesImports');
    expect(properties.NotificationConfiguration).toEqual({
      QueueConfigurations: [
        {
          Event: 's3:ObjectCreated:*',
          Queue: { 'Fn::GetAtt': [idOf(template, 'AWS::SQS::Queue', 'SummariesJobsQueue'), 'Arn'] },
          Filter: { S3Key: { Rules: [{ Name: 'prefix', Value: 'sources/' }] } },
        },
      ],
    });
    expect(properties.CorsConfiguration).toEqual({
      CorsRules: [
        { AllowedHeaders: ['*'], AllowedMethods: ['POST'], AllowedOrigins: ['*'], MaxAge: 86_400 },
      ],
    });
    template.hasResourceProperties('AWS::SQS::QueuePolicy', {
      Queues: [{ Ref: Match.stringLikeRegexp('^SummariesJobsQueue') }],
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Allow',
            Principal: { Service: 's3.amazonaws.com' },
            Action: 'sqs:SendMessage',
          }),
        ]),
      },
    });
  });
});

test('the imports table outlives the stack, can go back in time, forgets, and has three indexes', () => {
  const key = (partition: string, sort: string) => [
    { AttributeName: partition, KeyType: 'HASH' },
    { AttributeName: sort, KeyType: 'RANGE' },
  ];
  template.hasResource('AWS::DynamoDB::Table', {
    DeletionPolicy: 'Retain',
    Properties: {
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: key('pk', 'sk'),
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
      GlobalSecondaryIndexes: [
        {
          IndexName: 'listed',
          KeySchema: key('listed', 'importId'),
          Projection: { ProjectionType: 'ALL' },
        },
        {
          IndexName: 'owned',
          KeySchema: key('owner', 'importId'),
          Projection: { ProjectionType: 'ALL' },
        },
        {
          IndexName: 'active',
          KeySchema: key('active', 'importId'),
          Projection: { ProjectionType: 'KEYS_ONLY' },
        },
      ],
    },
  });
});

test('the fleet table forgets what is over, and goes with the stack', () => {
  const { Properties: properties, ...rest } = z
    .looseObject({ Properties: z.record(z.string(), z.unknown()) })
    .parse(
      template.findResources('AWS::DynamoDB::Table')[
        idOf(template, 'AWS::DynamoDB::Table', 'SummariesFleetTable')
      ],
    );
  expect(rest).toMatchObject({ DeletionPolicy: 'Delete' });
  expect(properties).toEqual({
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: [
      { AttributeName: 'line', KeyType: 'HASH' },
      { AttributeName: 'at', KeyType: 'RANGE' },
    ],
    AttributeDefinitions: [
      { AttributeName: 'line', AttributeType: 'S' },
      { AttributeName: 'at', AttributeType: 'N' },
    ],
    TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
  });
});

test('the fleet’s state is added to by the two chunk workers alone, and read by the API too', () => {
  const table = idOf(template, 'AWS::DynamoDB::Table', 'SummariesFleetTable');
  const granted = Object.entries(template.findResources('AWS::IAM::Policy')).flatMap(
    ([id, policy]) =>
      z
        .object({
          PolicyDocument: z.object({
            Statement: z.array(z.object({ Action: z.unknown(), Resource: z.unknown() })),
          }),
        })
        .parse(resource.parse(policy).Properties)
        .PolicyDocument.Statement.filter(({ Resource }) => JSON.stringify(Resource).includes(table))
        .map(({ Action }) => [id.replace(/RoleDefaultPolicy.*/, ''), Action]),
  );
  const actions = ['dynamodb:GetItem', 'dynamodb:UpdateItem'];
  expect(granted.sort()).toEqual([
    ['SummariesApi', ['dynamodb:GetItem', 'dynamodb:Query']],
    ['SummariesBulkWorker', actions],
    ['SummariesInteractiveWorker', actions],
  ]);
});

describe('the workers are told of the account that they spend', () => {
  const toldOf = (of: Template, name: string) => {
    const { GATE, ALLOWANCE, FLEET_TABLE, PROVIDER } = environmentOf(of, name);
    const { connections, model, baseUrl } = JSON.parse(String(PROVIDER));
    return { GATE, FLEET_TABLE, connections, model, baseUrl, ...JSON.parse(String(ALLOWANCE)) };
  };

  test('both modes of the same one, where they share it', () => {
    const told = {
      GATE: '10',
      connections: 10,
      FLEET_TABLE: { Ref: idOf(template, 'AWS::DynamoDB::Table', 'SummariesFleetTable') },
      line: 'shared',
      requestsPerMinute: 5000,
      tokensPerMinute: 2_000_000,
      interactiveShare: 0.3,
      frameSeconds: 3,
      reserve: 0.1,
    };
    expect(toldOf(template, 'SummariesInteractiveWorker')).toMatchObject(told);
    expect(toldOf(template, 'SummariesBulkWorker')).toMatchObject(told);
  });

  test('each of its own, where one mode has another key, address or model', () => {
    const parted = templateOf({
      changes: {
        summaries: {
          ...summaries,
          interactive: {
            batchChunks: 1,
            provider: {
              keyParameter: '/glimpse/another-key',
              model: 'gpt-4.1-mini-2025-04-14',
              baseUrl: 'https://proxy.example/v1',
              account: { requestsPerMinute: 500, tokensPerMinute: null },
              measured: { serviceSeconds: 1, tokensPerCall: 300 },
            },
          },
        },
      },
    });
    expect(toldOf(parted, 'SummariesInteractiveWorker')).toMatchObject({
      line: 'interactive',
      requestsPerMinute: 500,
      tokensPerMinute: null,
      model: 'gpt-4.1-mini-2025-04-14',
      baseUrl: 'https://proxy.example/v1',
      GATE: '8',
      connections: 8,
    });
    expect(toldOf(parted, 'SummariesBulkWorker')).toMatchObject({
      line: 'bulk',
      requestsPerMinute: 5000,
      model: 'gpt-4.1-mini',
      baseUrl: undefined,
      GATE: '10',
    });
    const keyOf = (name: string) => {
      const policy = propertiesOf(parted, 'AWS::IAM::Policy', `${name}RoleDefaultPolicy`);
      const [, key] = /:parameter(\/[\w/-]+)/.exec(JSON.stringify(policy)) ?? [];
      expect(environmentOf(parted, name).PROVIDER_KEY_PARAMETER).toBe(key);
      return key;
    };
    expect(keyOf('SummariesInteractiveWorker')).toBe('/glimpse/another-key');
    expect(keyOf('SummariesBulkWorker')).toBe('/glimpse/provider-key');
  });
});

describe('the queues', () => {
  const mappingOf = (of: Template, queue: string) => {
    const id = idOf(of, 'AWS::SQS::Queue', queue);
    const [mapping] = Object.values(
      of.findResources('AWS::Lambda::EventSourceMapping', {
        Properties: { EventSourceArn: { 'Fn::GetAtt': [id, 'Arn'] } },
      }),
    );
    return z
      .object({
        BatchSize: z.number(),
        FunctionName: z.object({ Ref: z.string() }),
        MaximumBatchingWindowInSeconds: z.number().default(0),
        ScalingConfig: z.object({ MaximumConcurrency: z.number() }),
      })
      .parse(resource.parse(mapping).Properties);
  };

  test.each([
    ['SummariesJobs', 'SummariesIntake', template, 1, 4, 900],
    ['SummariesInteractive', 'SummariesInteractiveWorker', template, 1, 4, 120],
    ['SummariesBulk', 'SummariesBulkWorker', template, 4, 9, 120],
    ['SummariesInteractive', 'SummariesInteractiveWorker', bedrock, 1, 48, 300],
    ['SummariesBulk', 'SummariesBulkWorker', bedrock, 8, 25, 300],
  ])(
    '%s is read by %s alone, no more at once than are reserved',
    (name, reader, of, batch, most, seconds) => {
      const mapping = mappingOf(of, `${name}Queue`);
      expect(mapping.FunctionName.Ref).toBe(idOf(of, 'AWS::Lambda::Function', reader));
      expect(mapping.BatchSize).toBe(batch);
      expect(mapping.ScalingConfig.MaximumConcurrency).toBe(most);
      expect(propertiesOf(of, 'AWS::Lambda::Function', reader)).toMatchObject({
        ReservedConcurrentExecutions: most,
        Timeout: seconds,
      });

      const queue = z
        .object({
          VisibilityTimeout: z.number(),
          RedrivePolicy: z.object({
            deadLetterTargetArn: z.unknown(),
            maxReceiveCount: z.number().min(5),
          }),
        })
        .parse(propertiesOf(of, 'AWS::SQS::Queue', `${name}Queue`));
      expect(queue.VisibilityTimeout).toBeGreaterThanOrEqual(
        6 * seconds + mapping.MaximumBatchingWindowInSeconds,
      );
      expect(queue.RedrivePolicy.deadLetterTargetArn).toEqual({
        'Fn::GetAtt': [idOf(of, 'AWS::SQS::Queue', `${name}DeadLetters`), 'Arn'],
      });
      const failures = mappingOf(of, `${name}DeadLetters`).FunctionName.Ref;
      expect(failures).toBe(idOf(of, 'AWS::Lambda::Function', 'SummariesFailures'));
    },
  );
});

test('the two chunk workers differ in their queue, their mode and nothing else', () => {
  const {
    QUEUE_URL: ours,
    MODE,
    ...interactive
  } = environmentOf(template, 'SummariesInteractiveWorker');
  const { QUEUE_URL: theirs, MODE: mode, ...bulk } = environmentOf(template, 'SummariesBulkWorker');
  expect(interactive).toEqual(bulk);
  expect([MODE, mode]).toEqual(['interactive', 'bulk']);
  expect(ours).toEqual({ Ref: idOf(template, 'AWS::SQS::Queue', 'SummariesInteractiveQueue') });
  expect(theirs).toEqual({ Ref: idOf(template, 'AWS::SQS::Queue', 'SummariesBulkQueue') });
  expect(interactive.GATE).toBe('10');
});

describe('the provider', () => {
  const statementsOf = (of: Template) => {
    const policy = propertiesOf(of, 'AWS::IAM::Policy', 'SummariesBulkWorkerRoleDefaultPolicy');
    return z
      .object({
        PolicyDocument: z.object({
          Statement: z.array(z.object({ Action: z.unknown(), Resource: z.unknown() })),
        }),
      })
      .parse(policy).PolicyDocument.Statement;
  };
  const resourceOf = (of: Template, action: string) =>
    statementsOf(of).find(({ Action }) => Action === action)?.Resource;

  test('is told by the name of its key’s parameter, which the workers alone may read', () => {
    expect(environmentOf(template, 'SummariesBulkWorker')).toMatchObject({
      PROVIDER: JSON.stringify({
        kind: 'openai',
        model: 'gpt-4.1-mini',
        callTimeoutMs: 30_000,
        connections: 10,
      }),
      PROVIDER_KEY_PARAMETER: '/glimpse/provider-key',
    });
    expect(JSON.stringify(resourceOf(template, 'ssm:GetParameter'))).toMatch(
      /:parameter\/glimpse\/provider-key"\]\]\}$/,
    );
    const readers = Object.entries(template.findResources('AWS::IAM::Policy')).filter(
      ([, policy]) => JSON.stringify(policy).includes('ssm:'),
    );
    expect(readers.map(([id]) => id).sort()).toEqual([
      expect.stringMatching(/^SummariesBulkWorker/),
      expect.stringMatching(/^SummariesInteractiveWorker/),
    ]);
  });

  test('has no key in the template: neither a parameter of it nor a reference to a secret', () => {
    const { Resources, Parameters } = template.toJSON();
    const text = JSON.stringify(Resources);
    expect(text.match(/resolve:ssm|AWS::SSM|SecretsManager|secretsmanager/g)).toBeNull();
    // Nor does CloudFormation ask for one.
    expect(Object.keys(Parameters)).toEqual(['BootstrapVersion']);
  });

  test('is called by the role itself on Bedrock, that model and no other', () => {
    const environment = environmentOf(bedrock, 'SummariesBulkWorker');
    expect(environment).not.toHaveProperty('PROVIDER_KEY_PARAMETER');
    expect(JSON.stringify(environment.PROVIDER)).toContain('AWS::Region');
    const [profile, model] = z.array(z.unknown()).parse(resourceOf(bedrock, 'bedrock:InvokeModel'));
    expect(JSON.stringify(profile)).toContain(':inference-profile/eu.amazon.nova-lite-v1:0"');
    expect(JSON.stringify(model)).toContain(':bedrock:*::foundation-model/amazon.nova-lite-v1:0"');
    expect(JSON.stringify(bedrock.findResources('AWS::IAM::Policy'))).not.toContain('ssm:');
    expect(JSON.stringify(template.findResources('AWS::IAM::Policy'))).not.toContain('bedrock:');
  });

  test('is where the local cloud has it, wherever it is configured', () => {
    const baseUrl = 'https://proxy.example/v1';
    const provider = { ...summaries.provider, baseUrl };
    const own = {
      baseUrl: 'https://another.example',
      keyParameter: '/key',
      account: summaries.account,
    };
    const bulk = { batchChunks: 4, provider: own };
    const local = asRunLocally(
      parseConfig({ ...config, summaries: { ...summaries, provider, bulk } }),
    ).summaries;
    expect(local.provider).toEqual(summaries.provider);
    expect(local.bulk).toEqual({
      batchChunks: 4,
      provider: { keyParameter: '/key', account: summaries.account },
    });
  });
});

test('the API has a function of its own for imports and their fleet, which answers before the HTTP API gives up', () => {
  const routes = Object.values(template.findResources('AWS::ApiGatewayV2::Route')).map(
    (route) => z.object({ RouteKey: z.string() }).parse(resource.parse(route).Properties).RouteKey,
  );
  expect(routes.filter((key) => /\/(imports|fleet)/.test(key)).sort()).toEqual([
    'GET /fleet',
    'GET /imports',
    'GET /imports/{id}',
    'GET /imports/{id}/export',
    'GET /imports/{id}/rows',
    'POST /imports',
    'POST /imports/{id}/cancel',
    'POST /imports/{id}/estimate',
    'POST /imports/{id}/pause',
    'POST /imports/{id}/resume',
    'POST /imports/{id}/retry',
  ]);
  expect(propertiesOf(template, 'AWS::Lambda::Function', 'SummariesApi')).toMatchObject({
    Timeout: 29,
  });
});

test('the reaper runs each minute', () => {
  template.hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 minute)',
    State: 'ENABLED',
    Targets: [
      Match.objectLike({
        Arn: { 'Fn::GetAtt': [idOf(template, 'AWS::Lambda::Function', 'SummariesReaper'), 'Arn'] },
      }),
    ],
  });
});

describe('files are open to who needs them', () => {
  const foldersOf = (name: string, action: string) => {
    const policy = propertiesOf(template, 'AWS::IAM::Policy', `${name}RoleDefaultPolicy`);
    const { Statement } = z
      .object({
        PolicyDocument: z.object({
          Statement: z.array(z.object({ Action: z.unknown(), Resource: z.unknown() })),
        }),
      })
      .parse(policy).PolicyDocument;
    const resources = Statement.filter(({ Action }) => Action === action).map(({ Resource }) =>
      JSON.stringify(Resource),
    );
    return [...resources.join().matchAll(/"\/(\w+)\/\*"/g)].map(([, folder]) => folder);
  };

  test.each([
    ['SummariesApi', ['exports'], ['sources']],
    ['SummariesIntake', ['sources', 'chunks'], ['chunks', 'exports']],
    ['SummariesInteractiveWorker', ['chunks'], []],
    ['SummariesBulkWorker', ['chunks'], []],
    ['SummariesFailures', ['chunks'], []],
    ['SummariesReaper', ['chunks'], []],
  ])('%s reads %j and writes %j', (name, reads, writes) => {
    expect(foldersOf(name, 's3:GetObject')).toEqual(reads);
    expect(foldersOf(name, 's3:PutObject')).toEqual(writes);
  });
});

describe('a function finds in its environment what its schema asks for', () => {
  afterEach(() => vi.unstubAllEnvs());

  test.each([
    ...Object.entries(FUNCTIONS).map(([name, folder]) => [name, folder, template] as const),
    ['SummariesBulkWorker', 'chunk-worker', bedrock] as const,
  ])('%s', async (name, folder, of) => {
    const variables = environmentOf(of, name);
    for (const [variable, value] of Object.entries(variables)) {
      // A reference becomes an address; the region is the only one inside a text.
      const text = typeof value === 'string' ? value : joined(value);
      vi.stubEnv(variable, text);
    }
    vi.stubEnv('AWS_REGION', 'eu-west-1');
    const { readEnv } = z
      .object({ readEnv: z.function() })
      .parse(await import(`../../functions/${folder}/env.ts`));
    expect(readEnv()).toBeTypeOf('object');
  });

  function joined(value: unknown): string {
    const join = z.object({ 'Fn::Join': z.tuple([z.string(), z.array(z.unknown())]) });
    const parsed = join.safeParse(value);
    if (!parsed.success) return 'https://sqs.example/queue';
    const parts = parsed.data['Fn::Join'][1];
    return parts.map((part) => (typeof part === 'string' ? part : 'eu-west-1')).join('');
  }

  test('another address than the provider’s own comes from the environment, after the configured one', async () => {
    for (const [variable, value] of Object.entries(
      environmentOf(template, 'SummariesBulkWorker'),
    )) {
      vi.stubEnv(variable, typeof value === 'string' ? value : 'https://sqs.example/queue');
    }
    vi.stubEnv('OPENAI_BASE_URL', 'http://127.0.0.1:4005/v1');
    vi.stubEnv('ANTHROPIC_BASE_URL', 'http://127.0.0.1:4005');
    const { readEnv } = await import('../../functions/chunk-worker/env.ts');
    expect(readEnv().PROVIDER.baseUrl).toBe('http://127.0.0.1:4005/v1');
    const configured = { kind: 'openai', model: 'm', callTimeoutMs: 1000, connections: 1 };
    const baseUrl = 'https://proxy.example/v1';
    vi.stubEnv('PROVIDER', JSON.stringify({ ...configured, baseUrl }));
    expect(readEnv().PROVIDER.baseUrl).toBe(baseUrl);
  });
});

test('somebody is woken when chunks wait, are given up or throttled, and when nobody watches over them', () => {
  const ids = Object.keys(template.findResources('AWS::CloudWatch::Alarm'))
    .map((id) => id.replace(/[0-9A-F]{8}$/, ''))
    .filter((id) => id.startsWith('Summaries'));
  expect(ids.sort()).toEqual([
    'SummariesBulkDeadLettersAlarm',
    'SummariesBulkThrottlesAlarm',
    'SummariesGivenUpAlarm',
    'SummariesIntakeThrottlesAlarm',
    'SummariesInteractiveDeadLettersAlarm',
    'SummariesInteractiveThrottlesAlarm',
    'SummariesJobsDeadLettersAlarm',
    'SummariesProviderAlarm',
    'SummariesReaperErrorsAlarm',
    'SummariesRefusedAlarm',
    'SummariesStalledAlarm',
    'SummariesWaitAlarm',
  ]);
});

test('the outputs name what the command line needs', () => {
  expect(Object.keys(template.findOutputs('*'))).toEqual(
    expect.arrayContaining([
      'ApiUrl',
      'ImportsBucket',
      'ImportsTable',
      'FleetTable',
      'JobsQueueUrl',
      'InteractiveQueueUrl',
      'BulkQueueUrl',
    ]),
  );
});
