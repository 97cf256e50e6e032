import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { expect } from 'vitest';
import { type Fixture, until } from './fixture-stack.ts';
import { test } from './shared-cloud.ts';

let fixture: Fixture;
test.beforeAll(({ shared }) => {
  fixture = shared;
});

/** Processes of a function that have begun so far. */
function begun(name: string): number {
  const log = join(fixture.stateDir, 'logs', `test-summaries-${name}.log`);
  return existsSync(log) ? readFileSync(log, 'utf8').split('loaded\n').length - 1 : 0;
}

const call = (method: string) => fetch(`${fixture.cloud.endpoints.api}/files`, { method });

test('what reads the queue of a function starts when that is called to change something', async () => {
  await call('GET');
  await sleep(500);
  expect([begun('api'), begun('reader'), begun('worker')]).toEqual([1, 0, 0]);
  for (let index = 0; index < 3; index++) await call('POST');
  await until(() => begun('reader') === 1 || undefined);
  // One is enough, and who comes after that is not called yet.
  await sleep(500);
  expect([begun('api'), begun('reader'), begun('worker')]).toEqual([1, 1, 0]);
  const { functions } = fixture.cloud.endpoints;
  expect(fixture.cloud.counts(functions.SummariesReader ?? '').invocations).toBe(0);
});

test('of many processes that are called at once, so many start together as there are cores', async () => {
  const QueueUrl = fixture.cloud.endpoints.queues.many;
  for (let index = 0; index < 6; index++) {
    await fixture.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' }));
  }
  const file = join(fixture.stateDir, 'logs', 'test-summaries-crowd.log');
  const said = (word: string) =>
    [...readFileSync(file, 'utf8').matchAll(new RegExp(`^${word} (\\d+)$`, 'gm'))].map(([, at]) =>
      Number(at),
    );
  await until(() => said('there').length >= 4 || undefined);
  const [begun, there] = [said('load'), said('there')];
  const together = begun.map(
    (at) => begun.filter((each) => each <= at).length - there.filter((each) => each <= at).length,
  );
  expect(Math.max(...together)).toBeLessThanOrEqual(Math.max(2, availableParallelism()));
});
