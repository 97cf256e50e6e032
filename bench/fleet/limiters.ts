import { setTimeout as sleep } from 'node:timers/promises';
import { ConditionalCheckFailedException, type DynamoDB } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { RateLimiterDynamo, RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Admission, Allowance } from '../../shared/fleet/allowance.ts';

// What a team would use instead, behind the interface of our own, so that everything else is the same.

export const PEERS = ['none', 'per-process', 'minute-window', 'rate-limiter-flexible'] as const;
export type Peer = (typeof PEERS)[number];

export interface PeerOptions {
  requestsPerMinute: number;
  /** How many processes share the account, as it was planned. */
  processes: number;
  dynamo: DynamoDB;
  table: string;
}

export async function createPeer(peer: Peer, options: PeerOptions): Promise<Allowance> {
  const { requestsPerMinute, processes, dynamo, table } = options;
  switch (peer) {
    case 'none':
      return behind(async () => 0);
    case 'per-process': {
      // Its part of a second, or of several where that is less than one call.
      const perSecond = requestsPerMinute / 60 / processes;
      const duration = Math.max(1, Math.ceil(1 / perSecond));
      const limiter = new RateLimiterMemory({ points: Math.floor(perSecond * duration), duration });
      return behind(() => consume(() => limiter.consume('calls')));
    }
    case 'minute-window':
      return behind(minuteWindow(DynamoDBDocumentClient.from(dynamo), table, requestsPerMinute));
    case 'rate-limiter-flexible': {
      const limiter = await new Promise<RateLimiterDynamo>((resolve, reject) => {
        const created = new RateLimiterDynamo(
          {
            storeClient: dynamo,
            tableName: table,
            tableCreated: true,
            ttlSet: true,
            points: Math.floor(requestsPerMinute / 60),
            duration: 1,
          },
          (error) => (error ? reject(error) : resolve(created)),
        );
      });
      return behind(() => consume(() => limiter.consume('calls')));
    }
  }
}

/** Milliseconds to wait before asking again; 0 where the call may begin. */
async function consume(take: () => Promise<RateLimiterRes>): Promise<number> {
  try {
    await take();
    return 0;
  } catch (error) {
    if (error instanceof RateLimiterRes) return Math.max(1, error.msBeforeNext);
    throw error;
  }
}

/** One counter for each minute, and a write for each call. */
function minuteWindow(client: DynamoDBDocumentClient, table: string, most: number) {
  return async (): Promise<number> => {
    const minute = Math.floor(Date.now() / 60_000);
    try {
      await client.send(
        new UpdateCommand({
          TableName: table,
          Key: { key: `minute/${minute}` },
          UpdateExpression: 'ADD #count :one',
          ConditionExpression: 'attribute_not_exists(#count) OR #count < :most',
          ExpressionAttributeNames: { '#count': 'count' },
          ExpressionAttributeValues: { ':one': 1, ':most': most },
        }),
      );
      return 0;
    } catch (error) {
      if (error instanceof ConditionalCheckFailedException) {
        return (minute + 1) * 60_000 - Date.now();
      }
      throw error;
    }
  };
}

/** A call refused waits as long as the provider says, alone: that is what these have in common. */
function behind(ask: () => Promise<number>): Allowance {
  return {
    storeOps: 0,
    refused: () => {},
    overloaded: () => {},
    yield: () => {},
    async admit({ wanted }): Promise<Admission> {
      const since = Date.now();
      while (wanted()) {
        const waitMs = await ask();
        if (waitMs === 0) break;
        await sleep(waitMs * (1 + Math.random() * 0.1));
      }
      const waited = { allowanceMs: Date.now() - since, yieldMs: 0, refusedMs: 0 };
      if (!wanted()) return { kind: 'left', waited, delayMs: 0 };
      return { kind: 'begin', waited, settle: () => {} };
    },
  };
}
