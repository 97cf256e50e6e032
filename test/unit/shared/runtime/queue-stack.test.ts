import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { type ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Context, SQSRecord } from 'aws-lambda';
import { describe, expect, test } from 'vitest';
import { MalformedMessageError } from '../../../../shared/errors.ts';
import { type Delivery, queueHandler } from '../../../../shared/runtime/queue-stack.ts';

const logger = new Logger({ logLevel: 'SILENT' });
const metrics = new Metrics({ namespace: 'test', serviceName: 'test' });

function record(id: string, receives = 1): SQSRecord {
  return {
    messageId: id,
    receiptHandle: `handle of ${id}`,
    body: id,
    attributes: {
      ApproximateReceiveCount: String(receives),
      SentTimestamp: '0',
      SenderId: 'sender',
      ApproximateFirstReceiveTimestamp: '0',
    },
    messageAttributes: {},
    md5OfBody: '',
    eventSource: 'aws:sqs',
    eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:eager',
    awsRegion: 'us-east-1',
  };
}

/** Runs a batch and notes what became of each record. */
async function run(
  records: SQSRecord[],
  process: (delivery: Delivery) => Promise<void>,
  { remaining = () => 60_000 }: { remaining?: () => number } = {},
) {
  const hidden: unknown[] = [];
  const sqs = new SQSClient({ region: 'us-east-1' });
  sqs.middlewareStack.add(
    () => async (args) => {
      hidden.push((args.input as ChangeMessageVisibilityCommand['input']).VisibilityTimeout);
      return { output: { $metadata: {} }, response: undefined };
    },
    { step: 'initialize' },
  );
  const handler = queueHandler({
    logger,
    metrics,
    process,
    needsMs: 20_000,
    retry: {
      sqs: () => sqs,
      queueUrl: (name) => `http://queue/${name}`,
      delayMs: (_, attempt) => attempt * 1000,
    },
  });
  const context = { getRemainingTimeInMillis: remaining, awsRequestId: 'id' } as Context;
  const { batchItemFailures } = await handler({ Records: records }, context);
  return { failed: batchItemFailures.map(({ itemIdentifier }) => itemIdentifier), hidden };
}

describe('a batch of messages', () => {
  test('is answered message by message', async () => {
    const outcome = await run([record('a'), record('b', 3), record('c')], async ({ body }) => {
      if (body === 'b') throw new Error('not well');
    });
    expect(outcome).toEqual({ failed: ['b'], hidden: [3] });
  });

  test('survives a record that throws nothing at all', async () => {
    const outcome = await run([record('a'), record('b')], async ({ body }) => {
      if (body === 'a') throw undefined;
    });
    expect(outcome.failed).toEqual(['a']);
  });

  test('of which all fail names each, and does not throw', async () => {
    const outcome = await run([record('a'), record('b')], async () => {
      throw new Error('not well');
    });
    expect(outcome.failed).toEqual(['a', 'b']);
  });

  test('gives back untouched what there is too little time for', async () => {
    const seen: string[] = [];
    let remaining = 40_000;
    const outcome = await run(
      [record('a'), record('b'), record('c')],
      async ({ body }) => {
        seen.push(body);
        remaining -= 30_000;
      },
      { remaining: () => remaining },
    );
    expect(seen).toEqual(['a']);
    expect(outcome).toEqual({ failed: ['b', 'c'], hidden: [0, 0] });
  });

  test('drops what no retry makes readable', async () => {
    const outcome = await run([record('a')], async () => {
      throw new MalformedMessageError('expected something else');
    });
    expect(outcome.failed).toEqual([]);
  });

  test('tells each record its attempt and its deadline', async () => {
    const deliveries: Delivery[] = [];
    const before = Date.now();
    await run([record('a', 4)], async (delivery) => {
      deliveries.push(delivery);
    });
    expect(deliveries[0]).toMatchObject({ body: 'a', attempt: 4 });
    expect(deliveries[0]?.deadline).toBeGreaterThanOrEqual(before + 60_000);
  });
});

describe('what is logged of a message', () => {
  const lines: unknown[] = [];
  const handler = (about: (body: string) => object, again: () => void) => {
    lines.length = 0;
    const noted = new Logger({ logLevel: 'SILENT' });
    noted.warn = (message, ...details) => {
      lines.push([message, ...details]);
    };
    return queueHandler({
      logger: noted,
      metrics,
      about,
      again,
      needsMs: 0,
      process: async () => {
        throw new Error('not well');
      },
    });
  };
  const context = { getRemainingTimeInMillis: () => 60_000, awsRequestId: 'id' } as Context;

  test('that comes again is what it is about, and it is counted', async () => {
    let again = 0;
    const handle = handler(
      (body) => ({ images: [body] }),
      () => {
        again += 1;
      },
    );
    await handle({ Records: [record('a', 2)] }, context);
    expect(lines).toMatchObject([
      [
        'a message will be tried again',
        { images: ['a'], attempt: 2, error: { message: 'not well' } },
      ],
    ]);
    expect(again).toBe(1);
  });

  test('that nobody can read is its error all the same', async () => {
    const handle = handler(
      () => {
        throw new Error('no JSON');
      },
      () => {},
    );
    await handle({ Records: [record('a')] }, context);
    expect(lines).toMatchObject([
      ['a message will be tried again', { error: { message: 'not well' } }],
    ]);
  });
});
