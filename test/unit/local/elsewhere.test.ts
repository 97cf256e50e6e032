import { createServer, type RequestListener, type Server } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { UsageError } from '../../../cli/usage-error.ts';
import { requireDynamoDb } from '../../../local/engines/elsewhere.ts';

const servers: Server[] = [];
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

async function serving(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port.');
  return `http://127.0.0.1:${address.port}`;
}

test('a DynamoDB that answers will do', async () => {
  const url = await serving((_request, response) => response.end('{"TableNames":[]}'));
  await expect(requireDynamoDb(url)).resolves.toBeUndefined();
});

test.each(['nonsense', 'https://127.0.0.1:8000', 'localhost:8000'])(
  'DYNAMODB_ENDPOINT=%s is no address, it says',
  async (address) => {
    await expect(requireDynamoDb(address)).rejects.toThrow(
      new UsageError(
        `DYNAMODB_ENDPOINT: expected the http address of a DynamoDB that runs, such as http://127.0.0.1:8000, got "${address}".`,
      ),
    );
  },
);

const sentence = (url: string, how: string) =>
  new UsageError(
    `DYNAMODB_ENDPOINT: no DynamoDB answers at ${url} (${how}): start it, name another, or leave the variable out for the one that comes with Glimpse.`,
  );

test.each<[string, RequestListener]>([
  ['nothing within 0.2 s', () => {}],
  ['what answers is something else', (_request, response) => response.end('<html>')],
  ['what answers is something else', (_request, response) => response.end('{}')],
])('where %s, it says so', async (how, listener) => {
  const url = await serving(listener);
  await expect(requireDynamoDb(url, 200)).rejects.toThrow(sentence(url, how));
});

test('where nothing listens, it says so', async () => {
  const url = await serving(() => {});
  await new Promise((done) => servers.at(-1)?.close(done));
  await expect(requireDynamoDb(url)).rejects.toThrow(sentence(url, 'ECONNREFUSED'));
});
