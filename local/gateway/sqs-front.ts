import type { RequestListener, ServerResponse } from 'node:http';
import { z } from 'zod';
import { createPost, type Post } from '../engines/aws-json.ts';
import type { Authority, Call } from '../iam/authority.ts';
import type { Identities } from '../iam/identities.ts';
import { ACCOUNT, REGION } from '../template/intrinsics.ts';
import { createAdmission, type JsonRequest, sendJson, sendRefusal } from './json-service.ts';
import { withGroup } from './message-group.ts';

// SQS as its clients know it, in front of fauxqs, which answers S3 on the same port unguarded, names
// its own port in queue URLs, forgets the groups of messages, and loses a message whose visibility is set to zero.

const TARGET = 'AmazonSQS.';
const bodySchema = z.record(z.string(), z.unknown());
/** As good as at once, but not the zero at which fauxqs' database refuses what its memory has done. */
const AT_ONCE = 0.001;

export interface SqsFrontOptions {
  fauxqs: string;
  /** Where clients find this front. */
  origin: string;
  identities: Identities;
  authority: Authority;
}

export function createSqsFront(options: SqsFrontOptions): RequestListener {
  const { fauxqs, origin, identities, authority } = options;
  const admit = createAdmission({ name: 'sqs', target: TARGET, identities, authority, callsOf });
  const post = createPost(fauxqs);
  return (message, response) => {
    admit(message)
      .then((request) => answer(request, post, origin, response))
      .catch((error: unknown) => sendRefusal(response, 'sqs', error));
  };
}

/** Actions by operation, where the name is not the operation's own. */
const ACTIONS: Readonly<Record<string, string>> = {
  SendMessageBatch: 'SendMessage',
  DeleteMessageBatch: 'DeleteMessage',
  ChangeMessageVisibilityBatch: 'ChangeMessageVisibility',
};
const ON_A_QUEUE = [
  'SendMessage',
  'ReceiveMessage',
  'DeleteMessage',
  'ChangeMessageVisibility',
  'GetQueueAttributes',
  'SetQueueAttributes',
  'PurgeQueue',
  'CreateQueue',
  'DeleteQueue',
  'GetQueueUrl',
  'ListDeadLetterSourceQueues',
];

function callsOf(operation: string, input: Record<string, unknown>): Call[] | undefined {
  const name = ACTIONS[operation] ?? operation;
  if (name === 'ListQueues') return [{ action: 'sqs:ListQueues', resource: '*' }];
  if (!ON_A_QUEUE.includes(name)) return undefined;
  const queue = String(input.QueueUrl ?? input.QueueName ?? '')
    .split('/')
    .at(-1);
  return [{ action: `sqs:${name}`, resource: `arn:aws:sqs:${REGION}:${ACCOUNT}:${queue}` }];
}

async function answer(
  { operation, input }: JsonRequest,
  post: Post,
  origin: string,
  response: ServerResponse,
): Promise<void> {
  const engineAnswer = await post(TARGET + operation, forFauxqs(operation, input));
  const output = bodySchema.parse(engineAnswer.body);
  if (response.destroyed && Array.isArray(output.Messages)) {
    // Whoever asked has gone, and fauxqs does not notice: without this, nobody would have these
    // messages until they time out.
    for (const received of output.Messages) {
      const { ReceiptHandle } = bodySchema.parse(received);
      const back = { QueueUrl: input.QueueUrl, ReceiptHandle, VisibilityTimeout: AT_ONCE };
      await post(`${TARGET}ChangeMessageVisibility`, back);
    }
    return;
  }
  const problem = engineAnswer.headers['x-amzn-query-error'];
  if (problem !== undefined) response.setHeader('x-amzn-query-error', problem);
  sendJson(response, 'sqs', engineAnswer.status, forClient(output, origin));
}

function forFauxqs(operation: string, input: Record<string, unknown>): object {
  if (operation === 'SendMessage') return withGroup(input);
  if (operation === 'SendMessageBatch' && Array.isArray(input.Entries)) {
    return { ...input, Entries: input.Entries.map((entry) => withGroup(bodySchema.parse(entry))) };
  }
  if (operation === 'ChangeMessageVisibility') return notZero(input);
  if (operation === 'ChangeMessageVisibilityBatch' && Array.isArray(input.Entries)) {
    return { ...input, Entries: input.Entries.map((entry) => notZero(bodySchema.parse(entry))) };
  }
  return input;
}

function notZero(entry: Record<string, unknown>): Record<string, unknown> {
  return entry.VisibilityTimeout === 0 ? { ...entry, VisibilityTimeout: AT_ONCE } : entry;
}

function forClient(output: Record<string, unknown>, origin: string): object {
  const here = (url: unknown) => `${origin}/${ACCOUNT}/${String(url).split('/').at(-1)}`;
  return {
    ...output,
    ...(output.QueueUrl === undefined ? {} : { QueueUrl: here(output.QueueUrl) }),
    ...(Array.isArray(output.QueueUrls) ? { QueueUrls: output.QueueUrls.map(here) } : {}),
  };
}
