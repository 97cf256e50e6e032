import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { watchDisk } from '../../../local/disk.ts';
import { openLog } from '../../../local/functions/log-file.ts';

test('a log keeps its newest lines within its limit, and the file before', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'glimpse-log-')), 'function.log');
  const seen: string[] = [];
  const log = openLog(
    path,
    (write) => write(),
    (text) => seen.push(text),
    100,
  );
  for (let line = 0; line < 30; line++) log.write(`line ${line}\n`.padStart(20));
  log.close();
  await vi.waitFor(() => expect(readFileSync(path, 'utf8')).toContain('line 29\n'));
  expect(readFileSync(path, 'utf8').length).toBeLessThanOrEqual(120);
  expect(readFileSync(`${path}.1`, 'utf8')).not.toContain('line 29\n');
  expect(existsSync(`${path}.2`)).toBe(false);
  expect(seen.filter((text) => text !== '')).toHaveLength(30);
});

test('a log that cannot be written ends nothing, and is told of once', () => {
  const told: string[] = [];
  const disk = watchDisk('/nowhere', (line) => told.push(line));
  const log = openLog('/nowhere/function.log', disk.attempt);
  log.write('lost\n');
  log.write('lost, too\n');
  log.close();
  disk.stop();
  expect(told).toEqual([
    expect.stringMatching(/^Nothing can be written to \/nowhere \(ENOENT\): /),
  ]);
});
