import { describe, expect, test } from 'vitest';
import {
  ANONYMOUS,
  type Authority,
  type Caller,
  createAuthority,
} from '../../../local/iam/authority.ts';
import { createIdentities } from '../../../local/iam/identities.ts';
import { assertDeployable, createMayInvoke, routeArn } from '../../../local/iam/invocations.ts';
import { readTemplate } from '../../../local/template/read.ts';
import { planStack } from '../../../local/template/stack.ts';

const ORIGINS = {
  web: 'http://w',
  api: 'http://a',
  s3: 'http://s',
  sqs: 'http://q',
  issuer: 'http://i',
};
const VERSION = '2012-10-17';
const LAMBDA = { Service: 'lambda.amazonaws.com' };
const arnOf = (name: string) => ({ 'Fn::GetAtt': [name, 'Arn'] });

const role = (...statements: object[]) => ({
  Type: 'AWS::IAM::Role',
  Properties: {
    AssumeRolePolicyDocument: {
      Version: VERSION,
      Statement: [{ Effect: 'Allow', Action: 'sts:AssumeRole', Principal: LAMBDA }],
    },
    Policies: [{ PolicyName: 'p', PolicyDocument: { Version: VERSION, Statement: statements } }],
  },
});
const FN = {
  Type: 'AWS::Lambda::Function',
  Properties: {
    Code: { S3Bucket: 'b', S3Key: 'k.zip' },
    Handler: 'index.handler',
    Runtime: 'nodejs24.x',
    Role: arnOf('Role'),
  },
};
const QUEUE = { Type: 'AWS::SQS::Queue', Properties: {} };
const policyOf = (type: 'S3::Bucket' | 'SQS::Queue', name: string, ...statements: object[]) => ({
  Type: `AWS::${type}Policy`,
  Properties: {
    ...(type === 'S3::Bucket' ? { Bucket: { Ref: name } } : { Queues: [{ Ref: name }] }),
    PolicyDocument: { Version: VERSION, Statement: statements },
  },
});
const bucket = (properties: object = {}) => ({ Type: 'AWS::S3::Bucket', Properties: properties });

const plan = (Resources: object) => planStack(readTemplate({ Resources }, 'T', ORIGINS), String);

const caller: Caller = {
  kind: 'function',
  functionName: 't-fn',
  roleArn: 'arn:aws:iam::000000000000:role/t-role',
};
const allows = (authority: Authority, who: Caller, action: string, resource: string) =>
  authority.wouldRefuse(who, { action, resource }) === undefined;

describe("a role's policy", () => {
  const may = (statement: object, action: string, resource: string) => {
    const whole = { Effect: 'Allow', Action: '*', Resource: '*', ...statement };
    const authority = createAuthority(plan({ Role: role(whole), Fn: FN }), () => {});
    return allows(authority, caller, action, resource);
  };

  test.each<[object, string, string, boolean]>([
    [{ Action: 's3:GetObject' }, 's3:GetObject', 'a', true],
    [{ Action: 'S3:getobject' }, 's3:GetObject', 'a', true],
    [{ Action: 's3:Get*' }, 's3:GetObjectAttributes', 'a', true],
    [{ Action: 's3:Get?bject' }, 's3:GetObject', 'a', true],
    [{ Action: 's3:GetObject' }, 's3:GetObjectAttributes', 'a', false],
    [{ Action: ['sqs:A', 'sqs:B'] }, 'sqs:B', 'a', true],
    [{ Action: undefined, NotAction: 's3:*' }, 's3:GetObject', 'a', false],
    [{ Action: undefined, NotAction: 's3:*' }, 'sqs:SendMessage', 'a', true],
    [{ Resource: 'arn:aws:s3:::b/*' }, 's3:GetObject', 'arn:aws:s3:::b/k/l\n.m', true],
    [{ Resource: 'arn:aws:s3:::b/*' }, 's3:GetObject', 'arn:aws:s3:::b', false],
    [{ Resource: 'arn:aws:s3:::b/*' }, 's3:GetObject', 'arn:aws:s3:::bb/k', false],
    [{ Resource: 'arn:aws:s3:::b/*' }, 's3:GetObject', 'arn:aws:s3:::B/k', false],
    [{ Resource: 'arn:aws:s3:::b.c/k' }, 's3:GetObject', 'arn:aws:s3:::bxc/k', false],
    [{ Resource: undefined, NotResource: 'a*' }, 's3:GetObject', 'ab', false],
    [{ Resource: undefined, NotResource: 'a*' }, 's3:GetObject', 'b', true],
    [{ Effect: 'Deny' }, 's3:GetObject', 'a', false],
    [{ Condition: { Bool: { 'aws:SecureTransport': 'true' } } }, 's3:GetObject', 'a', true],
    [{ Condition: { Bool: { 'aws:SecureTransport': false } } }, 's3:GetObject', 'a', false],
    [{ Condition: { NumericLessThan: { 's3:TlsVersion': 1.2 } } }, 's3:GetObject', 'a', false],
    [{ Condition: { StringEquals: { 'AWS:SourceArn': 'a' } } }, 's3:GetObject', 'a', false],
  ])('%j: %s on %s: %s', (statement, action, resource, expected) => {
    expect(may(statement, action, resource)).toBe(expected);
  });

  test('denies more strongly than another allows, in the role or in the bucket', () => {
    const all = { Effect: 'Allow', Action: 's3:*', Resource: '*' };
    const deny = { Effect: 'Deny', Action: 's3:DeleteObject', Resource: '*' };
    const inRole = createAuthority(plan({ Role: role(deny, all), Fn: FN }), () => {});
    const inBucket = createAuthority(
      plan({
        Role: role(all),
        Fn: FN,
        B: bucket(),
        Policy: policyOf('S3::Bucket', 'B', { ...deny, Principal: '*' }),
      }),
      () => {},
    );
    for (const authority of [inRole, inBucket]) {
      expect(allows(authority, caller, 's3:GetObject', 'arn:aws:s3:::t-b/k')).toBe(true);
      expect(allows(authority, caller, 's3:DeleteObject', 'arn:aws:s3:::t-b/k')).toBe(false);
    }
    const developer = { kind: 'developer' } as const;
    expect(allows(inRole, developer, 's3:DeleteObject', 'arn:aws:s3:::t-b/k')).toBe(true);
    expect(allows(inBucket, developer, 's3:DeleteObject', 'arn:aws:s3:::t-b/k')).toBe(false);
  });
});

