import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { z } from 'zod';
import type { QueueReading } from './service-metrics.ts';

/** AWS measures each minute; whoever watches a burst here need not wait for that. */
const EVERY_MS = 5000;
/** Of the time, at most so much: what waits is counted by reading all of it. */
const MOST_OF_TIME = 0.02;

const countsSchema = z.array(
  z.object({
    queue: z.string(),
    all: z.number(),
    hidden: z.number(),
    delayed: z.number(),
    oldest: z.number(),
  }),
);

/**
 * Reads the queues' depth and age in the database of fauxqs, again and again: its API does not tell the
 * age. Readers hold up no writer there. Answers how to stop.
 */
export function watchQueues(
  database: string,
  queues: readonly string[],
  read: (reading: QueueReading) => void,
): () => void {
  let timer: NodeJS.Timeout | undefined;
  let db: DatabaseSync | undefined;
  const look = () => {
    const began = performance.now();
    try {
      if (db === undefined && existsSync(database)) {
        db = new DatabaseSync(database, { readOnly: true });
      }
      if (db !== undefined) for (const reading of readQueues(db, queues, Date.now())) read(reading);
    } catch {
      // It is being made, or was busy for a moment: the next look comes.
    }
    const wait = Math.max(EVERY_MS, (performance.now() - began) / MOST_OF_TIME);
    timer = setTimeout(look, wait).unref();
  };
  look();
  return () => {
    clearTimeout(timer);
    db?.close();
  };
}

function readQueues(db: DatabaseSync, queues: readonly string[], now: number): QueueReading[] {
  const rows = db
    .prepare(
      `SELECT queue_name AS queue, COUNT(*) AS "all", MIN(sent_timestamp) AS oldest,
         SUM(visibility_deadline IS NOT NULL AND visibility_deadline > ?) AS hidden,
         SUM(delay_until IS NOT NULL AND delay_until > ?) AS delayed
       FROM sqs_messages GROUP BY queue_name`,
    )
    .all(now, now);
  const counts = new Map(countsSchema.parse(rows).map((each) => [each.queue, each]));
  return queues.map((queue) => {
    const { all = 0, hidden = 0, delayed = 0, oldest = now } = counts.get(queue) ?? {};
    return {
      queue,
      visible: all - hidden - delayed,
      notVisible: hidden,
      delayed,
      oldestSeconds: Math.max(0, (now - oldest) / 1000),
    };
  });
}
