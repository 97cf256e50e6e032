import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DynamoDBClient,
  ExecuteStatementCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb';
import {
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  GetQueueAttributesCommand,
  PurgeQueueCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { describe, expect } from 'vitest';
import type { Fixture } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

// What AWS would refuse for want of a grant is refused here, in its words.

const Bucket = 'test-granted-photos';
const TableName = 'test-granted-items';
const Name = '/glimpse/provider-key';

let fixture: Fixture;
/** All that was refused in this cloud so far. */
let denied: readonly string[];
const key = (pk: string) => ({ pk: { S: pk } });

/** Clients with the keys of a function, or with others. */
function clientsOf(credentials: {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}) {
  const { s3, sqs, dynamodb, ssm } = fixture.cloud.endpoints;
  const common = { region: 'us-east-1', credentials, maxAttempts: 1 };
  return {
    s3: new S3Client({ ...common, endpoint: s3, forcePathStyle: true }),
    sqs: new SQSClient({ ...common, endpoint: sqs }),
    dynamodb: new DynamoDBClient({ ...common, endpoint: dynamodb }),
    ssm: new SSMClient({ ...common, endpoint: ssm }),
  };
}
type Clients = ReturnType<typeof clientsOf>;

async function keysOf(name: string) {
  const invoked = await fixture.cloud.invoke(name, {});
  if (invoked.kind !== 'answer') throw new Error(JSON.stringify(invoked));
  const environment = JSON.parse(invoked.payload);
  return {
    accessKeyId: environment.AWS_ACCESS_KEY_ID,
    secretAccessKey: environment.AWS_SECRET_ACCESS_KEY,
    sessionToken: environment.AWS_SESSION_TOKEN,
  };
}

let reader: Clients;
let developer: Clients;
const queueUrl = () => fixture.cloud.endpoints.queues.orders;

test.beforeAll(async ({ shared }) => {
  fixture = shared;
  denied = shared.denied;
  reader = clientsOf(await keysOf('test-summaries-granted'));
  developer = clientsOf(fixture.cloud.endpoints.credentials);
  for (const Key of ['in/there', 'in/secret/there', 'other/there']) {
    await developer.s3.send(new PutObjectCommand({ Bucket, Key, Body: 'x' }));
  }
});

const ITEMS = 'arn:aws:dynamodb:us-east-1:000000000000:table/test-granted-items';
const ORDERS = 'arn:aws:sqs:us-east-1:000000000000:test-granted-orders';
const PHOTOS = 'arn:aws:s3:::test-granted-photos';
const query = (IndexName?: string) =>
  new QueryCommand({
    TableName,
    ...(IndexName === undefined ? {} : { IndexName }),
    KeyConditionExpression: 'pk = :pk',
    ExpressionAttributeValues: { ':pk': { S: 'a' } },
  });

describe('a function whose role grants it', () => {
  test.each<[string, (its: Clients) => Promise<unknown>]>([
    ['reads an object', ({ s3 }) => s3.send(new GetObjectCommand({ Bucket, Key: 'in/there' }))],
    ['writes one', ({ s3 }) => s3.send(new PutObjectCommand({ Bucket, Key: 'out/a', Body: 'x' }))],
    [
      'copies from where it may read to where it may write',
      ({ s3 }) =>
        s3.send(new CopyObjectCommand({ Bucket, Key: 'out/b', CopySource: `${Bucket}/in/there` })),
    ],
    [
      'begins an upload in parts',
      ({ s3 }) => s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'out/c' })),
    ],
    ['gets an item', ({ dynamodb: d }) => d.send(new GetItemCommand({ TableName, Key: key('a') }))],
    [
      'gets many',
      ({ dynamodb: d }) =>
        d.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [key('a')] } } })),
    ],
    [
      'puts one in a transaction',
      ({ dynamodb: d }) =>
        d.send(
          new TransactWriteItemsCommand({
            TransactItems: [{ Put: { TableName, Item: key('t') } }],
          }),
        ),
    ],
    ['asks an index', ({ dynamodb: d }) => d.send(query('open'))],
    [
      'sends a message, and many',
      async ({ sqs }) => {
        await sqs.send(new SendMessageCommand({ QueueUrl: queueUrl(), MessageBody: 'x' }));
        const Entries = [{ Id: 'a', MessageBody: 'x' }];
        await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl(), Entries }));
      },
    ],
  ])('%s', async (_what, call) => {
    await call(reader);
  });
});

