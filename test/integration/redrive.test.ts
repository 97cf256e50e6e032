import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findDeadLetters, moveMessages, peek } from '../../cli/redrive/move-messages.ts';
import { type Engines, startEngines } from './engines.ts';

let engines: Engines;
beforeAll(async () => {
  engines = await startEngines();
});
afterAll(() => engines.stop());

/** A queue with so many dead letters. */
async function queueWith(name: string, count: number): Promise<string> {
  const dead = await engines.createQueue(`${name}-dead`);
  const asked = new GetQueueAttributesCommand({ QueueUrl: dead, AttributeNames: ['QueueArn'] });
  const { Attributes } = await engines.sqs.send(asked);
  const RedrivePolicy = JSON.stringify({
    deadLetterTargetArn: Attributes?.QueueArn,
    maxReceiveCount: 5,
  });
  const { QueueUrl = '' } = await engines.sqs.send(
    new CreateQueueCommand({ QueueName: name, Attributes: { RedrivePolicy } }),
  );
  for (let first = 0; first < count; first += 10) {
    const Entries = Array.from({ length: Math.min(10, count - first) }, (_, index) => ({
      Id: String(index),
      MessageBody: `message ${first + index}`,
      MessageGroupId: 'import',
    }));
    await engines.sqs.send(new SendMessageBatchCommand({ QueueUrl: dead, Entries }));
  }
  return QueueUrl;
}

async function move(url: string, most = Number.POSITIVE_INFINITY, signal?: AbortSignal) {
  const found = await findDeadLetters(engines.sqs, url);
  let last = { moved: 0, refused: 0 };
  const options = { most: Math.min(most, found.visible), signal: signal ?? never() };
  for await (last of moveMessages(engines.sqs, found, url, options));
  return last;
}

const never = () => new AbortController().signal;

async function bodiesOf(url: string): Promise<string[]> {
  const bodies: string[] = [];
  for (;;) {
    const asked = { QueueUrl: url, MaxNumberOfMessages: 10, VisibilityTimeout: 600 };
    const { Messages = [] } = await engines.sqs.send(new ReceiveMessageCommand(asked));
    if (Messages.length === 0) return bodies;
    bodies.push(...Messages.map(({ Body = '' }) => Body));
  }
}

test('every dead letter goes to its queue once, and none is left', async () => {
  const url = await queueWith('whole', 23);
  expect(await move(url)).toEqual({ moved: 23, refused: 0 });
  expect((await bodiesOf(url)).sort()).toEqual(
    Array.from({ length: 23 }, (_, index) => `message ${index}`).sort(),
  );
  expect(await findDeadLetters(engines.sqs, url)).toMatchObject({ visible: 0, inFlight: 0 });
});

test('no more than asked for, and after a stop the rest is still there', async () => {
  const url = await queueWith('part', 23);
  expect(await move(url, 12)).toEqual({ moved: 12, refused: 0 });
  const stop = new AbortController();
  const found = await findDeadLetters(engines.sqs, url);
  for await (const { moved } of moveMessages(engines.sqs, found, url, {
    most: 11,
    signal: stop.signal,
  })) {
    expect(moved).toBe(10);
    stop.abort();
  }
  expect(await findDeadLetters(engines.sqs, url)).toMatchObject({ visible: 1 });
});

test('what is looked at stays', async () => {
  const url = await queueWith('looked-at', 2);
  const found = await findDeadLetters(engines.sqs, url);
  expect((await peek(engines.sqs, found)).length).toBeGreaterThan(0);
  expect(await findDeadLetters(engines.sqs, url)).toMatchObject({ visible: 2, inFlight: 0 });
});
