import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Mode } from './allowance-settings.ts';
import type { Pool } from './lanes.ts';
import type { Ask, Note } from './line.ts';

export interface FleetTable {
  readonly client: DynamoDBDocumentClient;
  readonly name: string;
}

/** What the processes of a line know of each other: one item. Times are epoch milliseconds. */
export interface LineState {
  /**
   * How many lanes of a frame were asked for of each pool: `interactive/<frame>`, `common/<frame>`. And how
   * many those of each mode could use, whatever they asked for: `wanted-interactive/<frame>`,
   * `wanted-bulk/<frame>`.
   */
  readonly counts: ReadonlyMap<string, number>;
  /** When an interactive process last asked. */
  readonly interactiveAt: number;
  /** After a refusal nobody calls before. */
  readonly quietUntil: number;
  /** Bulk work gives way until then to calls that are not Glimpse's. */
  readonly yieldUntil: number;
  /** The last cut after a refusal without headers: to which part of the account, and when. */
  readonly cut: { readonly to: number; readonly at: number } | undefined;
}

export const NOTHING_KNOWN: LineState = {
  counts: new Map(),
  interactiveAt: 0,
  quietUntil: 0,
  yieldUntil: 0,
  cut: undefined,
};

const COUNT = /^(interactive|common|wanted-interactive|wanted-bulk)\/\d+$/;

const lineItemSchema = z
  .looseObject({
    interactiveAt: z.number().optional(),
    quietUntil: z.number().optional(),
    yieldUntil: z.number().optional(),
    cutTo: z.number().min(0).max(1).optional(),
    cutAt: z.number().optional(),
  })
  .transform(({ interactiveAt = 0, quietUntil = 0, yieldUntil = 0, cutTo, cutAt, ...rest }) => ({
    counts: new Map(
      Object.entries(rest).flatMap(([name, count]): [string, number][] =>
        COUNT.test(name) && typeof count === 'number' ? [[name, count]] : [],
      ),
    ),
    interactiveAt,
    quietUntil,
    yieldUntil,
    cut: cutTo === undefined || cutAt === undefined ? undefined : { to: cutTo, at: cutAt },
  }));

/** @param item undefined for a line that nobody has used yet. */
export function parseLine(item: unknown): LineState {
  return item === undefined ? NOTHING_KNOWN : lineItemSchema.parse(item);
}

export function countName(of: Pool | `wanted-${Mode}`, frame: number): string {
  return `${of}/${frame}`;
}

/** What an ask adds, by the names of the counts. */
export function additions(
  asks: readonly Ask[],
  { wanted = [] }: Note,
): { name: string; lanes: number }[] {
  return [
    ...asks.map(({ pool, frame, lanes }) => ({ name: countName(pool, frame), lanes })),
    ...wanted.map(({ mode, frame, lanes }) => ({
      name: countName(`wanted-${mode}`, frame),
      lanes,
    })),
  ];
}

/** The state of a line has the sort key 0. */
export function lineKey(line: string): { line: string; at: number } {
  return { line, at: 0 };
}
