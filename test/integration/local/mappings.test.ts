import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import type { SQSEvent, SQSRecord } from 'aws-lambda';
import { describe, expect } from 'vitest';
import { type Fixture, until } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

let fixture: Fixture;

test.beforeAll(async ({ shared }) => {
  fixture = shared;
  // Their messages come again after a second, for which a process may take to start.
  const readers = ['partial-reader', 'whole-reader', 'busy-reader'];
  const warm = (name: string) => fixture.cloud.invoke(`test-summaries-${name}`, { Records: [] });
  await Promise.all(readers.map(warm));
});

const urlOf = (name: string) => fixture.cloud.endpoints.queues[name];

const send = (name: string, body: object) =>
  fixture.sqs.send(
    new SendMessageCommand({ QueueUrl: urlOf(name), MessageBody: JSON.stringify(body) }),
  );

const sendTogether = (name: string, bodies: object[]) =>
  fixture.sqs.send(
    new SendMessageBatchCommand({
      QueueUrl: urlOf(name),
      Entries: bodies.map((body, index) => ({
        Id: String(index),
        MessageBody: JSON.stringify(body),
      })),
    }),
  );

/** What a function was given, oldest first. */
function invocations(functionName: string): { at: number; event: SQSEvent }[] {
  const log = join(fixture.stateDir, 'logs', `test-summaries-${functionName}.log`);
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('{"at"'))
    .map((line) => JSON.parse(line));
}

function recordsOf(functionName: string, tag: string): SQSRecord[] {
  return invocations(functionName)
    .flatMap(({ event }) => event.Records)
    .filter((record) => JSON.parse(record.body).tag === tag);
}

/** Messages that reach a queue, told by their tags. */
async function received(name: string, tag: string): Promise<string> {
  return until(async () => {
    const { Messages = [] } = await fixture.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: urlOf(name),
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 1,
        VisibilityTimeout: 0,
      }),
    );
    return Messages.find(({ Body = '' }) => JSON.parse(Body).tag === tag)?.Body;
  }, 15_000);
}

async function waiting(name: string): Promise<number> {
  const { Attributes = {} } = await fixture.sqs.send(
    new GetQueueAttributesCommand({ QueueUrl: urlOf(name), AttributeNames: ['All'] }),
  );
  const { ApproximateNumberOfMessages, ApproximateNumberOfMessagesNotVisible } = Attributes;
  return Number(ApproximateNumberOfMessages) + Number(ApproximateNumberOfMessagesNotVisible);
}

const gone = (name: string) => until(async () => ((await waiting(name)) === 0 ? true : undefined));

test('a record has all that Lambda gives it', async () => {
  const { MessageId, MD5OfMessageBody } = await fixture.sqs.send(
    new SendMessageCommand({
      QueueUrl: urlOf('partial'),
      MessageBody: '{"tag":"shape"}',
      MessageAttributes: { kind: { DataType: 'String', StringValue: 'a' } },
    }),
  );
  const [record] = await until(() => {
    const records = recordsOf('partial-reader', 'shape');
    return records.length > 0 ? records : undefined;
  });
  expect(record).toEqual({
    messageId: MessageId,
    receiptHandle: expect.any(String),
    body: '{"tag":"shape"}',
    attributes: {
      ApproximateReceiveCount: '1',
      SentTimestamp: expect.stringMatching(/^\d{13}$/),
      SenderId: expect.any(String),
      ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
    },
    messageAttributes: {
      kind: { stringValue: 'a', stringListValues: [], binaryListValues: [], dataType: 'String' },
    },
    md5OfBody: MD5OfMessageBody,
    md5OfMessageAttributes: expect.any(String),
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:test-partial',
    awsRegion: 'us-east-1',
  });
  await gone('partial');
});