describe("a bucket's policy", () => {
  const read = (principal: unknown) => ({
    Effect: 'Allow',
    Principal: principal,
    Action: 's3:GetObject',
    Resource: 'arn:aws:s3:::t-b/*',
  });
  const withPolicy = (principal: unknown, properties: object) =>
    createAuthority(
      plan({
        Role: role(),
        Fn: FN,
        B: bucket(properties),
        Policy: policyOf('S3::Bucket', 'B', read(principal)),
      }),
      () => {},
    );
  const reads = (authority: Authority, who: Caller) =>
    allows(authority, who, 's3:GetObject', 'arn:aws:s3:::t-b/k');
  const OPEN = { PublicAccessBlockConfiguration: { BlockPublicAcls: true } };

  test('lets everyone do what it says, and nothing else', () => {
    const authority = withPolicy('*', OPEN);
    expect(reads(authority, ANONYMOUS)).toBe(true);
    expect(reads(authority, caller)).toBe(true);
    expect(allows(authority, ANONYMOUS, 's3:PutObject', 'arn:aws:s3:::t-b/k')).toBe(false);
    expect(allows(authority, ANONYMOUS, 's3:ListBucket', 'arn:aws:s3:::t-b')).toBe(false);
    expect(allows(authority, ANONYMOUS, 's3:GetObject', 'arn:aws:s3:::t-bb/k')).toBe(false);
  });

  test('lets in only those of the account where public access is restricted', () => {
    const properties = { PublicAccessBlockConfiguration: { RestrictPublicBuckets: true } };
    const authority = withPolicy({ AWS: '*' }, properties);
    expect(reads(authority, ANONYMOUS)).toBe(false);
    expect(reads(authority, caller)).toBe(true);
  });

  test('lets in the role or the service that it names', () => {
    const byRole = withPolicy({ AWS: arnOf('Role') }, {});
    expect(reads(byRole, caller)).toBe(true);
    expect(reads(byRole, { ...caller, roleArn: 'arn:aws:iam::000000000000:role/u' })).toBe(false);
    expect(reads(byRole, ANONYMOUS)).toBe(false);
    const byService = withPolicy({ Service: 'cloudfront.amazonaws.com' }, {});
    const service = (name: string) => ({ kind: 'service', name, context: {} }) as const;
    expect(reads(byService, service('cloudfront.amazonaws.com'))).toBe(true);
    expect(reads(byService, service('s3.amazonaws.com'))).toBe(false);
    expect(reads(byService, caller)).toBe(false);
  });
});

