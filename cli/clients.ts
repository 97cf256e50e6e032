import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { tellFailures } from './aws-failure.ts';
import { type CallLimits, callSettings, LIMITS } from './call-limits.ts';
import type { Target } from './target.ts';

export interface Clients {
  s3: S3Client;
  sqs: SQSClient;
  dynamodb: DynamoDBDocumentClient;
}

/**
 * The local cloud's engines, or those of AWS by the shell's own settings. What is not there and what does not
 * answer is thrown as a sentence that names it.
 */
export function openClients(
  target: Pick<Target, 'endpoints' | 'source'>,
  limits: CallLimits = LIMITS,
): Clients {
  const { endpoints } = target;
  const shared = {
    ...callSettings(limits),
    ...(endpoints && { region: endpoints.region, credentials: endpoints.credentials }),
  };
  const at = (endpoint: string | undefined) => (endpoint === undefined ? {} : { endpoint });
  const isElsewhere = (service: string) =>
    endpoints !== undefined ||
    Boolean(process.env.AWS_ENDPOINT_URL || process.env[`AWS_ENDPOINT_URL_${service}`]);
  const s3 = new S3Client({
    ...shared,
    ...at(endpoints?.s3),
    // Buckets' names are no hosts where it is not AWS's own S3.
    forcePathStyle: isElsewhere('S3'),
    // The shell's region may be another than the one that the stack was deployed to.
    followRegionRedirects: true,
  });
  const sqs = new SQSClient({
    ...shared,
    ...at(endpoints?.sqs),
    // A queue's URL may name the same machine otherwise, 127.0.0.1 for localhost: the SDK would go by
    // it, and warn at each call.
    useQueueUrlAsEndpoint: !isElsewhere('SQS'),
  });
  const dynamodb = new DynamoDBClient({ ...shared, ...at(endpoints?.dynamodb) });

  tellFailures(s3, { service: 'S3', target, limits });
  tellFailures(sqs, { service: 'SQS', target, limits });
  tellFailures(dynamodb, { service: 'DynamoDB', target, limits });
  return { s3, sqs, dynamodb: DynamoDBDocumentClient.from(dynamodb) };
}
