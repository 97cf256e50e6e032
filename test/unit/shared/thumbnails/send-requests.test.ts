import { setImmediate as nextTurn } from 'node:timers/promises';
import { SQSClient, type SQSClientConfig } from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { parseMessage } from '../../../../shared/messages/thumbnail-work.ts';
import { sendRequests } from '../../../../shared/thumbnails/send-requests.ts';

beforeEach(() => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'a');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'b');
});
afterEach(() => vi.unstubAllEnvs());

const images = (count: number) => Array.from({ length: count }, (_, index) => `g/${index}.jpg`);

const bodySchema = z.object({
  Entries: z.array(z.object({ Id: z.string(), MessageBody: z.string() })),
});

/**
 * A queue behind a new client, which finds its credentials where a function has them.
 *
 * @param takes whether an image's message is taken, the first time or the second
 */
function queue(takes: (image: string, time: number) => boolean = () => true) {
  const requests: string[][] = [];
  const asked = new Map<string, number>();
  const counts = { underWay: 0, mostAtOnce: 0 };
  const handle = async ({ body }: { body: Uint8Array }) => {
    counts.underWay += 1;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, counts.underWay);
    const { Entries: entries } = bodySchema.parse(JSON.parse(new TextDecoder().decode(body)));
    const told = entries.map(({ Id, MessageBody }) => {
      const image = parseMessage(MessageBody)[0]?.image ?? '';
      const time = (asked.get(image) ?? 0) + 1;
      asked.set(image, time);
      return { Id, image, taken: takes(image, time) };
    });
    requests.push(told.map(({ image }) => image));
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    counts.underWay -= 1;
    const Failed = told.filter(({ taken }) => !taken).map(({ Id }) => ({ Id }));
    const headers = { 'content-type': 'application/x-amz-json-1.0' };
    const answer = Buffer.from(JSON.stringify({ Successful: [], Failed }));
    return { response: { statusCode: 200, headers, body: answer } };
  };
  const client = new SQSClient({
    region: 'us-east-1',
    endpoint: 'http://queue',
    requestHandler: { handle } as unknown as NonNullable<SQSClientConfig['requestHandler']>,
  });
  return { there: { client, url: 'http://queue/1/q' }, requests, asked, counts };
}

test('the first ten are sent before all others, and those at once', async () => {
  const { there, requests, counts } = queue();
  expect(await sendRequests(there, images(80))).toEqual([]);
  expect(requests).toHaveLength(8);
  expect(requests.flat()).toEqual(images(80));
  expect(counts.mostAtOnce).toBe(7);
});

test('nothing is sent of no images', async () => {
  const { there, requests } = queue();
  expect(await sendRequests(there, [])).toEqual([]);
  expect(requests).toEqual([]);
});

test('what was not taken is sent once more, and is told of if it is not taken then', async () => {
  const never = ['g/4.jpg', 'g/15.jpg'];
  const { there, asked } = queue(
    (image, time) => !never.includes(image) && (time > 1 || !image.endsWith('3.jpg')),
  );
  expect(await sendRequests(there, images(25))).toEqual(never);
  for (const [image, times] of asked) {
    expect(times).toBe(never.includes(image) || image.endsWith('3.jpg') ? 2 : 1);
  }
});
