// biome-ignore-all lint/suspicious/noTemplateCurlyInString: CloudFormation's own placeholders.
import { describe, expect, test } from 'vitest';
import { DIFFERENCES, PROPERTIES_NOT_RUN, TYPES_NOT_RUN } from '../../../local/differences.ts';
import { shortNames } from '../../../local/template/names.ts';
import { readTemplate } from '../../../local/template/read.ts';
import { planStack } from '../../../local/template/stack.ts';

const ORIGINS = {
  web: 'http://127.0.0.1:4000',
  api: 'http://127.0.0.1:4001',
  s3: 'http://127.0.0.1:4002',
  sqs: 'http://127.0.0.1:4003',
  issuer: 'http://127.0.0.1:4007',
};
const assets = (key: string) => `/assets/${key}`;

const OUTPUTS = { PagesConfig: { Value: '{}' } };

const ROLE = {
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Version: '2012-10-17',
      Statement: [
        {
          Effect: 'Allow',
          Action: 'sts:AssumeRole',
          Principal: { Service: 'lambda.amazonaws.com' },
        },
      ],
    },
  },
};

const plan = (resources: object) => {
  const template = { Resources: { Role: ROLE, ...resources }, Outputs: OUTPUTS };
  return planStack(readTemplate(template, 'Glimpse', ORIGINS), assets);
};

const fn = (properties: object = {}) => ({
  Type: 'AWS::Lambda::Function',
  Properties: {
    Code: { S3Bucket: 'b', S3Key: 'k.zip' },
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
    ...properties,
  },
});
const queue = (properties: object = {}) => ({ Type: 'AWS::SQS::Queue', Properties: properties });
const bucket = (properties: object = {}) => ({ Type: 'AWS::S3::Bucket', Properties: properties });

