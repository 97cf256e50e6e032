import { dirname, join } from 'node:path';
import { DynamoDBClient, PutItemCommand, QueryCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startLocalCloud } from '../../../local/cloud.ts';
import { type Fixture, root, startFixture, writeStack } from './fixture-stack.ts';

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
let dynamodb: DynamoDBClient;

beforeAll(async () => {
  fixture = await startFixture(table('listed', 'active'));
  const { dynamodb: endpoint, region, credentials } = fixture.cloud.endpoints;
  dynamodb = new DynamoDBClient({ endpoint, region, credentials });
});
afterAll(() => fixture.stop());

test('a table has the indexes of its template, and a sparse one holds what has its attribute', async () => {
  const TableName = fixture.cloud.endpoints.tables.items;
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

test('a table that exists is kept, unless its indexes are others now', async () => {
  await fixture.restart();
  await fixture.cloud.stop();
  const cdkOut = writeStack(join(dirname(fixture.stateDir), 'changed'), table('listed', 'other'));
  await expect(startLocalCloud({ root, stateDir: fixture.stateDir, cdkOut })).rejects.toThrow(
    "The table test-items exists with other indexes than the template's. Start with --reset to make it anew, empty.",
  );
});
