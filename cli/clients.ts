import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { Target } from './target.ts';

export interface Clients {
  s3: S3Client;
  sqs: SQSClient;
  dynamodb: DynamoDBDocumentClient;
}

/** The local cloud's engines, or those of AWS by the shell's own settings. */
export function openClients({ endpoints }: Pick<Target, 'endpoints'>): Clients {
  const shared =
    endpoints === undefined ? {} : { region: endpoints.region, credentials: endpoints.credentials };
  const at = (endpoint: string | undefined) => (endpoint === undefined ? {} : { endpoint });
  const isElsewhere = endpoints !== undefined || process.env.AWS_ENDPOINT_URL !== undefined;
  return {
    s3: new S3Client({
      ...shared,
      ...at(endpoints?.s3),
      // Buckets' names are no hosts where it is not AWS's own S3.
      forcePathStyle: isElsewhere,
      // The shell's region may be another than the one that the stack was deployed to.
      followRegionRedirects: true,
    }),
    sqs: new SQSClient({ ...shared, ...at(endpoints?.sqs) }),
    dynamodb: DynamoDBDocumentClient.from(
      new DynamoDBClient({ ...shared, ...at(endpoints?.dynamodb) }),
    ),
  };
}
