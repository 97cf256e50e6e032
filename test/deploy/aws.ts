import { ApiGatewayV2Client } from '@aws-sdk/client-apigatewayv2';
import {
  CloudFormationClient,
  DescribeStackResourcesCommand,
} from '@aws-sdk/client-cloudformation';
import { CloudWatchClient } from '@aws-sdk/client-cloudwatch';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { logicalName } from '../../local/template/names.ts';
import { awsEnvironment } from './cdk.ts';

// AWS as its users ask it.

export type Aws = ReturnType<typeof awsClients>;

export function awsClients(endpoint: string) {
  const told = awsEnvironment(endpoint);
  const settings = {
    endpoint,
    region: told.AWS_REGION ?? '',
    credentials: {
      accessKeyId: told.AWS_ACCESS_KEY_ID ?? '',
      secretAccessKey: told.AWS_SECRET_ACCESS_KEY ?? '',
    },
  };
  return {
    apis: new ApiGatewayV2Client(settings),
    alarms: new CloudWatchClient(settings),
    dynamodb: new DynamoDBClient(settings),
    events: new EventBridgeClient(settings),
    functions: new LambdaClient(settings),
    s3: new S3Client({ ...settings, forcePathStyle: true }),
    sqs: new SQSClient(settings),
    ssm: new SSMClient(settings),
    stacks: new CloudFormationClient(settings),
  };
}

export interface Deployed {
  readonly logicalId: string;
  /** Without the hash that CDK adds: `ThumbnailsOriginals`. */
  readonly name: string;
  readonly physicalId: string;
  readonly type: string;
}

/** What CloudFormation says that it has made. */
export async function deployedResources(
  { stacks }: Aws,
  StackName = 'Glimpse',
): Promise<Deployed[]> {
  const found = await stacks.send(new DescribeStackResourcesCommand({ StackName }));
  return (found.StackResources ?? []).map((resource) => ({
    logicalId: resource.LogicalResourceId ?? '',
    name: logicalName(resource.LogicalResourceId ?? ''),
    physicalId: resource.PhysicalResourceId ?? '',
    type: resource.ResourceType ?? '',
  }));
}

/** Physical names of a type, by logical name. */
export function namesOf(resources: readonly Deployed[], type: string): Map<string, string> {
  return new Map(
    resources
      .filter((resource) => resource.type === type)
      .map(({ name, physicalId }) => [name, physicalId]),
  );
}
