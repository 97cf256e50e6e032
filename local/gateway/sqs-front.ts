import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import { ACCOUNT } from '../template/intrinsics.ts';
import { withGroup } from './message-group.ts';

// SQS as its clients know it, in front of fauxqs, which answers S3 on the same port unguarded, names
// its own port in queue URLs, forgets the groups of messages, and loses a message whose visibility is set to zero.

const JSON_TYPE = 'application/x-amz-json-1.0';
const bodySchema = z.record(z.string(), z.unknown());
/** As good as at once, but not the zero at which fauxqs' database refuses what its memory has done. */
const AT_ONCE = 0.001;

/** @param origin where clients find this front. */
export function createSqsFront(fauxqs: string, origin: string): RequestListener {
  return (message, response) => {
    answer(message, fauxqs, origin, response).catch((error: unknown) => {
      const text = error instanceof Error ? error.message : String(error);
      send(response, 500, { __type: 'com.amazonaws.sqs#InternalError', message: text });
    });
  };
}

async function answer(
  message: IncomingMessage,
  fauxqs: string,
  origin: string,
  response: ServerResponse,
): Promise<void> {
  const operation = message.headers['x-amz-target'];
  if (message.method !== 'POST' || typeof operation !== 'string') {
    send(response, 400, {
      __type: 'com.amazonaws.sqs#InvalidAction',
      message: 'The local cloud speaks the JSON protocol of SQS, which current SDKs use.',
    });
    return;
  }
  const text = (await buffer(message)).toString();
  const input = bodySchema.parse(text === '' ? {} : JSON.parse(text));
  const call = (target: string, body: object) =>
    fetch(fauxqs, {
      method: 'POST',
      headers: { 'content-type': JSON_TYPE, 'x-amz-target': target },
      body: JSON.stringify(body),
    });
  const engineAnswer = await call(operation, forFauxqs(operation, input));
  const output = bodySchema.parse(await engineAnswer.json());
  if (response.destroyed && Array.isArray(output.Messages)) {
    // Whoever asked has gone, and fauxqs does not notice: without this, nobody would have these
    // messages until they time out.
    for (const received of output.Messages) {
      const { ReceiptHandle } = bodySchema.parse(received);
      const back = { QueueUrl: input.QueueUrl, ReceiptHandle, VisibilityTimeout: AT_ONCE };
      await call('AmazonSQS.ChangeMessageVisibility', back);
    }
    return;
  }
  const problem = engineAnswer.headers.get('x-amzn-query-error');
  if (problem !== null) response.setHeader('x-amzn-query-error', problem);
  send(response, engineAnswer.status, forClient(output, origin));
}

function forFauxqs(operation: string, input: Record<string, unknown>): object {
  if (operation === 'AmazonSQS.SendMessage') return withGroup(input);
  if (operation === 'AmazonSQS.SendMessageBatch' && Array.isArray(input.Entries)) {
    return { ...input, Entries: input.Entries.map((entry) => withGroup(bodySchema.parse(entry))) };
  }
  if (operation === 'AmazonSQS.ChangeMessageVisibility') return notZero(input);
  if (operation === 'AmazonSQS.ChangeMessageVisibilityBatch' && Array.isArray(input.Entries)) {
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

function send(response: ServerResponse, status: number, body: object): void {
  if (response.headersSent || response.destroyed) return;
  const text = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': JSON_TYPE, 'content-length': text.length });
  response.end(text);
}