describe('a function whose role does not grant it is refused, and what is missing is named', () => {
  test.each<[string, string, (its: Clients) => Promise<unknown>]>([
    [
      's3:GetObject',
      `${PHOTOS}/other/there`,
      ({ s3 }) => s3.send(new GetObjectCommand({ Bucket, Key: 'other/there' })),
    ],
    [
      's3:PutObject',
      `${PHOTOS}/in/there`,
      ({ s3 }) => s3.send(new PutObjectCommand({ Bucket, Key: 'in/there', Body: 'x' })),
    ],
    [
      's3:PutObject',
      `${PHOTOS}/in/parts`,
      ({ s3 }) => s3.send(new CreateMultipartUploadCommand({ Bucket, Key: 'in/parts' })),
    ],
    [
      's3:DeleteObject',
      `${PHOTOS}/in/there`,
      ({ s3 }) => s3.send(new DeleteObjectCommand({ Bucket, Key: 'in/there' })),
    ],
    [
      's3:ListBucket',
      PHOTOS,
      ({ s3 }) => s3.send(new ListObjectsV2Command({ Bucket, Prefix: 'in/' })),
    ],
    [
      's3:GetObject',
      `${PHOTOS}/other/there`,
      ({ s3 }) =>
        s3.send(
          new CopyObjectCommand({ Bucket, Key: 'out/d', CopySource: `${Bucket}/other/there` }),
        ),
    ],
    ['dynamodb:Scan', ITEMS, ({ dynamodb: d }) => d.send(new ScanCommand({ TableName }))],
    ['dynamodb:Query', ITEMS, ({ dynamodb: d }) => d.send(query())],
    ['dynamodb:Query', `${ITEMS}/index/shut`, ({ dynamodb: d }) => d.send(query('shut'))],
    [
      'dynamodb:BatchWriteItem',
      ITEMS,
      ({ dynamodb: d }) =>
        d.send(
          new BatchWriteItemCommand({
            RequestItems: { [TableName]: [{ PutRequest: { Item: key('b') } }] },
          }),
        ),
    ],
    [
      'dynamodb:DeleteItem',
      ITEMS,
      ({ dynamodb: d }) =>
        d.send(
          new TransactWriteItemsCommand({
            TransactItems: [
              { Put: { TableName, Item: key('c') } },
              { Delete: { TableName, Key: key('d') } },
            ],
          }),
        ),
    ],
    [
      'dynamodb:PutItem',
      'arn:aws:dynamodb:us-east-1:000000000000:table/other',
      ({ dynamodb: d }) => d.send(new PutItemCommand({ TableName: 'other', Item: key('a') })),
    ],
    [
      'sqs:GetQueueAttributes',
      ORDERS,
      ({ sqs }) => sqs.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl() })),
    ],
    [
      'sqs:PurgeQueue',
      ORDERS,
      ({ sqs }) => sqs.send(new PurgeQueueCommand({ QueueUrl: queueUrl() })),
    ],
    [
      'ssm:GetParameter',
      'arn:aws:ssm:us-east-1:000000000000:parameter/glimpse/provider-key',
      ({ ssm }) => ssm.send(new GetParameterCommand({ Name, WithDecryption: true })),
    ],
  ])('%s on %s', async (action, resource, call) => {
    const user = 'arn:aws:sts::000000000000:assumed-role/test-granted-role/test-summaries-granted';
    const message = `User: ${user} is not authorized to perform: ${action} on resource: ${resource} because no identity-based policy allows the ${action} action`;
    const name = /^(dynamodb|ssm):/.test(action) ? 'AccessDeniedException' : 'AccessDenied';
    await expect(call(reader)).rejects.toMatchObject({ name, message });
    const line = denied.find((each) =>
      each.includes(`test-summaries-granted called ${action} on `),
    );
    expect(line).toContain('which its role test-granted-role does not allow');
  });

  test('by a policy that denies what another allows', async () => {
    const get = reader.s3.send(new GetObjectCommand({ Bucket, Key: 'in/secret/there' }));
    await expect(get).rejects.toMatchObject({
      name: 'AccessDenied',
      message: expect.stringContaining('with an explicit deny in an identity-based policy'),
    });
  });

  test('one line of each kind says so, in a log', () => {
    const lines = readFileSync(join(fixture.stateDir, 'logs', 'denied.log'), 'utf8').split('\n');
    const scans = lines.filter((line) => line.includes('dynamodb:Scan'));
    expect(scans).toHaveLength(1);
    expect(new Set(denied).size).toBe(denied.length);
  });
});

test('a missing object is not told from a forbidden one to whoever may not list the bucket', async () => {
  const missing = { Bucket, Key: 'in/missing' };
  await expect(reader.s3.send(new GetObjectCommand(missing))).rejects.toMatchObject({
    name: 'AccessDenied',
    message: expect.stringContaining('s3:ListBucket on resource: arn:aws:s3:::test-granted-photos'),
  });
  const head = reader.s3.send(new HeadObjectCommand(missing));
  await expect(head).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } });
  const get = developer.s3.send(new GetObjectCommand(missing));
  await expect(get).rejects.toMatchObject({ name: 'NoSuchKey' });
});