describe('what is not known is refused by name', () => {
  test('a resource type', () => {
    const template = { Topic: { Type: 'AWS::SNS::Topic', Properties: {} } };
    expect(() => plan(template)).toThrow('the resource type AWS::SNS::Topic (Topic)');
  });

  test('a property', () => {
    expect(() => plan({ Fn: fn({ SnapStart: { ApplyOn: 'PublishedVersions' } }) })).toThrow(
      'Fn (AWS::Lambda::Function): the local cloud does not know the property SnapStart',
    );
  });

  test('a property inside another', () => {
    const mapping = {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        EventSourceArn: { 'Fn::GetAtt': ['Work', 'Arn'] },
        FunctionName: { Ref: 'Fn' },
        ScalingConfig: { MaximumConcurrency: 2, MinimumConcurrency: 1 },
      },
    };
    expect(() => plan({ Work: queue(), Fn: fn(), Mapping: mapping })).toThrow(
      'the property ScalingConfig.MinimumConcurrency',
    );
  });

  test('a value', () => {
    expect(() => plan({ Fn: fn({ Runtime: 'python3.13' }) })).toThrow(
      'Fn (AWS::Lambda::Function): Runtime: expected a Node.js runtime.',
    );
  });

  test('an intrinsic function, an attribute, a reference and a condition', () => {
    expect(() => plan({ Q: queue({ QueueName: 'q', DelaySeconds: { 'Fn::If': [] } }) })).toThrow(
      'Fn::If',
    );
    const attribute = fn({ Environment: { Variables: { A: { 'Fn::GetAtt': ['Q', 'Colour'] } } } });
    expect(() => plan({ Q: queue(), Fn: attribute })).toThrow('Q.Colour');
    const reference = fn({ Environment: { Variables: { A: { Ref: 'Nobody' } } } });
    expect(() => plan({ Fn: reference })).toThrow('refers to Nobody');
    expect(() => plan({ Q: { ...queue(), Condition: 'IsBig' } })).toThrow('Q has a condition');
  });

  const bucketPolicy = (statement: object) => ({
    Photos: bucket(),
    Policy: {
      Type: 'AWS::S3::BucketPolicy',
      Properties: {
        Bucket: { Ref: 'Photos' },
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              Effect: 'Deny',
              Principal: '*',
              Action: 's3:*',
              Resource: 'arn:aws:s3:::glimpse-photos/*',
              ...statement,
            },
          ],
        },
      },
    },
  });

  test.each([
    [
      { Condition: { IpAddress: { 'aws:SourceIp': '10.0.0.0/8' } } },
      'Policy: the local cloud does not know the condition IpAddress.',
    ],
    [
      { Condition: { StringEqualsIfExists: { 'aws:SourceArn': 'a' } } },
      'does not know the condition StringEqualsIfExists',
    ],
    [
      { Condition: { StringEquals: { 's3:prefix': 'a' } } },
      'does not know the condition key s3:prefix',
    ],
    [{ Resource: 'arn:aws:s3:::a/${aws:username}/*' }, 'does not know policy variables'],
    [{ Principal: { Federated: 'a' } }, 'does not know principals of the kind Federated'],
    [{ NotPrincipal: '*' }, 'PolicyDocument.Statement.0.NotPrincipal'],
    [{ NotAction: 's3:GetObject' }, 'expected Action or NotAction'],
    [{ Resource: undefined }, 'expected Resource or NotResource'],
  ])('of a policy, %j', (statement, sentence) => {
    expect(() => plan(bucketPolicy(statement))).toThrow(sentence);
  });

  test('a managed policy', () => {
    const of = (arn: string) => ({
      Other: { ...ROLE, Properties: { ...ROLE.Properties, ManagedPolicyArns: [arn] } },
    });
    const known = 'arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole';
    expect(plan(of(known)).roles[1]?.statements[0]?.actions.texts).toContain('logs:PutLogEvents');
    expect(() => plan(of('arn:aws:iam::aws:policy/AdministratorAccess'))).toThrow(
      'Other: the local cloud does not know what arn:aws:iam::aws:policy/AdministratorAccess allows.',
    );
  });

  test('a role that Lambda may not take on', () => {
    const role = structuredClone(ROLE);
    const [statement] = role.Properties.AssumeRolePolicyDocument.Statement;
    if (statement !== undefined) statement.Principal.Service = 'ec2.amazonaws.com';
    expect(() => plan({ Role: role, Fn: fn() })).toThrow(
      'Fn: expected a role of the template that Lambda may take on, got arn:aws:iam::000000000000:role/glimpse-role.',
    );
  });

  test('a public policy where a bucket has its public access block', () => {
    expect(() => plan(bucketPolicy({ Effect: 'Allow' }))).toThrow(
      'The policy of glimpse-photos is public, which its public access block forbids',
    );
  });

  test('two resources of one name', () => {
    const same = queue({ QueueName: 'same' });
    expect(() => plan({ One: same, Two: same })).toThrow('AWS::SQS::Queue same');
  });
});

describe('intrinsic functions', () => {
  const resolved = (value: unknown) => {
    const { functions } = plan({
      Work0123ABCD: queue(),
      Fn: fn({ Environment: { Variables: { A: value } } }),
    });
    return functions[0]?.environment.A;
  };

  test.each([
    [{ Ref: 'Work0123ABCD' }, 'http://127.0.0.1:4003/000000000000/glimpse-work'],
    [{ Ref: 'AWS::Region' }, 'us-east-1'],
    [{ 'Fn::GetAtt': ['Work0123ABCD', 'QueueName'] }, 'glimpse-work'],
    [{ 'Fn::GetAtt': 'Work0123ABCD.Arn' }, 'arn:aws:sqs:us-east-1:000000000000:glimpse-work'],
    [{ 'Fn::Join': ['-', ['a', { Ref: 'AWS::AccountId' }, 'b']] }, 'a-000000000000-b'],
    [{ 'Fn::Select': [1, ['a', { Ref: 'AWS::Partition' }]] }, 'aws'],
    [
      { 'Fn::Sub': '${AWS::Region}/${Work0123ABCD.QueueName}/${!kept}' },
      'us-east-1/glimpse-work/${kept}',
    ],
    [{ 'Fn::Sub': ['${Own}!', { Own: { Ref: 'AWS::Region' } }] }, 'us-east-1!'],
    [512, '512'],
  ])('%j is %s', (value, expected) => {
    expect(resolved(value)).toBe(expected);
  });
});

