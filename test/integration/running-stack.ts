import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { z } from 'zod';
import { type LocalCloud, startLocalCloud } from '../../local/cloud.ts';
import { readEmbedded, type UnitSample } from '../../local/metrics/embedded-format.ts';
import type { Wreck } from '../flows/rare-paths.ts';
import { type Target, until } from '../flows/target.ts';

// A stack on the local cloud, and what its functions say and measure meanwhile.

const root = resolve(import.meta.dirname, '../..');

export interface Running {
  cloud: LocalCloud;
  target: Target;
  /** What the functions measured so far, summed. */
  measured: Map<string, number>;
  /** What the functions and AWS itself were refused. */
  denied: string[];
  /** All that they wrote. */
  logs: () => string;
  /** Of these, the structured ones with a message. */
  linesOf: (message: string) => Record<string, unknown>[];
  /** The most memory that an invocation of the worker used, in MB. */
  peakMemory: () => number;
  stop: () => Promise<void>;
}

export const keyOf = ({ name, dimensions }: Pick<UnitSample, 'name' | 'dimensions'>): string =>
  JSON.stringify([name, Object.entries(dimensions).sort()]);

/** @param emitted what the functions measure, by name and dimensions. */
export async function start(cdkOut: string, emitted: Map<string, UnitSample>): Promise<Running> {
  const stateDir = await mkdtemp(join(tmpdir(), 'glimpse-flows-'));
  const measured = new Map<string, number>();
  const denied: string[] = [];
  let peak = 0;
  let logs = '';
  const cloud = await startLocalCloud({
    root,
    stateDir,
    cdkOut,
    onDenied: (line) => denied.push(line),
    onLog: (_, text) => {
      logs += text;
      for (const line of text.split('\n')) {
        for (const sample of readEmbedded(line)) {
          emitted.set(keyOf(sample), sample);
          const sum = sample.values.reduce((total, each) => total + each, 0);
          measured.set(sample.name, (measured.get(sample.name) ?? 0) + sum);
        }
        peak = Math.max(peak, Number(/Max Memory Used: (\d+) MB/.exec(line)?.[1] ?? 0));
      }
    },
  });
  const { s3, region, credentials, buckets, api, token = '' } = cloud.endpoints;
  const client = new S3Client({ endpoint: s3, region, credentials, forcePathStyle: true });
  return {
    cloud,
    target: { api, s3: client, originals: buckets.originals ?? '', token },
    measured,
    denied,
    logs: () => logs,
    linesOf: (message) =>
      logs
        .split('\n')
        .slice(0, -1)
        .filter((line) => line.startsWith('{"level"'))
        .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)))
        .filter((line) => line.message === message),
    peakMemory: () => peak,
    stop: async () => {
      await cloud.stop();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
}

/** What it takes to bring about what happens only when something has gone wrong. */
export function wreckOf({ cloud, target }: Running): Wreck {
  const { region, credentials, buckets, tables, queues, outputs, sqs, dynamodb } = cloud.endpoints;
  const { images = '', imports = '', fleet = '' } = tables;
  return {
    ...target,
    sqs: new SQSClient({ endpoint: sqs, region, credentials }),
    dynamo: DynamoDBDocumentClient.from(
      new DynamoDBClient({ endpoint: dynamodb, region, credentials }),
    ),
    variants: JSON.parse(outputs.Variants ?? '[]'),
    importsBucket: buckets.imports ?? '',
    tables: { images, imports, fleet },
    queues,
  };
}

/**
 * The reaper, as its schedule begins it each minute. One that runs already looks after what there was
 * when it began, for up to a minute, and there is no other beside it.
 */
export async function reap({ cloud }: Running): Promise<void> {
  const reaper = cloud.endpoints.functions.SummariesReaper ?? '';
  await until(
    async () => {
      cloud.killFunction(reaper);
      return await cloud.invoke(reaper, {});
    },
    ({ kind }) => kind !== 'throttled',
  );
}
