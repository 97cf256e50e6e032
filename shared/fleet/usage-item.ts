import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod';
import type { Mode } from './allowance-settings.ts';
import type { FleetTable } from './line-item.ts';

/** Seconds that one item of usage is about. */
export const USAGE_SECONDS = 10;
/** Seconds after its end in which processes that were at it write what they did: then it is whole. */
export const LATE_SECONDS = 3;
/** Seconds for which it is kept. */
const KEPT_SECONDS = 86_400;

const amount = z.number().default(0);

const usageSchema = z.object({
  /** Calls that were answered, with an answer or an error. */
  calls: amount,
  /** Of these, refused for the rate. */
  refused: amount,
  /** Of these, those that brought no answer for another reason. */
  failed: amount,
  inputTokens: amount,
  outputTokens: amount,
  /** The sum of the calls' durations: ÷ the item's time, it is how many were in flight. */
  serviceMs: amount,
  gateMs: amount,
  allowanceMs: amount,
  yieldMs: amount,
  refusedMs: amount,
  /** Processes that added to it. */
  processes: amount,
  /** Calls of the shared state. */
  storeOps: amount,
});

/** What the processes of one mode did in ten seconds, each adding its own. */
export type Usage = z.infer<typeof usageSchema>;

export const usageItemSchema = usageSchema.extend({
  /** Epoch seconds at which it begins. */
  at: z.number(),
  /** What the provider's answers last said that the account lets through. */
  toldRequests: z.number().optional(),
  toldTokens: z.number().optional(),
});
export type UsageItem = z.infer<typeof usageItemSchema>;

export const NO_USAGE: Usage = usageSchema.parse({});

export function sumOf(usage: Usage, more: Partial<Usage>): Usage {
  return {
    calls: usage.calls + (more.calls ?? 0),
    refused: usage.refused + (more.refused ?? 0),
    failed: usage.failed + (more.failed ?? 0),
    inputTokens: usage.inputTokens + (more.inputTokens ?? 0),
    outputTokens: usage.outputTokens + (more.outputTokens ?? 0),
    serviceMs: usage.serviceMs + (more.serviceMs ?? 0),
    gateMs: usage.gateMs + (more.gateMs ?? 0),
    allowanceMs: usage.allowanceMs + (more.allowanceMs ?? 0),
    yieldMs: usage.yieldMs + (more.yieldMs ?? 0),
    refusedMs: usage.refusedMs + (more.refusedMs ?? 0),
    processes: usage.processes + (more.processes ?? 0),
    storeOps: usage.storeOps + (more.storeOps ?? 0),
  };
}

/** The limits of an account, as the provider's answers state them. */
export interface ToldAccount {
  readonly requests?: number | undefined;
  readonly tokens?: number | undefined;
}

/** @param now epoch milliseconds: a time within the item */
export async function addUsage(
  table: FleetTable,
  mode: Mode,
  usage: Usage,
  now: number,
  { requests, tokens }: ToldAccount = {},
): Promise<void> {
  const at = Math.floor(now / 1000 / USAGE_SECONDS) * USAGE_SECONDS;
  const amounts = Object.entries(usage).filter(([, value]) => value !== 0);
  if (amounts.length === 0) return;
  const values = Object.entries({
    ttl: at + KEPT_SECONDS,
    ...(requests === undefined ? {} : { toldRequests: requests }),
    ...(tokens === undefined ? {} : { toldTokens: tokens }),
  });
  await table.client.send(
    new UpdateCommand({
      TableName: table.name,
      Key: { line: `usage/${mode}`, at },
      UpdateExpression: `ADD ${amounts.map(([name]) => `#${name} :${name}`).join(', ')} SET ${values.map(([name]) => `#${name} = :${name}`).join(', ')}`,
      ExpressionAttributeNames: Object.fromEntries(
        [...amounts, ...values].map(([name]) => [`#${name}`, name]),
      ),
      ExpressionAttributeValues: {
        ...Object.fromEntries(values.map(([name, value]) => [`:${name}`, value])),
        ...Object.fromEntries(amounts.map(([name, value]) => [`:${name}`, Math.round(value)])),
      },
    }),
  );
}

/** @param from and to: epoch seconds, both included. */
export async function readUsage(
  table: FleetTable,
  mode: Mode,
  { from, to }: { from: number; to: number },
): Promise<UsageItem[]> {
  const items: unknown[] = [];
  let after: Record<string, unknown> | undefined;
  do {
    const answer = await table.client.send(
      new QueryCommand({
        TableName: table.name,
        KeyConditionExpression: '#line = :line AND #at BETWEEN :from AND :to',
        ExpressionAttributeNames: { '#line': 'line', '#at': 'at' },
        ExpressionAttributeValues: { ':line': `usage/${mode}`, ':from': from, ':to': to },
        ExclusiveStartKey: after,
      }),
    );
    items.push(...(answer.Items ?? []));
    after = answer.LastEvaluatedKey;
  } while (after !== undefined);
  return z.array(usageItemSchema).parse(items);
}