test('queues, mappings and functions are as the template says', () => {
  const { queues, mappings, functions } = plan({
    Dead: queue(),
    Work: queue({
      VisibilityTimeout: 360,
      RedrivePolicy: { deadLetterTargetArn: { 'Fn::GetAtt': ['Dead', 'Arn'] }, maxReceiveCount: 8 },
    }),
    Fn: fn({ MemorySize: 1769, Timeout: 60, ReservedConcurrentExecutions: 15 }),
    Mapping: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        BatchSize: 1,
        EventSourceArn: { 'Fn::GetAtt': ['Work', 'Arn'] },
        FunctionName: { Ref: 'Fn' },
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: 10 },
      },
    },
  });
  const deadArn = 'arn:aws:sqs:us-east-1:000000000000:glimpse-dead';
  expect(queues[1]).toMatchObject({
    attributes: {
      VisibilityTimeout: '360',
      RedrivePolicy: `{"deadLetterTargetArn":"${deadArn}","maxReceiveCount":8}`,
    },
    deadLetterArn: deadArn,
  });
  expect(mappings).toEqual([
    {
      queueArn: 'arn:aws:sqs:us-east-1:000000000000:glimpse-work',
      functionName: 'glimpse-fn',
      batchSize: 1,
      windowSeconds: 0,
      maximumConcurrency: 10,
      reportsItemFailures: true,
    },
  ]);
  expect(functions[0]).toMatchObject({
    folder: '/assets/k.zip',
    memoryMb: 1769,
    timeoutSeconds: 60,
    reservedConcurrency: 15,
    queueDriven: true,
  });
});

describe('schedules', () => {
  const rule = (properties: object = {}) => ({
    Type: 'AWS::Events::Rule',
    Properties: {
      Description: 'for people',
      ScheduleExpression: 'rate(5 minutes)',
      State: 'ENABLED',
      Targets: [{ Arn: { 'Fn::GetAtt': ['Fn', 'Arn'] }, Id: 'Target0' }],
      ...properties,
    },
  });
  const schedulesOf = (properties?: object) => plan({ Fn: fn(), Rule: rule(properties) }).schedules;

  test('call a function each so many minutes', () => {
    expect(schedulesOf()).toEqual([
      {
        arn: 'arn:aws:events:us-east-1:000000000000:rule/glimpse-rule',
        everyMs: 300_000,
        functionName: 'glimpse-fn',
      },
    ]);
    expect(schedulesOf({ ScheduleExpression: 'rate(1 minute)' })[0]?.everyMs).toBe(60_000);
    expect(schedulesOf({ State: 'DISABLED' })).toEqual([]);
  });

  test.each([
    'rate(1 minutes)',
    'rate(5 minute)',
    'rate(0 minutes)',
    'rate(1 hour)',
    'cron(0 12 * * ? *)',
  ])('%s is refused by name', (ScheduleExpression) => {
    expect(() => schedulesOf({ ScheduleExpression })).toThrow(
      `Rule: the local cloud knows schedules such as rate(5 minutes), got ${ScheduleExpression}.`,
    );
  });

  test('have no target and no property that the local cloud does not know', () => {
    expect(() => schedulesOf({ EventPattern: { source: ['aws.s3'] } })).toThrow(
      'Rule (AWS::Events::Rule): the local cloud does not know the property EventPattern',
    );
    const Arn = 'arn:aws:sqs:us-east-1:000000000000:work';
    expect(() => schedulesOf({ Targets: [{ Arn, Id: 'Target0' }] })).toThrow(
      `Rule: the local cloud calls functions by schedule, got ${Arn}.`,
    );
  });
});

