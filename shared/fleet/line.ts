import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import type { Mode } from './allowance-settings.ts';
import type { Pool } from './lanes.ts';
import { additions, type FleetTable, type LineState, lineKey, parseLine } from './line-item.ts';

export interface Ask {
  readonly pool: Pool;
  readonly frame: number;
  readonly lanes: number;
}

/** Lanes of a frame that a process could use, beyond what it said before. */
export interface Wanted {
  readonly mode: Mode;
  readonly frame: number;
  readonly lanes: number;
}

export interface Note {
  readonly wanted?: readonly Wanted[];
  /** Epoch milliseconds: interactive work is there. */
  readonly interactiveAt?: number;
  /** Nothing is taken if it has been there since. */
  readonly unlessInteractiveSince?: number;
  /** Counts of frames that are over. */
  readonly outdated: readonly string[];
}

export interface Taken {
  /** False if interactive work was there. */
  readonly taken: boolean;
  readonly state: LineState;
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
   *
   * Bulk work that asks for lanes of the share does so on condition: what it last heard of interactive
   * work may be a frame old, and a process that has just begun has heard nothing.
   */
  take(asks: readonly Ask[], note: Note): Promise<Taken>;
  read(): Promise<LineState>;
  /** Nobody calls before; answers without having written if somebody said so already, or longer. */
  quiet(until: number): Promise<void>;
  yield(until: number): Promise<void>;
  /** Whoever is first in a while cuts; the others' refusals have the same cause. */
  cut(to: number, at: number, unlessSince: number): Promise<void>;
}

/** An expression has room for 300; the others are removed the next time. */
const MOST_REMOVED = 50;

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
    async take(asks, note) {
      const { interactiveAt, unlessInteractiveSince: since, outdated } = note;
      const removed = outdated.slice(0, MOST_REMOVED);
      const added = additions(asks, note);
      const adds = added.map((_, index) => `#n${index} :n${index}`);
      const removes = removed.map((_, index) => `#o${index}`);
      const marks = interactiveAt !== undefined || since !== undefined;
      try {
        const answer = await table.client.send(
          new UpdateCommand({
            TableName,
            Key,
            UpdateExpression: [
              `ADD ${adds.join(', ')}`,
              ...(interactiveAt === undefined ? [] : ['SET #interactiveAt = :interactiveAt']),
              ...(removes.length > 0 ? [`REMOVE ${removes.join(', ')}`] : []),
            ].join(' '),
            ...(since === undefined
              ? {}
              : {
                  ConditionExpression:
                    'attribute_not_exists(#interactiveAt) OR #interactiveAt < :since',
                }),
            ExpressionAttributeNames: {
              ...Object.fromEntries(added.map(({ name }, index) => [`#n${index}`, name])),
              ...Object.fromEntries(removed.map((attribute, index) => [`#o${index}`, attribute])),
              ...(marks ? { '#interactiveAt': 'interactiveAt' } : {}),
            },
            ExpressionAttributeValues: {
              ...Object.fromEntries(added.map(({ lanes }, index) => [`:n${index}`, lanes])),
              ...(interactiveAt === undefined ? {} : { ':interactiveAt': interactiveAt }),
              ...(since === undefined ? {} : { ':since': since }),
            },
            ReturnValues: 'ALL_NEW',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        );
        return { taken: true, state: parseLine(answer.Attributes) };
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
        const item = error.Item === undefined ? undefined : unmarshall(error.Item);
        return { taken: false, state: parseLine(item) };
      }
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
