import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';

export interface ChunkQueue {
  readonly client: SQSClient;
  readonly url: string;
}

/** How many chunks there are. SQS counts them roughly, and up to a minute late. */
export interface Depth {
  /** Those that wait. */
  readonly depth: number;
  /** Those that a process has, and those that are held back for a while. */
  readonly inFlight: number;
}

const DEPTH = 'ApproximateNumberOfMessages';
const TAKEN = 'ApproximateNumberOfMessagesNotVisible';
const DELAYED = 'ApproximateNumberOfMessagesDelayed';

export async function readDepth({ client, url }: ChunkQueue): Promise<Depth> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [DEPTH, TAKEN, DELAYED] }),
  );
  return {
    depth: Number(Attributes[DEPTH] ?? 0),
    inFlight: Number(Attributes[TAKEN] ?? 0) + Number(Attributes[DELAYED] ?? 0),
  };
}