describe('the pages', () => {
  const distribution = (behaviour: object = {}, more: object = {}) => ({
    Type: 'AWS::CloudFront::Distribution',
    Properties: {
      DistributionConfig: {
        Enabled: true,
        DefaultRootObject: 'index.html',
        DefaultCacheBehavior: { Compress: true, ...behaviour },
        // Not run, so what it refers to need not be known.
        Origins: [{ Id: { 'Fn::GetAtt': ['Nobody', 'Id'] } }],
        ...more,
      },
    },
  });
  const policy = (security: object) => ({
    Type: 'AWS::CloudFront::ResponseHeadersPolicy',
    Properties: {
      ResponseHeadersPolicyConfig: { Name: 'headers', SecurityHeadersConfig: security },
    },
  });

  test('have the headers of their policy, with the addresses of this machine', () => {
    const { pages } = plan({
      Photos: bucket(),
      Other: policy({ FrameOptions: { FrameOption: 'SAMEORIGIN', Override: true } }),
      Headers: policy({
        ContentSecurityPolicy: {
          ContentSecurityPolicy: {
            'Fn::Join': [
              '',
              ['img-src https://', { Ref: 'Photos' }, '.s3.us-east-1.amazonaws.com'],
            ],
          },
          Override: true,
        },
        StrictTransportSecurity: { AccessControlMaxAgeSec: 1, Override: true },
      }),
      Pages: distribution({ ResponseHeadersPolicyId: { Ref: 'Headers' } }),
    });
    expect(pages).toMatchObject({ rootObject: 'index.html', config: '{}' });
    expect(pages?.headers).toEqual({
      'content-security-policy': 'img-src http://127.0.0.1:4002',
    });
  });

  test('have no header and no behaviour that the local cloud does not know', () => {
    expect(() => plan({ Pages: distribution({ SmoothStreaming: true }) })).toThrow(
      'does not know the property DistributionConfig.DefaultCacheBehavior.SmoothStreaming',
    );
    expect(() => plan({ Pages: distribution({}, { Aliases: ['shop.example'] }) })).toThrow(
      'does not know the property DistributionConfig.Aliases',
    );
    const headers = policy({ XSSProtection: { Protection: true, Override: true } });
    const pages = distribution({ ResponseHeadersPolicyId: { Ref: 'Headers' } });
    expect(() => plan({ Headers: headers, Pages: pages })).toThrow(
      'the property ResponseHeadersPolicyConfig.SecurityHeadersConfig.XSSProtection',
    );
  });

  test('are one distribution', () => {
    expect(() => plan({ One: distribution(), Two: distribution() })).toThrow('one distribution');
  });
});

test('short names leave out the domain, unless two would then be called the same', () => {
  const ids = [
    'ThumbnailsOriginalsE1FF839A',
    'ThumbnailsCFC5E27D',
    'ThumbnailsOnDemandQueue16C84865',
    'SummariesImportsTableF9203793',
  ];
  expect([...shortNames(ids).values()]).toEqual(['originals', 'thumbnails', 'onDemand', 'imports']);
  expect([...shortNames(['ThumbnailsBulk', 'SummariesBulk']).values()]).toEqual([
    'thumbnailsBulk',
    'summariesBulk',
  ]);
});

test('every difference has its reason', () => {
  const reasons = [
    ...Object.values(TYPES_NOT_RUN),
    ...Object.values(PROPERTIES_NOT_RUN).flatMap((properties) => Object.values(properties)),
    ...DIFFERENCES,
  ];
  for (const reason of reasons) expect(reason.length).toBeGreaterThan(10);
});
