import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { startSchedule } from '../../../local/schedules/schedule.ts';
import { type Fixture, until } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

let fixture: Fixture;

test.beforeAll(({ shared }) => {
  fixture = shared;
});

const invoke = (event: string) => fixture.cloud.invoke('test-summaries-reaper', JSON.parse(event));
const said = () =>
  readFileSync(join(fixture.stateDir, 'logs', 'test-summaries-reaper.log'), 'utf8')
    .split('\n')
    .filter((line) => /^(begins|ends)/.test(line));
const counts = () => fixture.cloud.counts('test-summaries-reaper');

test('a schedule of the template does nothing before its first interval has passed', () => {
  expect(counts().invocations).toBe(0);
});

test('a function runs again and again, never twice at once, also if it fails, and not after the stop', async () => {
  const plan = {
    arn: 'arn:aws:events:::rule/test',
    everyMs: 100,
    functionName: 'test-summaries-reaper',
  };
  const schedule = startSchedule(plan, invoke);
  await until(() => counts().invocations >= 3);
  await schedule.stop();

  const { invocations, errors, mostAtOnce, running } = counts();
  expect({ running, mostAtOnce, errors }).toEqual({
    running: 0,
    mostAtOnce: 1,
    errors: invocations,
  });
  const lines = said();
  expect(lines).toHaveLength(2 * invocations);
  for (const [index, line] of lines.entries()) {
    expect(line).toMatch(index % 2 === 0 ? /^begins/ : /^ends/);
  }
  expect(JSON.parse(lines[0]?.replace('begins ', '') ?? '')).toMatchObject({
    'detail-type': 'Scheduled Event',
    source: 'aws.events',
    resources: [plan.arn],
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
  });
  await sleep(250);
  expect(counts().invocations).toBe(invocations);
});

test('a run is waited for when its schedule stops', async () => {
  const before = counts().invocations;
  const plan = {
    arn: 'arn:aws:events:::rule/test',
    everyMs: 50,
    functionName: 'test-summaries-reaper',
  };
  const schedule = startSchedule(plan, invoke);
  await until(() => counts().invocations > before);
  await schedule.stop();
  expect(counts().running).toBe(0);
});