test('of many objects to delete, those that may not be are told and stay', async () => {
  await developer.s3.send(new PutObjectCommand({ Bucket, Key: 'out/gone', Body: 'x' }));
  const Objects = ['out/gone', 'in/there'].map((Key) => ({ Key }));
  const answer = await reader.s3.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
  expect(answer.Deleted).toEqual([{ Key: 'out/gone' }]);
  expect(answer.Errors).toMatchObject([{ Key: 'in/there', Code: 'AccessDenied' }]);
  await developer.s3.send(new HeadObjectCommand({ Bucket, Key: 'in/there' }));
});

test('an operation of which it is not known what it takes is refused to everyone', async () => {
  const statement = new ExecuteStatementCommand({
    Statement: 'SELECT * FROM "test-granted-items"',
  });
  await expect(developer.dynamodb.send(statement)).rejects.toThrow(
    'does not know which permission DynamoDB_20120810.ExecuteStatement takes',
  );
});

describe('nobody is let in', () => {
  const calls: [string, (its: Clients) => Promise<unknown>, string, string][] = [
    [
      'S3',
      ({ s3 }) => s3.send(new GetObjectCommand({ Bucket, Key: 'in/there' })),
      'InvalidAccessKeyId',
      'SignatureDoesNotMatch',
    ],
    [
      'SQS',
      ({ sqs }) => sqs.send(new GetQueueAttributesCommand({ QueueUrl: queueUrl() })),
      'InvalidClientTokenId',
      'SignatureDoesNotMatch',
    ],
    [
      'DynamoDB',
      ({ dynamodb }) => dynamodb.send(new GetItemCommand({ TableName, Key: key('a') })),
      'UnrecognizedClientException',
      'InvalidSignatureException',
    ],
    [
      'SSM',
      ({ ssm }) => ssm.send(new GetParameterCommand({ Name })),
      'UnrecognizedClientException',
      'InvalidSignatureException',
    ],
  ];

  test.each(calls)(
    'to %s by an unknown key or a wrong secret',
    async (_name, call, unknown, wrong) => {
      const { credentials } = fixture.cloud.endpoints;
      const nobody = clientsOf({ ...credentials, accessKeyId: 'ASIANOBODY' });
      await expect(call(nobody)).rejects.toMatchObject({ name: unknown });
      const forger = clientsOf({ ...credentials, secretAccessKey: 'guessed' });
      await expect(call(forger)).rejects.toMatchObject({ name: wrong });
    },
  );

  test.each(calls)(
    'to %s by the keys of a role without its session, or with another',
    async (_name, call) => {
      const { sessionToken: _, ...keys } = await keysOf('test-summaries-granted');
      const refused = /InvalidToken|UnrecognizedClientException|InvalidClientTokenId/;
      await expect(call(clientsOf(keys))).rejects.toMatchObject({
        name: expect.stringMatching(refused),
      });
      const other = clientsOf({ ...keys, sessionToken: 'another' });
      await expect(call(other)).rejects.toMatchObject({ name: expect.stringMatching(refused) });
    },
  );

  test('without a signature', async () => {
    const { sqs, dynamodb, ssm } = fixture.cloud.endpoints;
    for (const [url, target] of [
      [sqs, 'AmazonSQS.ListQueues'],
      [dynamodb, 'DynamoDB_20120810.ListTables'],
      [ssm, 'AmazonSSM.GetParameter'],
    ] as const) {
      const init = { method: 'POST', headers: { 'x-amz-target': target }, body: '{}' };
      expect(await (await fetch(url, init)).text()).toContain('MissingAuthenticationToken');
    }
  });
});

describe('AWS calls', () => {
  test('a route of the API only where the function permits it', async () => {
    const { api } = fixture.cloud.endpoints;
    expect((await fetch(`${api}/known/1`)).status).toBe(200);
    const forgotten = await fetch(`${api}/forgotten`);
    expect(forgotten.status).toBe(500);
    expect(await forgotten.json()).toEqual({ message: 'Internal Server Error' });
    expect(denied.find((line) => line.includes('/$default/GET/forgotten'))).toMatch(
      /apigateway\.amazonaws\.com may not invoke the function test-summaries-granted for .* no AWS::Lambda::Permission for it/,
    );
  });

  test('nothing that writes the log of a function whose role may not', async () => {
    await fixture.cloud.invoke('test-summaries-mute', {});
    const log = (name: string) =>
      readFileSync(join(fixture.stateDir, 'logs', `${name}.log`), 'utf8');
    expect(log('test-summaries-granted')).toContain('something');
    expect(log('test-summaries-mute')).toBe('');
    expect(denied.join('\n')).toContain(
      'the function test-summaries-mute called logs:CreateLogStream',
    );
  });
});