test('a message reaches a warm function within a fraction of a second', async () => {
  await send('partial', { tag: 'warm up' });
  await gone('partial');
  const delays: number[] = [];
  for (let index = 0; index < 5; index++) {
    const sent = Date.now();
    await send('partial', { tag: `latency ${index}` });
    await gone('partial');
    const { at = sent } = invocations('partial-reader').at(-1) ?? {};
    delays.push(at - sent);
  }
  // The median, as the machine may be busy; tens of milliseconds when it is not.
  expect(delays.sort((a, b) => a - b)[2]).toBeLessThan(300);
});

describe('with partial failures reported', () => {
  test('only the message that failed comes again, then goes to the dead letters', async () => {
    await sendTogether('partial', [{ tag: 'good' }, { tag: 'bad', failItem: true }]);
    expect(JSON.parse(await received('partialDead', 'bad')).tag).toBe('bad');
    expect(recordsOf('partial-reader', 'good')).toHaveLength(1);
    const counts = recordsOf('partial-reader', 'bad').map(
      (record) => record.attributes.ApproximateReceiveCount,
    );
    expect(counts).toEqual(['1', '2']);
  });

  test('an empty list, an empty answer and no answer mean that all is done', async () => {
    const answers = [{ batchItemFailures: [] }, {}, null, '', { batchItemFailures: null }];
    for (const [index, answer] of answers.entries()) {
      await send('partial', { tag: `done ${index}`, answer });
      await gone('partial');
      expect(recordsOf('partial-reader', `done ${index}`)).toHaveLength(1);
    }
  });

  test('an unknown id, an empty one and another shape mean that all failed', async () => {
    const answers = [
      { batchItemFailures: [{ itemIdentifier: 'unknown' }] },
      { batchItemFailures: [{ itemIdentifier: '' }] },
      { batchItemFailures: [{ itemIdentifier: null }] },
      { batchItemFailures: 'all' },
    ];
    await Promise.all(
      answers.map((answer, index) => send('partial', { tag: `not done ${index}`, answer })),
    );
    for (const index of answers.keys()) await received('partialDead', `not done ${index}`);
  });

  test('a throw and a crash fail the batch, and what is next is served', async () => {
    await send('partial', { tag: 'throws', fail: true });
    await send('partial', { tag: 'crashes', exit: true });
    await received('partialDead', 'throws');
    await received('partialDead', 'crashes');
    await send('partial', { tag: 'next' });
    await until(() => (recordsOf('partial-reader', 'next').length === 1 ? true : undefined));
  });
});

test('without partial failures reported, what is answered does not matter and a throw fails all', async () => {
  const answer = { batchItemFailures: [{ itemIdentifier: 'unknown' }] };
  await send('whole', { tag: 'answered', answer });
  await gone('whole');
  await send('whole', { tag: 'thrown', fail: true });
  await received('wholeDead', 'thrown');
  expect(recordsOf('whole-reader', 'thrown')).toHaveLength(2);
});

test('a function at its reserved concurrency is throttled, and no message is lost by it', async () => {
  const count = 6;
  for (let index = 0; index < count; index++) await send('busy', { tag: 'busy', sleepMs: 150 });
  await gone('busy');
  const name = fixture.cloud.endpoints.functions.SummariesBusyReader ?? '';
  expect(fixture.cloud.counts(name).mostAtOnce).toBe(1);
  expect(fixture.cloud.counts(name).throttles).toBeGreaterThan(0);
  const seen = () =>
    new Set(recordsOf('busy-reader', 'busy').map((record) => record.messageId)).size;
  // What a function writes may come after its answer.
  await until(() => seen() === count);
  expect(await waiting('busyDead')).toBe(0);
});

test('a window gathers more than one receive would bring', async () => {
  for (let batch = 0; batch < 2; batch++) {
    await sendTogether(
      'windowed',
      Array.from({ length: 10 }, () => ({ tag: 'gathered' })),
    );
  }
  await gone('windowed');
  const sizes = invocations('gatherer').map(({ event }) => event.Records.length);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(20);
  expect(sizes.length).toBeLessThanOrEqual(2);
});
