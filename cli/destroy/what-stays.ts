import {
  type CloudFormationClient,
  DescribeStackResourcesCommand,
  GetTemplateCommand,
} from '@aws-sdk/client-cloudformation';
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import * as z from 'zod';
import type { Clients } from '../clients.ts';

/** Something that CloudFormation leaves when it deletes the stack. */
export interface Staying {
  logicalId: string;
  type: 'bucket' | 'table' | 'other';
  name: string;
  /** What it holds, in words. */
  holds: string;
}

const templateSchema = z.object({
  Resources: z.record(z.string(), z.object({ DeletionPolicy: z.string().optional() })),
});

const TYPES: Record<string, Staying['type']> = {
  'AWS::S3::Bucket': 'bucket',
  'AWS::DynamoDB::Table': 'table',
};

/** Asks the deployed stack itself, which may be another than the one that would be synthesised now. */
export async function whatStays(
  stacks: CloudFormationClient,
  clients: Pick<Clients, 's3' | 'dynamodb'>,
  stackName: string,
): Promise<Staying[]> {
  const [{ TemplateBody = '' }, { StackResources = [] }] = await Promise.all([
    stacks.send(new GetTemplateCommand({ StackName: stackName })),
    stacks.send(new DescribeStackResourcesCommand({ StackName: stackName })),
  ]);
  const { Resources } = templateSchema.parse(JSON.parse(TemplateBody));
  const kept = StackResources.filter(
    ({ LogicalResourceId = '' }) => Resources[LogicalResourceId]?.DeletionPolicy === 'Retain',
  );
  return await Promise.all(
    kept.map(async ({ LogicalResourceId = '', PhysicalResourceId = '', ResourceType = '' }) => {
      const type = TYPES[ResourceType] ?? 'other';
      return {
        logicalId: LogicalResourceId,
        type,
        name: PhysicalResourceId,
        holds: await holds(clients, type, PhysicalResourceId),
      };
    }),
  );
}

async function holds(
  { s3, dynamodb }: Pick<Clients, 's3' | 'dynamodb'>,
  type: Staying['type'],
  name: string,
): Promise<string> {
  if (type === 'bucket') {
    const page = await s3.send(new ListObjectsV2Command({ Bucket: name }));
    const count = page.KeyCount ?? 0;
    if (count === 0) return 'empty';
    return page.IsTruncated ? `more than ${count} objects` : objects(count);
  }
  if (type === 'table') {
    const { Table } = await dynamodb.send(new DescribeTableCommand({ TableName: name }));
    // Brought up to date every six hours.
    return `about ${Table?.ItemCount ?? 0} items`;
  }
  return '';
}

const objects = (count: number) => (count === 1 ? 'one object' : `${count} objects`);
