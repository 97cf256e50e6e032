import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { AllowanceSettings } from './allowance-settings.ts';
import { openLine } from './line.ts';
import type { FleetTable, LineState } from './line-item.ts';
import { type ByMode, lastSpan } from './measure.ts';
import { readUsage, type UsageItem } from './usage-item.ts';

export interface ChunkQueue {
  readonly client: SQSClient;
  readonly url: string;
}

/** How many chunks there are. SQS counts them roughly, and up to a minute late. */
export interface Depth {
  /** Those that wait. */
  readonly depth: number;
  /** Those that a process has, and those that are held back for a while. */
  readonly inFlight: number;
}

export interface FleetReading {
  /** What was done in the last `seconds`, and in those that are not whole yet. */
  readonly usage: ByMode<readonly UsageItem[]>;
  readonly queues: ByMode<Depth>;
  readonly states: readonly {
    readonly line: AllowanceSettings['line'];
    readonly state: LineState;
  }[];
}

/** A Query for each mode, a GetItem for each line, and a call for each queue. */
export async function readFleet(
  table: FleetTable,
  queues: ByMode<ChunkQueue>,
  lines: readonly { readonly line: AllowanceSettings['line'] }[],
  { now, seconds }: { now: number; seconds: number },
): Promise<FleetReading> {
  const { from } = lastSpan(now, seconds);
  const span = { from, to: Math.floor(now / 1000) };
  const [interactive, bulk, ...rest] = await Promise.all([
    readUsage(table, 'interactive', span),
    readUsage(table, 'bulk', span),
    ...lines.map(async ({ line }) => ({ line, state: await openLine(table, line).read() })),
  ]);
  const [first, second] = await Promise.all([
    readDepth(queues.interactive),
    readDepth(queues.bulk),
  ]);
  return {
    usage: { interactive, bulk },
    queues: { interactive: first, bulk: second },
    states: rest,
  };
}

const DEPTH = 'ApproximateNumberOfMessages';
const TAKEN = 'ApproximateNumberOfMessagesNotVisible';
const DELAYED = 'ApproximateNumberOfMessagesDelayed';

async function readDepth({ client, url }: ChunkQueue): Promise<Depth> {
  const { Attributes = {} } = await client.send(
    new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [DEPTH, TAKEN, DELAYED] }),
  );
  return {
    depth: Number(Attributes[DEPTH] ?? 0),
    inFlight: Number(Attributes[TAKEN] ?? 0) + Number(Attributes[DELAYED] ?? 0),
  };
}
