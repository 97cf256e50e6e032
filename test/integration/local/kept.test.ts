import { dirname, join } from 'node:path';
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { PutObjectCommand } from '@aws-sdk/client-s3';
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startLocalCloud } from '../../../local/cloud.ts';
import {
  arnOf,
  bucket,
  type Fixture,
  queue,
  root,
  startFixture,
  until,
  writeStack,
} from './fixture-stack.ts';

// What queues, tables and buckets hold, before and after the local cloud is started again.

const key = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
];
const index = (name: string) => ({
  IndexName: name,
  KeySchema: key(name, 'importId'),
  Projection: { ProjectionType: 'KEYS_ONLY' },
});
const table = (...indexes: string[]) => ({
  Items: {
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      AttributeDefinitions: ['pk', 'sk', 'importId', ...indexes].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: key('pk', 'sk'),
      GlobalSecondaryIndexes: indexes.map(index),
      BillingMode: 'PAY_PER_REQUEST',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    },
  },
});

let fixture: Fixture;

beforeAll(async () => {
  fixture = await startFixture({
    ...table('listed', 'active'),
    Shared: queue({ VisibilityTimeout: 60 }),
    Events: queue(),
    Photos: bucket({
      NotificationConfiguration: {
        QueueConfigurations: [{ Event: 's3:ObjectCreated:*', Queue: arnOf('Events') }],
      },
    }),
  });
});
afterAll(() => fixture.stop());

const url = () => fixture.cloud.endpoints.queues.shared;

async function send(group: string, count: number): Promise<void> {
  const Entries = Array.from({ length: count }, (_, index) => ({
    Id: String(index),
    MessageBody: `${group}${index + 1}`,
    MessageGroupId: group,
  }));
  await fixture.sqs.send(new SendMessageBatchCommand({ QueueUrl: url(), Entries }));
}

async function receive(most: number) {
  const { Messages = [] } = await fixture.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: url(),
      MaxNumberOfMessages: most,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    }),
  );
  return Messages;
}
const bodies = async (most: number) => (await receive(most)).map(({ Body }) => Body);

/** Of the one event of an upload. */
async function sequencerOf(Key: string): Promise<string> {
  await fixture.s3.send(new PutObjectCommand({ Bucket: 'test-photos', Key, Body: 'bytes' }));
  const QueueUrl = fixture.cloud.endpoints.queues.events;
  const { Body = '', ReceiptHandle } = await until(async () => {
    const { Messages = [] } = await fixture.sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    expect(Messages.length).toBeLessThanOrEqual(1);
    return Messages[0];
  });
  await fixture.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  const { key, sequencer } = JSON.parse(Body).Records[0].s3.object;
  expect(key).toBe(Key);
  return sequencer;
}

test('a queue is fair between groups: whoever has few messages does not wait behind many', async () => {
  await send('a', 8);
  expect(await bodies(2)).toEqual(['a1', 'a2']);
  await send('b', 3);
  await fixture.sqs.send(
    new SendMessageCommand({
      QueueUrl: url(),
      MessageBody: 'alone',
      MessageAttributes: { kind: { DataType: 'String', StringValue: 'x' } },
    }),
  );
  // Within a batch, too; and one without a group is in nobody's way.
  expect(await bodies(3)).toEqual(['b1', 'alone', 'b2']);
});

test('a table has the indexes of its template, and a sparse one holds what has its attribute', async () => {
  const { dynamodb: endpoint, region, credentials, tables } = fixture.cloud.endpoints;
  const dynamodb = new DynamoDBClient({ endpoint, region, credentials });
  const TableName = tables.items;
  const put = (id: string, more: object) => {
    const Item = { pk: { S: id }, sk: { S: 'import' }, importId: { S: id }, ...more };
    return dynamodb.send(new PutItemCommand({ TableName, Item }));
  };
  await put('one', { active: { S: 'yes' } });
  await put('two', {});
  const query = new QueryCommand({
    TableName,
    IndexName: 'active',
    KeyConditionExpression: 'active = :yes',
    ExpressionAttributeValues: { ':yes': { S: 'yes' } },
  });
  const answer = await dynamodb.send(query);
  expect(answer).toMatchObject({ Count: 1, Items: [{ importId: { S: 'one' } }] });
});

describe('started again', () => {
  let before: string;
  beforeAll(async () => {
    before = await sequencerOf('before');
    await fixture.restart();
  });

  test('what was under way in a fair queue is there, in the order in which it was sent', async () => {
    const [first, second] = await receive(2);
    expect([first?.Body, second?.Body]).toEqual(['a1', 'b1']);
    expect(first?.Attributes?.MessageGroupId).toBe('a');
    expect(first).not.toHaveProperty('MessageAttributes');
    const rest = [...(await receive(10)), ...(await receive(10))];
    expect(rest).toHaveLength(10);
    const alone = rest.find(({ Body }) => Body === 'alone');
    expect(Object.keys(alone?.MessageAttributes ?? {})).toEqual(['kind']);
    expect(alone?.Attributes).not.toHaveProperty('MessageGroupId');
  });

  test('sequencers of uploads grow on', async () => {
    const after = await sequencerOf('after');
    expect(after > before).toBe(true);
  });

  test('a table that exists is kept, unless its indexes are others now', async () => {
    await fixture.cloud.stop();
    const cdkOut = writeStack(join(dirname(fixture.stateDir), 'changed'), table('listed', 'other'));
    await expect(startLocalCloud({ root, stateDir: fixture.stateDir, cdkOut })).rejects.toThrow(
      "The table test-items exists with other indexes than the template's. Start with --reset to make it anew, empty.",
    );
  });
});
