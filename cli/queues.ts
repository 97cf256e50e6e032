import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import { SilentError } from './aws-failure.ts';
import { UsageError } from './usage-error.ts';

/** @throws where there is no such queue, or nothing answers. One that may not be looked at may well be there. */
export async function requireQueue(sqs: SQSClient, url: string): Promise<void> {
  try {
    await sqs.send(new GetQueueAttributesCommand({ QueueUrl: url }));
  } catch (error) {
    if (error instanceof UsageError || error instanceof SilentError) throw error;
  }
}
