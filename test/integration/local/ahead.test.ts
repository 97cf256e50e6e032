import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Fixture,
  httpApi,
  lambda,
  mapping,
  queue,
  startFixture,
  until,
} from './fixture-stack.ts';

const LOUD = `console.log('loaded'); export const handler = async () => ({ statusCode: 200, body: '' });`;

let fixture: Fixture;
beforeAll(async () => {
  const sendsTo = (name: string) => ({
    Environment: { Variables: { QUEUE_URL: { Ref: name } } },
  });
  fixture = await startFixture(
    {
      SummariesFiles: queue(),
      SummariesRows: queue(),
      SummariesApi: lambda('loud', sendsTo('SummariesFiles')),
      SummariesReader: lambda('loud', sendsTo('SummariesRows')),
      SummariesWorker: lambda('loud'),
      FilesMapping: mapping('SummariesFiles', 'SummariesReader'),
      RowsMapping: mapping('SummariesRows', 'SummariesWorker'),
      ...httpApi({ 'GET /files': 'SummariesApi', 'POST /files': 'SummariesApi' }),
    },
    { loud: LOUD },
  );
});
afterAll(() => fixture.stop());

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
