import { z } from 'zod';
import { UsageError } from '../../cli/usage-error.ts';
import { createAwsJson } from './aws-json.ts';

const ANSWER_MS = 5000;

const tablesSchema = z.looseObject({ TableNames: z.array(z.string()) });

/** @throws UsageError where DYNAMODB_ENDPOINT is no address, or no DynamoDB answers there. */
export async function requireDynamoDb(address: string, answerMs = ANSWER_MS): Promise<void> {
  if (URL.parse(address)?.protocol !== 'http:') {
    throw new UsageError(
      `DYNAMODB_ENDPOINT: expected the http address of a DynamoDB that runs, such as http://127.0.0.1:8000, got "${address}".`,
    );
  }
  const list = createAwsJson(address);
  const signal = AbortSignal.timeout(answerMs);
  let answer: unknown;
  try {
    answer = await list('DynamoDB_20120810.ListTables', { Limit: 1 }, signal);
  } catch (cause) {
    throw silent(
      address,
      signal.aborted ? `nothing within ${answerMs / 1000} s` : why(cause),
      cause,
    );
  }
  if (!tablesSchema.safeParse(answer).success) {
    throw silent(address, 'what answers is something else', undefined);
  }
}

function silent(address: string, how: string, cause: unknown): UsageError {
  return new UsageError(
    `DYNAMODB_ENDPOINT: no DynamoDB answers at ${address} (${how}): start it, name another, or leave the variable out for the one that comes with Glimpse.`,
    { cause },
  );
}

function why(error: unknown): string {
  if (error instanceof SyntaxError) return 'what answers is something else';
  if (!(error instanceof Error)) return String(error);
  return 'code' in error ? String(error.code) : error.message;
}
