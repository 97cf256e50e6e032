import {
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Fixture, queue, startFixture } from './fixture-stack.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await startFixture({ Shared: queue({ VisibilityTimeout: 60 }) });
});
afterAll(() => fixture.stop());

const url = () => fixture.cloud.endpoints.queues.shared;

async function send(group: string, count: number): Promise<void> {
  const Entries = Array.from({ length: count }, (_, index) => ({
    Id: String(index),
    MessageBody: `${group}${index + 1}`,
    MessageGroupId: group,
  }));
  await fixture.sqs.send(new SendMessageBatchCommand({ QueueUrl: url(), Entries }));
}

async function receive(most: number) {
  const { Messages = [] } = await fixture.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: url(),
      MaxNumberOfMessages: most,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    }),
  );
  return Messages;
}
const bodies = async (most: number) => (await receive(most)).map(({ Body }) => Body);

test('a queue is fair between groups: whoever has few messages does not wait behind many', async () => {
  await send('a', 8);
  expect(await bodies(2)).toEqual(['a1', 'a2']);
  await send('b', 3);
  await fixture.sqs.send(
    new SendMessageCommand({
      QueueUrl: url(),
      MessageBody: 'alone',
      MessageAttributes: { kind: { DataType: 'String', StringValue: 'x' } },
    }),
  );
  // Within a batch, too; and one without a group is in nobody's way.
  expect(await bodies(3)).toEqual(['b1', 'alone', 'b2']);
  await fixture.restart();
  // What was under way is there again after a start, in the order in which it was sent.
  const [first, second] = await receive(2);
  expect([first?.Body, second?.Body]).toEqual(['a1', 'b1']);
  expect(first?.Attributes?.MessageGroupId).toBe('a');
  expect(first).not.toHaveProperty('MessageAttributes');
  const rest = [...(await receive(10)), ...(await receive(10))];
  expect(rest).toHaveLength(10);
  const alone = rest.find(({ Body }) => Body === 'alone');
  expect(Object.keys(alone?.MessageAttributes ?? {})).toEqual(['kind']);
  expect(alone?.Attributes).not.toHaveProperty('MessageGroupId');
});
