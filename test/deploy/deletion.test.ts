import { GetApisCommand } from '@aws-sdk/client-apigatewayv2';
import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { DescribeAlarmsCommand, ListDashboardsCommand } from '@aws-sdk/client-cloudwatch';
import { ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { ListRulesCommand } from '@aws-sdk/client-eventbridge';
import { ListEventSourceMappingsCommand, ListFunctionsCommand } from '@aws-sdk/client-lambda';
import { ListBucketsCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { ListQueuesCommand } from '@aws-sdk/client-sqs';
import { beforeAll, expect, inject, test } from 'vitest';
import { awsClients, type Deployed, deployedResources, namesOf } from './aws.ts';
import { destroy, publishPages } from './cdk.ts';

const aws = awsClients(inject('endpoint'));
let resources: Deployed[];
let said: string;

beforeAll(async () => {
  resources = await deployedResources(aws);
  said = await destroy(inject('endpoint'));
});

test('the stack is gone, and with it all that works or costs', async () => {
  const { Stacks = [] } = await aws.stacks.send(new DescribeStacksCommand({}));
  expect(Stacks.map(({ StackName }) => StackName)).toEqual(['CDKToolkit']);
  const left = await Promise.all([
    aws.functions.send(new ListFunctionsCommand({})).then(({ Functions }) => Functions),
    aws.functions
      .send(new ListEventSourceMappingsCommand({}))
      .then(({ EventSourceMappings }) => EventSourceMappings),
    aws.sqs.send(new ListQueuesCommand({})).then(({ QueueUrls }) => QueueUrls),
    aws.apis.send(new GetApisCommand({})).then(({ Items }) => Items),
    aws.events.send(new ListRulesCommand({})).then(({ Rules }) => Rules),
    aws.alarms.send(new DescribeAlarmsCommand({})).then(({ MetricAlarms }) => MetricAlarms),
    aws.alarms.send(new ListDashboardsCommand({})).then((found) => found.DashboardEntries),
  ]);
  expect(left.map((each) => each?.length ?? 0)).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

test('its pages are no longer published, though their bucket stays', async () => {
  const { folder } = inject('here');
  await expect(publishPages(inject('endpoint'), folder)).rejects.toThrow(
    `publish-pages: There is no stack Glimpse, which ${folder}/outputs.json is of: it may be deleted,`,
  );
});

test('pictures, files and what was made of them stay', async () => {
  const buckets = namesOf(resources, 'AWS::S3::Bucket');
  const { Buckets = [] } = await aws.s3.send(new ListBucketsCommand({}));
  const names = Buckets.map(({ Name }) => Name);
  expect(names).toEqual(expect.arrayContaining([...buckets.values()]));
  for (const bucket of ['ThumbnailsOriginals', 'Thumbnails', 'SummariesImports']) {
    const asked = new ListObjectsV2Command({ Bucket: buckets.get(bucket) });
    expect([bucket, (await aws.s3.send(asked)).KeyCount]).not.toEqual([bucket, 0]);
  }

  const tables = namesOf(resources, 'AWS::DynamoDB::Table');
  const { TableNames = [] } = await aws.dynamodb.send(new ListTablesCommand({}));
  // What the workers told each other of the last minutes is no loss.
  const kept = ['ThumbnailsImages', 'SummariesImportsTable'].map((name) => tables.get(name));
  // Those of the other stage stay as well.
  const own = TableNames.filter((name) => !name.startsWith('Glimpse-staging-'));
  expect(own.sort()).toEqual([...kept].sort());
});

test('the command has named all that stays, and how to remove it', () => {
  const buckets = [...namesOf(resources, 'AWS::S3::Bucket').values()];
  for (const bucket of buckets) {
    expect(said).toMatch(new RegExp(`bucket ${bucket}: .*objects?`));
    expect(said).toContain(`aws s3 rb --force s3://${bucket}`);
  }
  const tables = namesOf(resources, 'AWS::DynamoDB::Table');
  for (const name of ['ThumbnailsImages', 'SummariesImportsTable']) {
    expect(said).toMatch(new RegExp(`table ${tables.get(name)}: about \\d+ items`));
  }
  expect(said).not.toContain(tables.get('SummariesFleetTable'));
});
