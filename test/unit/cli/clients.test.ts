import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { HeadObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs';
import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openParameters, openStacks } from '../../../cli/account.ts';
import { SilentError } from '../../../cli/aws-failure.ts';
import { openClients } from '../../../cli/clients.ts';
import { cannotBeAsked, lookAhead, requireBuckets } from '../../../cli/deploy/look-ahead.ts';
import { findStack } from '../../../cli/destroy/delete-stack.ts';
import { UsageError } from '../../../cli/usage-error.ts';

// What AWS, or what stands in its place, does not answer, and what it says is not there.

const servers: Server[] = [];
afterAll(() => servers.forEach((server) => void server.close()));

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return addressOf(server).port;
}

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('No port.');
  return address;
}

const targetAt = (url: string) => ({
  source: { file: 'state/endpoints.json' },
  endpoints: {
    ...{ s3: url, sqs: url, dynamodb: url, region: 'us-east-1' },
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  },
});

type Clients = ReturnType<typeof openClients>;

const CALLS: [service: string, call: (clients: Clients, url: string) => Promise<unknown>][] = [
  ['S3', ({ s3 }) => s3.send(new HeadObjectCommand({ Bucket: 'originals', Key: 'a' }))],
  [
    'SQS',
    ({ sqs }, url) => sqs.send(new GetQueueAttributesCommand({ QueueUrl: `${url}/000/eager` })),
  ],
  [
    'DynamoDB',
    ({ dynamodb }) => dynamodb.send(new GetCommand({ TableName: 'images', Key: { id: 'a' } })),
  ],
];

describe.each(CALLS)('%s', (service, call) => {
  const limits = { silentMs: 100, attempts: 2 };

  test('that takes a call and never answers is waited for so long, so often, and then named', async () => {
    let calls = 0;
    const sockets: Socket[] = [];
    const url = `http://127.0.0.1:${await portOf(
      createServer((socket) => {
        calls += 1;
        sockets.push(socket.on('error', () => {}));
      }),
    )}`;
    await expect(call(openClients(targetAt(url), limits), url)).rejects.toThrow(
      new SilentError(
        `${service} does not answer at ${url} (nothing for 0.1 s, 2 times): start the local cloud again with "npm start".`,
      ),
    );
    expect(calls).toBe(2);
    for (const socket of sockets) socket.destroy();
  });

  test('that is not there is named, with what to do', async () => {
    const server = createServer();
    const url = `http://127.0.0.1:${await portOf(server)}`;
    await new Promise((done) => server.close(done));
    await expect(call(openClients(targetAt(url), limits), url)).rejects.toThrow(
      new SilentError(
        `${service} does not answer at ${url} (ECONNREFUSED): start the local cloud again with "npm start".`,
      ),
    );
  });
});

describe('what an account has is asked of an endpoint of the environment', () => {
  afterEach(() => vi.unstubAllEnvs());

  const limits = { silentMs: 100, attempts: 2 };
  const remedy = 'look at the network, and at AWS_REGION and AWS_ENDPOINT_URL where they are set.';

  test.each<[service: string, call: () => Promise<unknown>]>([
    ['SSM', () => lookAhead(openParameters(limits), [])],
    ['CloudFormation', () => findStack(openStacks(limits), 'Glimpse').catch(cannotBeAsked)],
    ['S3', () => requireBuckets(openClients({}, limits).s3, { originals: 'mine' })],
  ])(
    '%s that is not there, or never answers, is named as any other service',
    async (service, call) => {
      vi.stubEnv('AWS_REGION', 'us-east-1');
      vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
      const sockets: Socket[] = [];
      const server = createServer((socket) => sockets.push(socket.on('error', () => {})));
      const url = `http://127.0.0.1:${await portOf(server)}`;
      vi.stubEnv('AWS_ENDPOINT_URL', url);
      await expect(call()).rejects.toThrow(
        new SilentError(
          `${service} does not answer at ${url} (nothing for 0.1 s, 2 times): ${remedy}`,
        ),
      );
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
      await expect(call()).rejects.toThrow(
        new SilentError(`${service} does not answer at ${url} (ECONNREFUSED): ${remedy}`),
      );
    },
  );

  test('and where there is no account to ask, it is said how to choose one', async () => {
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_PROFILE', 'nobody');
    vi.stubEnv('AWS_ENDPOINT_URL', 'http://127.0.0.1:1');
    const sentence =
      /^AWS cannot be asked what this account has: .*credentials.*\. Choose an account by AWS_PROFILE and a region by AWS_REGION\.$/;
    await expect(lookAhead(openParameters(limits), [])).rejects.toThrow(sentence);
    const found = findStack(openStacks(limits), 'Glimpse').catch(cannotBeAsked);
    await expect(found).rejects.toThrow(sentence);
  });
});

