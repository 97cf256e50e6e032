import { createServer, type Server } from 'node:http';
import { GetObjectCommand } from '@aws-sdk/client-s3';
import { GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterEach, expect, test, vi } from 'vitest';
import {
  createDynamo,
  createS3,
  createSqs,
  readSecret,
} from '../../../../shared/runtime/clients.ts';

let server: Server | undefined;

afterEach(() => {
  server?.close();
  server?.closeAllConnections();
  vi.unstubAllEnvs();
});

/** What never answers the first call of a service, and every other at once. */
async function hangingOnce(): Promise<string> {
  const heard = new Set<string>();
  server = createServer((request, response) => {
    const service = /\/(\w+)\/aws4_request/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!heard.has(service)) {
      heard.add(service);
      return;
    }
    const answers: Record<string, string> = {
      ssm: '{"Parameter":{"Value":"secret"}}',
      s3: 'picture',
    };
    response.writeHead(200, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(answers[service] ?? '{}');
  });
  await new Promise<void>((done) => server?.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No address.');
  return `http://127.0.0.1:${address.port}`;
}

test('a call that hangs is made again, early enough for the function of ten seconds', async () => {
  const url = await hangingOnce();
  vi.stubEnv('AWS_ENDPOINT_URL', url);
  vi.stubEnv('AWS_REGION', 'eu-west-1');
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  const began = performance.now();
  const lastsMs = async (call: Promise<unknown>) => {
    await call;
    return performance.now() - began;
  };
  const took = await Promise.all([
    lastsMs(createDynamo().send(new GetCommand({ TableName: 'images', Key: { gallery: 'a' } }))),
    lastsMs(createS3().send(new GetObjectCommand({ Bucket: 'b.c', Key: 'a.jpg' }))),
    lastsMs(createSqs().send(new GetQueueUrlCommand({ QueueName: 'jobs' }))),
    lastsMs(readSecret('/key')),
  ]);
  // Once for every service, and not more often.
  for (const ms of took) {
    expect(ms).toBeGreaterThan(4900);
    expect(ms).toBeLessThan(8000);
  }
});
