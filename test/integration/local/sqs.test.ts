import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import type { Fixture } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

let fixture: Fixture;
let QueueUrl: string;

test.beforeAll(({ shared }) => {
  fixture = shared;
  QueueUrl = fixture.cloud.endpoints.queues.work ?? '';
});

const send = (MessageBody: string) =>
  fixture.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }));

async function receive(signal?: AbortSignal) {
  const command = new ReceiveMessageCommand({
    QueueUrl,
    WaitTimeSeconds: 5,
    MessageSystemAttributeNames: ['ApproximateReceiveCount'],
  });
  const { Messages = [] } = await fixture.sqs.send(command, signal && { abortSignal: signal });
  return Messages[0];
}

test('a message whose visibility is set to zero comes again at once, and its receives are counted', async () => {
  await send('again');
  const first = await receive();
  const { ReceiptHandle } = first ?? {};
  await fixture.sqs.send(
    new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }),
  );
  const second = await receive();
  const Entries = [{ Id: 'a', ReceiptHandle: second?.ReceiptHandle, VisibilityTimeout: 0 }];
  await fixture.sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }));
  const third = await receive();
  expect(
    [first, second, third].map((message) => message?.Attributes?.ApproximateReceiveCount),
  ).toEqual(['1', '2', '3']);
});

test('a client that goes away while it waits takes no message with it', async () => {
  const leaving = new AbortController();
  const waiting = receive(leaving.signal);
  setTimeout(() => leaving.abort(), 200);
  await expect(waiting).rejects.toThrow();
  await send('for whoever is left');
  expect((await receive())?.Body).toBe('for whoever is left');
});

test("queues are found at this cloud's address, by name and by list", async () => {
  const found = await fixture.sqs.send(new GetQueueUrlCommand({ QueueName: 'test-work' }));
  expect(found.QueueUrl).toBe(QueueUrl);
  const listed = await fixture.sqs.send(new ListQueuesCommand({}));
  const { queues } = fixture.cloud.endpoints;
  expect(Object.values(queues)).toEqual(expect.arrayContaining([queues.events, QueueUrl]));
  expect(listed.QueueUrls?.toSorted()).toEqual(Object.values(queues).sort());
});

test('an unknown queue is an error of SQS', async () => {
  const get = fixture.sqs.send(new GetQueueUrlCommand({ QueueName: 'nobody' }));
  await expect(get).rejects.toMatchObject({ name: expect.stringContaining('QueueDoesNotExist') });
});

test('objects are not to be had on the port of the queues, past the guard of S3', async () => {
  const response = await fetch(`${fixture.cloud.endpoints.sqs}/test-photos`);
  expect(response.status).toBe(403);
});
