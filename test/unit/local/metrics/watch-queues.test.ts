import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import type { QueueReading } from '../../../../local/metrics/service-metrics.ts';
import { watchQueues } from '../../../../local/metrics/watch-queues.ts';

const folder = mkdtempSync(join(tmpdir(), 'glimpse-queues-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a queue’s depth and age are told of all that is not deleted, and of an empty one too', () => {
  const path = join(folder, 'fauxqs.db');
  const db = new DatabaseSync(path);
  db.exec(
    'CREATE TABLE sqs_messages (queue_name TEXT, sent_timestamp INTEGER, delay_until INTEGER, visibility_deadline INTEGER)',
  );
  const now = Date.now();
  const put = db.prepare('INSERT INTO sqs_messages VALUES (?, ?, ?, ?)');
  put.run('work', now - 30_000, null, now + 60_000);
  put.run('work', now - 20_000, null, now - 1000);
  put.run('work', now - 10_000, now + 60_000, null);
  put.run('work', now, null, null);
  const read: QueueReading[] = [];
  const stop = watchQueues(path, ['work', 'empty'], (reading) => read.push(reading));
  stop();
  db.close();
  expect(read).toEqual([
    { queue: 'work', visible: 2, notVisible: 1, delayed: 1, oldestSeconds: expect.closeTo(30, 0) },
    { queue: 'empty', visible: 0, notVisible: 0, delayed: 0, oldestSeconds: 0 },
  ]);
});
