import { z } from 'zod';
import type { BucketPlan, QueuePlan, TablePlan } from '../template/stack.ts';
import { type AwsJson, AwsJsonError } from './aws-json.ts';

// Brings the engines to what the template declares; run at every start, over the state of the last.

export async function createBuckets(fauxqs: string, buckets: readonly BucketPlan[]): Promise<void> {
  for (const { name } of buckets) {
    const response = await fetch(`${fauxqs}/${name}`, { method: 'PUT' });
    if (!response.ok) throw new Error(`The bucket ${name} was refused: ${await response.text()}`);
  }
}

export async function createQueues(sqs: AwsJson, queues: readonly QueuePlan[]): Promise<void> {
  for (const { name, url, attributes } of queues) {
    try {
      // Not CreateQueue over an existing one, which fauxqs refuses if an attribute has changed.
      await sqs('AmazonSQS.SetQueueAttributes', { QueueUrl: url, Attributes: attributes });
    } catch (error) {
      if (!isNamed(error, 'QueueDoesNotExist')) throw error;
      await sqs('AmazonSQS.CreateQueue', { QueueName: name, Attributes: attributes });
    }
  }
}

const existing = z.looseObject({
  Table: z.looseObject({
    KeySchema: z.array(z.unknown()),
    GlobalSecondaryIndexes: z
      .array(
        z.looseObject({
          IndexName: z.string(),
          KeySchema: z.array(z.unknown()),
          Projection: z.looseObject({ ProjectionType: z.string() }),
        }),
      )
      .default([]),
  }),
});

type Index = z.infer<typeof existing>['Table']['GlobalSecondaryIndexes'][number];

export async function createTables(dynamodb: AwsJson, tables: readonly TablePlan[]): Promise<void> {
  for (const { name, properties } of tables) {
    const { TableName: _, TimeToLiveSpecification: ttl, ...schema } = properties;
    try {
      const input = { ...schema, TableName: name, BillingMode: 'PAY_PER_REQUEST' };
      await dynamodb('DynamoDB_20120810.CreateTable', input);
    } catch (error) {
      if (!isNamed(error, 'ResourceInUseException')) throw error;
      await refuseOtherKeys(dynamodb, name, schema);
    }
    if (ttl !== undefined) await setTimeToLive(dynamodb, name, ttl);
  }
}

/** AWS would replace the table, and with it the data; that is the developer's to decide. */
async function refuseOtherKeys(
  dynamodb: AwsJson,
  name: string,
  wanted: Pick<TablePlan['properties'], 'KeySchema' | 'GlobalSecondaryIndexes'>,
): Promise<void> {
  const answer = await dynamodb('DynamoDB_20120810.DescribeTable', { TableName: name });
  const { Table } = existing.parse(answer);
  const sameKeys = JSON.stringify(Table.KeySchema) === JSON.stringify(wanted.KeySchema);
  const indexes = wanted.GlobalSecondaryIndexes ?? [];
  if (sameKeys && describeIndexes(Table.GlobalSecondaryIndexes) === describeIndexes(indexes))
    return;
  throw new Error(
    `The table ${name} exists with other ${sameKeys ? 'indexes' : 'keys'} than the template's. Start with --reset to make it anew, empty.`,
  );
}

/** The same text for the same indexes, in whatever order. */
function describeIndexes(indexes: readonly Index[]): string {
  const texts = indexes.map(({ IndexName, KeySchema, Projection }) =>
    JSON.stringify([IndexName, KeySchema, Projection.ProjectionType]),
  );
  return texts.sort().join();
}

async function setTimeToLive(
  dynamodb: AwsJson,
  name: string,
  specification: { AttributeName: string; Enabled: boolean },
): Promise<void> {
  const input = { TableName: name, TimeToLiveSpecification: specification };
  try {
    await dynamodb('DynamoDB_20120810.UpdateTimeToLive', input);
  } catch (error) {
    // "TimeToLive is already enabled": as it should be.
    if (!isNamed(error, 'ValidationException')) throw error;
  }
}

function isNamed(error: unknown, code: string): boolean {
  return error instanceof AwsJsonError && error.code === code;
}
