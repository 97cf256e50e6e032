import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';

export interface Front {
  readonly url: string;
  /** How many have ever been opened. */
  connections(): number;
  /** Settles once the last of them has been closed. */
  readonly emptied: Promise<void>;
  close(): void;
}

/**
 * Stands before a server to count the connections that lead to it. The first answers wait until so
 * many calls have come: who has fewer connections than that gets none.
 */
export async function startFront(target: string, together: number): Promise<Front> {
  let connections = 0;
  let open = 0;
  let came = 0;
  const all = Promise.withResolvers<void>();
  const emptied = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    came += 1;
    if (came === together) all.resolve();
    await all.promise;
    const { authorization = '', 'x-api-key': key = '' } = request.headers;
    const headers = { authorization, 'x-api-key': String(key) };
    const answer = await fetch(`${target}${request.url}`, { method: 'POST', headers, body });
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(await answer.text());
  });
  server.on('connection', (socket) => {
    connections += 1;
    open += 1;
    socket.once('close', () => {
      open -= 1;
      if (open === 0) emptied.resolve();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No address.');
  return {
    url: `http://127.0.0.1:${address.port}`,
    connections: () => connections,
    emptied: emptied.promise,
    close: () => server.close(),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
