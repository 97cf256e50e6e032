import { DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda';
import { beforeAll, expect, inject, test } from 'vitest';
import { awsClients, type Deployed, deployedResources, namesOf } from './aws.ts';
import { deploy, destroy } from './cdk.ts';

// A second stage beside the first, and gone again.

const aws = awsClients(inject('endpoint'));
let first: Deployed[];
let second: Deployed[];

beforeAll(async () => {
  first = await deployedResources(aws);
  await deploy(inject('endpoint'), inject('staging'), '--stage', 'staging');
  second = await deployedResources(aws, 'Glimpse-staging');
});

test('two stages have the same resources, and share none', () => {
  expect(second.map(({ logicalId }) => logicalId).sort()).toEqual(
    first.map(({ logicalId }) => logicalId).sort(),
  );
  // Some are named by their place in another, which is a stage's own in turn.
  const own = (resources: Deployed[]) =>
    resources
      .filter(({ type }) =>
        /S3::Bucket$|Table$|Queue$|Function$|Alarm$|Api$|Rule$|Role$/.test(type),
      )
      .map(({ physicalId }) => physicalId);
  expect(own(first).length).toBeGreaterThan(40);
  expect(own(second).filter((id) => own(first).includes(id))).toEqual([]);
});

test('what one measures is not the other’s', async () => {
  const namespaces = [first, second].map(async (resources) => {
    const [FunctionName] = namesOf(resources, 'AWS::Lambda::Function').values();
    const asked = new GetFunctionConfigurationCommand({ FunctionName });
    const { Environment } = await aws.functions.send(asked);
    return Environment?.Variables?.POWERTOOLS_METRICS_NAMESPACE;
  });
  expect(await Promise.all(namespaces)).toEqual(['Glimpse', 'Glimpse-staging']);
});

test('one is deleted, and the other is as it was', async () => {
  await destroy(inject('endpoint'), '--stage', 'staging');
  const { Stacks = [] } = await aws.stacks.send(new DescribeStacksCommand({}));
  expect(Stacks.map(({ StackName }) => StackName).sort()).toEqual(['CDKToolkit', 'Glimpse']);
  expect(await deployedResources(aws)).toEqual(first);
});
