import { once } from 'node:events';
import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { createEngine, passOn } from '../../../../local/gateway/engine.ts';
import { type LocalServer, listen } from '../../../../local/servers.ts';

async function started(): Promise<LocalServer> {
  const server = await listen(0, 'a test');
  onTestFinished(() => server.stop());
  return server;
}

test.for([
  { when: 'before the answer begins', begins: false },
  { when: 'in the middle of it', begins: true },
])('a client that leaves $when keeps no connection of the engine', async ({ begins }) => {
  const [engine, front] = [await started(), await started()];
  const freed = Promise.withResolvers<void>();
  // More than any buffer on the way would take.
  engine.serve((_request, response) => {
    response.once('close', freed.resolve).end(Buffer.alloc(50_000_000));
  });
  const { open } = createEngine(engine.origin);
  front.serve(async (_request, response) => {
    const answer = await open({ method: 'GET', bucket: 'b' });
    if (!begins) await once(response, 'close');
    await passOn(answer, response).catch(() => {});
  });
  const client = request(front.origin).on('error', () => {});
  client.once('response', () => client.destroy()).end();
  if (!begins) setTimeout(() => client.destroy(), 50);
  await expect(freed.promise).resolves.toBeUndefined();
});
