import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import type { Pool } from './lanes.ts';
import { countName, type FleetTable, type LineState, lineKey, parseLine } from './line-item.ts';

export interface Ask {
  readonly pool: Pool;
  readonly frame: number;
  readonly lanes: number;
}

/** The shared state of an account, by name. Each of these is one call. */
export interface Line {
  /**
   * Asks for lanes, and answers the state with them. An ask is an addition and fails for nobody; one
   * that was repeated after a time-out leaves lanes unused and gives none twice.
   *
   *   count of common/7, of 10 lanes
   *   process A   0 ── +6 ──▶ 6                      has 0 to 5
   *   process B               6 ── +6 ──▶ 12         has 6 to 9; 10 and 11 there are not
   */
  take(
    asks: readonly Ask[],
    note: { interactiveAt?: number; outdated: readonly string[] },
  ): Promise<LineState>;
  read(): Promise<LineState>;
  /** Nobody calls before; answers without having written if somebody said so already, or longer. */
  quiet(until: number): Promise<void>;
  yield(until: number): Promise<void>;
  /** Whoever is first in a while cuts; the others' refusals have the same cause. */
  cut(to: number, at: number, unlessSince: number): Promise<void>;
}

export function openLine(table: FleetTable, name: string): Line {
  const Key = lineKey(name);
  const TableName = table.name;

  const raise = async (attribute: 'quietUntil' | 'yieldUntil', until: number) => {
    await unlessRefused(
      table.client.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression: 'SET #until = :until',
          ConditionExpression: 'attribute_not_exists(#until) OR #until < :until',
          ExpressionAttributeNames: { '#until': attribute },
          ExpressionAttributeValues: { ':until': until },
        }),
      ),
    );
  };

  return {
    async take(asks, { interactiveAt, outdated }) {
      const adds = asks.map((_, index) => `#n${index} :n${index}`);
      const removes = outdated.map((_, index) => `#o${index}`);
      const answer = await table.client.send(
        new UpdateCommand({
          TableName,
          Key,
          UpdateExpression: [
            ...(adds.length > 0 ? [`ADD ${adds.join(', ')}`] : []),
            ...(interactiveAt === undefined ? [] : ['SET #interactiveAt = :interactiveAt']),
            ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
          ].join(' '),
          ExpressionAttributeNames: {
            ...Object.fromEntries(
              asks.map(({ pool, frame }, index) => [`#n${index}`, countName(pool, frame)]),
            ),
            ...Object.fromEntries(outdated.map((attribute, index) => [`#o${index}`, attribute])),
            ...(interactiveAt === undefined ? {} : { '#interactiveAt': 'interactiveAt' }),
          },
          ExpressionAttributeValues: {
            ...Object.fromEntries(asks.map(({ lanes }, index) => [`:n${index}`, lanes])),
            ...(interactiveAt === undefined ? {} : { ':interactiveAt': interactiveAt }),
          },
          ReturnValues: 'ALL_NEW',
        }),
      );
      return parseLine(answer.Attributes);
    },
    async read() {
      const { Item } = await table.client.send(new GetCommand({ TableName, Key }));
      return parseLine(Item);
    },
    quiet: (until) => raise('quietUntil', until),
    yield: (until) => raise('yieldUntil', until),
    async cut(to, at, unlessSince) {
      await unlessRefused(
        table.client.send(
          new UpdateCommand({
            TableName,
            Key,
            UpdateExpression: 'SET #cutTo = :to, #cutAt = :at',
            ConditionExpression: 'attribute_not_exists(#cutAt) OR #cutAt < :since',
            ExpressionAttributeNames: { '#cutTo': 'cutTo', '#cutAt': 'cutAt' },
            ExpressionAttributeValues: { ':to': to, ':at': at, ':since': unlessSince },
          }),
        ),
      );
    },
  };
}

async function unlessRefused(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
