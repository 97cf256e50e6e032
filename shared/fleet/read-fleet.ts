import type { AllowanceSettings } from './allowance-settings.ts';
import { openLine } from './line.ts';
import type { FleetTable, LineState } from './line-item.ts';
import { type ByMode, lastSpan } from './measure.ts';
import { type ChunkQueue, type Depth, readDepth } from './queue-depth.ts';
import { readUsage, type UsageItem } from './usage-item.ts';

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