const answering = (status: number, body: string) =>
  portOf(createHttpServer((_request, response) => void response.writeHead(status).end(body)));

test.each<[string, string, (clients: Clients, url: string) => Promise<unknown>]>([
  [
    'There is no bucket originals',
    '<Error><Code>NoSuchBucket</Code><Message>gone</Message></Error>',
    ({ s3 }) => s3.send(new ListObjectsV2Command({ Bucket: 'originals' })),
  ],
  [
    'There is no queue eager',
    '{"__type":"com.amazonaws.sqs#QueueDoesNotExist","message":"gone"}',
    ({ sqs }, url) => sqs.send(new GetQueueAttributesCommand({ QueueUrl: `${url}/000/eager` })),
  ],
  [
    'There is no table images',
    '{"__type":"com.amazonaws.dynamodb.v20120810#ResourceNotFoundException","message":"gone"}',
    ({ dynamodb }) => dynamodb.send(new GetCommand({ TableName: 'images', Key: { id: 'a' } })),
  ],
])('%s: it is said which file names it', async (sentence, body, call) => {
  const url = `http://127.0.0.1:${await answering(400, body)}`;
  await expect(call(openClients(targetAt(url)), url)).rejects.toThrow(
    new UsageError(
      `${sentence}, which state/endpoints.json names: start the local cloud again with "npm start".`,
    ),
  );
});

describe('by an endpoint of the environment', () => {
  let url: string;
  let hosts: (string | undefined)[];
  beforeAll(async () => {
    hosts = [];
    const server = createHttpServer((request, response) => {
      hosts.push(request.headers.host);
      response.end('{"Attributes":{}}');
    });
    url = `http://127.0.0.1:${await portOf(server)}`;
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  test.each(['AWS_ENDPOINT_URL', 'AWS_ENDPOINT_URL_SQS'])(
    'a queue that names the same machine otherwise is called by %s, without a warning',
    async (name) => {
      const elsewhere = url.replace('127.0.0.1', 'localhost');
      vi.stubEnv('AWS_REGION', 'us-east-1');
      vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
      vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
      vi.stubEnv(name, elsewhere);
      const warn = vi.spyOn(console, 'warn');
      const { sqs } = openClients({});
      await sqs.send(new GetQueueAttributesCommand({ QueueUrl: `${url}/000/eager` }));
      expect(warn).not.toHaveBeenCalled();
      expect(hosts.at(-1)).toBe(new URL(elsewhere).host);
    },
  );

  test('what a deployed stack names and is gone may be of another, it says', async () => {
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'local');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'local');
    const body = '<Error><Code>NoSuchBucket</Code><Message>gone</Message></Error>';
    vi.stubEnv('AWS_ENDPOINT_URL', `http://127.0.0.1:${await answering(404, body)}`);
    const { s3 } = openClients({ source: { file: 'cdk-outputs.json', stack: 'Glimpse' } });
    await expect(s3.send(new ListObjectsV2Command({ Bucket: 'originals' }))).rejects.toThrow(
      new UsageError(
        'There is no bucket originals, which cdk-outputs.json names: the stack Glimpse may be deleted, or the file be of a stack in another account or region (AWS_PROFILE, AWS_REGION).',
      ),
    );
  });
});
