import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test, vi } from 'vitest';
import * as z from 'zod';
import { askApi } from '../../../cli/explain/ask-api.ts';
import { signFor } from '../../../cli/sign-for.ts';

async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

test('an API that is not there is told with what the connection came to, and what to look at', async () => {
  const api = await closedPort();
  await expect(askApi(api, '/fleet', z.object(), async () => ({}))).rejects.toThrow(
    new Error(
      `${api}/fleet does not answer (ECONNREFUSED): look at the network, and at the outputs: their stack may be deleted, or be another.`,
    ),
  );
});

test('who has no credentials is told of that, and not that nothing answers', async () => {
  vi.stubEnv('AWS_REGION', 'us-east-1');
  vi.stubEnv('AWS_PROFILE', 'nobody');
  const authorize = (url: URL) => signFor(url, undefined);
  await expect(askApi(await closedPort(), '/fleet', z.object(), authorize)).rejects.toThrow(
    /^The request cannot be signed: .*credentials.*\. Choose an account by AWS_PROFILE and a region by AWS_REGION\.$/,
  );
  vi.unstubAllEnvs();
});
