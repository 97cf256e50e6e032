import {
  SendMessageBatchCommand,
  SendMessageCommand,
  type SendMessageCommandInput,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { describe, expect, test } from 'vitest';
import { UnsentError } from '../../../../shared/errors.ts';
import { sendAgain, sendChunks } from '../../../../shared/imports/send-chunks.ts';
import { parseChunkWork } from '../../../../shared/messages/chunk-work.ts';

const works = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ importId: 'a', chunk: index + 1, round: 2 }));

/** A queue that takes what it is told to take, and answers 200 to all of it. */
function queue(takes: (chunk: number, time: number) => boolean) {
  const taken: number[] = [];
  const asked = new Map<number, number>();
  const sent: SendMessageCommandInput[] = [];
  const sizes: number[] = [];
  const client = new SQSClient({ region: 'us-east-1' });
  client.send = async (command: unknown) => {
    if (command instanceof SendMessageCommand) {
      sent.push(command.input);
      return {};
    }
    if (!(command instanceof SendMessageBatchCommand)) return expect.fail();
    const { Entries: entries = [] } = command.input;
    sizes.push(entries.length);
    expect(new Set(entries.map(({ Id }) => Id)).size).toBe(entries.length);
    const failed = entries.filter(({ MessageBody: body = '', MessageGroupId: group }) => {
      const { chunk, importId } = parseChunkWork(body);
      expect(group).toBe(importId);
      const time = (asked.get(chunk) ?? 0) + 1;
      asked.set(chunk, time);
      if (!takes(chunk, time)) return true;
      taken.push(chunk);
      return false;
    });
    return { Failed: failed.map(({ Id }) => ({ Id, Code: 'InternalError', Message: 'Busy.' })) };
  };
  return { queue: { client, url: 'http://queue' }, taken, asked, sent, sizes };
}

describe('chunks are sent', () => {
  test('ten a request, each once', async () => {
    const { queue: there, taken, sizes } = queue(() => true);
    await sendChunks(there, works(23));
    expect(taken.toSorted((a, b) => a - b)).toEqual(works(23).map(({ chunk }) => chunk));
    expect(sizes.toSorted((a, b) => a - b)).toEqual([3, 10, 10]);
    await sendChunks(there, []);
    expect(sizes).toHaveLength(3);
  });

  test('again, if the queue answers 200 and has not taken them: those and no others', async () => {
    const { queue: there, taken, asked } = queue((chunk, time) => chunk % 3 > 0 || time > 2);
    await sendChunks(there, works(12));
    expect(taken.toSorted((a, b) => a - b)).toEqual(works(12).map(({ chunk }) => chunk));
    for (const [chunk, times] of asked) expect(times).toBe(chunk % 3 > 0 ? 1 : 3);
  });

  test('or an error says how many were not taken', async () => {
    const { queue: there, taken, asked } = queue((chunk) => chunk !== 4);
    const sending = sendChunks(there, works(5));
    await expect(sending).rejects.toThrow(UnsentError);
    await expect(sending).rejects.toThrow('1 of 5 chunks were not taken: Busy.');
    expect(taken).toEqual([1, 2, 3, 5]);
    expect(asked.get(4)).toBe(5);
  });
});

test('a chunk is handed back with a delay that SQS takes, of whole seconds', async () => {
  const { queue: there, sent } = queue(() => true);
  const [work] = works(1);
  for (const delay of [-5, 0, 1, 1000, 1001, 86_400_000]) {
    await sendAgain(there, work ?? expect.fail(), delay);
  }
  expect(sent.map(({ DelaySeconds }) => DelaySeconds)).toEqual([0, 0, 1, 1, 2, 900]);
  expect(sent.map(({ MessageBody = '' }) => parseChunkWork(MessageBody))).toEqual(
    Array(6).fill(work),
  );
});
