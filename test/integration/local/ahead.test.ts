import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendMessageCommand } from '@aws-sdk/client-sqs';
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

/** Takes its time to load, and then to answer. */
const HEAVY = `
console.log('load', Date.now());
await new Promise((done) => setTimeout(done, 300));
console.log('there', Date.now());
export const handler = async () => { await new Promise((done) => setTimeout(done, 3000)); };`;

let fixture: Fixture;
beforeAll(async () => {
  const sendsTo = (name: string) => ({
    Environment: { Variables: { QUEUE_URL: { Ref: name } } },
  });
  fixture = await startFixture(
    {
      SummariesFiles: queue(),
      SummariesRows: queue(),
      // It knows both, and what reads the second is called by what reads the first.
      SummariesApi: lambda('loud', {
        Environment: {
          Variables: { FILES_URL: { Ref: 'SummariesFiles' }, ROWS_URL: { Ref: 'SummariesRows' } },
        },
      }),
      SummariesReader: lambda('loud', sendsTo('SummariesRows')),
      SummariesWorker: lambda('loud'),
      FilesMapping: mapping('SummariesFiles', 'SummariesReader'),
      RowsMapping: mapping('SummariesRows', 'SummariesWorker'),
      Many: queue(),
      Crowd: lambda('heavy'),
      ManyMapping: mapping('Many', 'Crowd', {
        BatchSize: 1,
        ScalingConfig: { MaximumConcurrency: 6 },
      }),
      ...httpApi({ 'GET /files': 'SummariesApi', 'POST /files': 'SummariesApi' }),
    },
    { loud: LOUD, heavy: HEAVY },
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

test('of many processes that are called at once, so many start together as there are cores', async () => {
  const QueueUrl = fixture.cloud.endpoints.queues.many;
  for (let index = 0; index < 6; index++) {
    await fixture.sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' }));
  }
  const file = join(fixture.stateDir, 'logs', 'test-crowd.log');
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
