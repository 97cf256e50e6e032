import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { beforeAll, expect, inject, test } from 'vitest';
import { awsClients, type Deployed, deployedResources, namesOf } from './aws.ts';
import { deploy } from './cdk.ts';

// The stack deployed again with another architecture: of all that there is, the functions alone change.

const aws = awsClients(inject('endpoint'));
interface Found {
  resources: Deployed[];
  functions: Record<string, { architecture: string | undefined; code: string | undefined }>;
  /** How many images and objects there are. */
  kept: number[];
}
let before: Found;
let after: Found;

async function look(): Promise<Found> {
  const resources = await deployedResources(aws);
  const functions = [...namesOf(resources, 'AWS::Lambda::Function')].map(async ([name, id]) => {
    const asked = new GetFunctionConfigurationCommand({ FunctionName: id });
    const { Architectures = [], CodeSha256: code } = await aws.functions.send(asked);
    return [name, { architecture: Architectures[0], code }] as const;
  });
  const TableName = namesOf(resources, 'AWS::DynamoDB::Table').get('ThumbnailsImages');
  const Bucket = namesOf(resources, 'AWS::S3::Bucket').get('Thumbnails');
  const [items, objects] = await Promise.all([
    aws.dynamodb.send(new ScanCommand({ TableName, Select: 'COUNT' })),
    aws.s3.send(new ListObjectsV2Command({ Bucket })),
  ]);
  return {
    resources,
    functions: Object.fromEntries(await Promise.all(functions)),
    kept: [items.Count ?? 0, objects.KeyCount ?? 0],
  };
}

beforeAll(async () => {
  before = await look();
  await deploy(inject('endpoint'), inject('other').folder);
  after = await look();
});

test('every function runs on the other processor, and the one with a native library has other code', () => {
  const { architecture } = inject('other');
  for (const [name, now] of Object.entries(after.functions)) {
    const same = before.functions[name]?.code === now.code;
    expect([name, now.architecture, same]).toEqual([
      name,
      architecture,
      name !== 'ThumbnailsWorker',
    ]);
  }
});

test('nothing is replaced, and what was made is still there', () => {
  expect(before.resources.length).toBeGreaterThan(100);
  expect(after.resources).toEqual(before.resources);
  expect(Math.min(...before.kept)).toBeGreaterThan(0);
  expect(after.kept).toEqual(before.kept);
});