describe('AWS would refuse to deploy', () => {
  const deploy = (resources: object) => {
    const stack = plan(resources);
    assertDeployable(
      stack,
      createAuthority(stack, () => {}),
    );
  };
  const WORK = 'arn:aws:sqs:us-east-1:000000000000:t-work';
  const POLLS = ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'];

  test.each(POLLS)('a mapping for whose queue the role lacks %s', (missing) => {
    const stack = (...lacking: string[]) => ({
      Work: QUEUE,
      Fn: FN,
      Role: role({
        Effect: 'Allow',
        Action: POLLS.filter((action) => !lacking.includes(action)),
        Resource: arnOf('Work'),
      }),
      Mapping: {
        Type: 'AWS::Lambda::EventSourceMapping',
        Properties: { EventSourceArn: arnOf('Work'), FunctionName: { Ref: 'Fn' } },
      },
    });
    expect(() => deploy(stack())).not.toThrow();
    expect(() => deploy(stack(missing))).toThrow(
      `AWS would refuse to deploy the mapping of ${WORK} to t-fn: User: arn:aws:sts::000000000000:assumed-role/t-role/t-fn is not authorized to perform: ${missing} on resource: ${WORK} because no identity-based policy allows the ${missing} action.`,
    );
  });

  test.each<[string, object | undefined, boolean]>([
    ['none', undefined, false],
    ['one for the bucket', { ArnLike: { 'aws:SourceArn': 'arn:aws:s3:::t-*' } }, true],
    ['one for another', { ArnLike: { 'aws:SourceArn': 'arn:aws:s3:::u-*' } }, false],
    ['one for the account', { StringEquals: { 'aws:SourceAccount': '000000000000' } }, true],
    ['one for another account', { StringEquals: { 'aws:SourceAccount': '1' } }, false],
  ])(
    'notifications to a queue with no policy that admits them: with %s',
    (_what, Condition, good) => {
      const statement = {
        Effect: 'Allow',
        Action: 'sqs:SendMessage',
        Resource: arnOf('Work'),
        Principal: { Service: 's3.amazonaws.com' },
        Condition,
      };
      const stack = {
        Work: QUEUE,
        ...(Condition === undefined ? {} : { Policy: policyOf('SQS::Queue', 'Work', statement) }),
        B: bucket({
          NotificationConfiguration: {
            QueueConfigurations: [{ Event: 's3:ObjectCreated:*', Queue: arnOf('Work') }],
          },
        }),
      };
      const refused = expect(() => deploy(stack));
      if (good) refused.not.toThrow();
      else refused.toThrow(`the notifications of t-b to ${WORK}: User: s3.amazonaws.com`);
    },
  );
});

test.each<[string, string, string, boolean]>([
  ['apigateway.amazonaws.com', '*/imports/{id}', 'GET /imports/{id}', true],
  ['apigateway.amazonaws.com', '*/imports/{id}', 'GET /imports', false],
  ['apigateway.amazonaws.com', 'GET/imports', 'POST /imports', false],
  ['apigateway.amazonaws.com', '*', '$default', true],
  ['events.amazonaws.com', '*', '$default', false],
])('a permission of %s for %s lets the API invoke for %s: %s', (service, path, route, expected) => {
  const lines: string[] = [];
  const sourceArn = `arn:aws:execute-api:us-east-1:000000000000:api/*/${path}`;
  const permission = { functionName: 'fn', service, sourceArn };
  const mayInvoke = createMayInvoke([permission], 'apigateway.amazonaws.com', (line) =>
    lines.push(line),
  );
  expect(mayInvoke('fn', routeArn('api', route))).toBe(expected);
  expect(mayInvoke('fn', routeArn('api', route))).toBe(expected);
  expect(lines).toHaveLength(expected ? 0 : 1);
  expect(mayInvoke('other', routeArn('api', route))).toBe(false);
});

test('which grants were used is known, one action and one resource at a time', () => {
  const stack = plan({
    Role: role({ Effect: 'Allow', Action: ['s3:Get*', 'sqs:A'], Resource: ['one*', 'two'] }),
    Fn: FN,
  });
  const authority = createAuthority(stack, () => {});
  authority.wouldRefuse(caller, { action: 'sqs:A', resource: 'two' });
  authority.refusal(caller, { action: 's3:GetObject', resource: 'one/more' });
  authority.refusal(caller, { action: 'sqs:B', resource: 'two' });
  expect(authority.grants()).toEqual([
    { role: 't-role', action: 's3:Get*', resource: 'one*', used: true },
    { role: 't-role', action: 's3:Get*', resource: 'two', used: false },
    { role: 't-role', action: 'sqs:A', resource: 'one*', used: false },
    { role: 't-role', action: 'sqs:A', resource: 'two', used: false },
  ]);
});

test('a function has keys of its own, as a role has them, and others at the next start', () => {
  const stack = plan({ Role: role(), Fn: FN, Other: FN });
  const developer = { accessKeyId: 'dev', secretAccessKey: 'known' };
  const [first, second] = [createIdentities(stack, developer), createIdentities(stack, developer)];
  const { accessKeyId, sessionToken } = first.keysOf('t-fn');
  expect(accessKeyId).toMatch(/^ASIA[A-Z2-7]{16}$/);
  expect(sessionToken?.length).toBeGreaterThan(100);
  expect(first.callerOf(accessKeyId)).toEqual(caller);
  expect(first.callerOf('dev')).toEqual({ kind: 'developer' });
  const all = [first, second].flatMap(({ keys }) => keys.map((each) => each.accessKeyId));
  expect(new Set(all).size).toBe(5);
});
