import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';

// Region, credentials and endpoints come from the environment that Lambda sets.

/**
 * A page of a gallery claims its cold images all at once. So many connections share them: opening
 * one an image would cost a small function more in TLS than it saves, and keep others waiting.
 */
const CONNECTIONS = 16;

/**
 * Milliseconds. A call that hangs must not hold its function until the timeout: within the shortest, the
 * API's 10 s, it is made once more. Until an answer begins; of one that is being read, a reader may
 * take its time. Left to itself, the SDK only warns.
 */
const CALL_LIMITS = { connectionTimeout: 2000, requestTimeout: 5000, throwOnRequestTimeout: true };

export function createS3(): S3Client {
  return new S3Client({
    requestHandler: CALL_LIMITS,
    // TLS and the ETag are enough for what Glimpse moves; CRC32 of every body is not free.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
}

export function createSqs(): SQSClient {
  return new SQSClient({ requestHandler: CALL_LIMITS });
}

/** Told of each answer's `Date`, and of when its request was sent and it was received, epoch milliseconds. */
export type HearDate = (date: string | undefined, sent: number, received: number) => void;

export function createDynamo(hearDate?: HearDate): DynamoDBDocumentClient {
  const client = new DynamoDBClient({
    requestHandler: {
      ...CALL_LIMITS,
      httpAgent: { maxSockets: CONNECTIONS },
      httpsAgent: { maxSockets: CONNECTIONS },
    },
  });
  if (hearDate !== undefined) listenForDates(client, hearDate);
  return DynamoDBDocumentClient.from(client);
}

const answerSchema = z.looseObject({ headers: z.looseObject({ date: z.string().optional() }) });

export function listenForDates(client: DynamoDBClient, hearDate: HearDate): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const sent = Date.now();
      const result = await next(args);
      const received = Date.now();
      const { data } = answerSchema.safeParse(result.response);
      hearDate(data?.headers.date, sent, received);
      return result;
    },
    // Closest to the wire, so that what is between sent and received is the network alone.
    { step: 'deserialize', priority: 'low', name: 'hearDate' },
  );
}

/** @throws one sentence that names the parameter */
export async function readSecret(name: string): Promise<string> {
  const ssm = new SSMClient({ requestHandler: CALL_LIMITS });
  try {
    const answer = await ssm.send(new GetParameterCommand({ Name: name, WithDecryption: true }));
    const value = answer.Parameter?.Value;
    if (value === undefined) throw new Error('it has no value');
    return value;
  } finally {
    ssm.destroy();
  }
}
