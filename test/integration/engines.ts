import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateBucketCommand, DeleteObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { startFauxqs } from 'fauxqs';

// The embedded engines alone, without the local cloud around them: real S3, SQS and DynamoDB calls
// for tests of what the functions do with them. With TEST_ENGINE=moto, moto_server in their place:
// a second opinion, where it is installed.

const aws = {
  region: 'us-east-1',
  credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
};

export const ORIGINALS = 'originals';
export const THUMBNAILS = 'thumbnails';
export const IMPORTS = 'imports';

export interface Engines {
  s3: S3Client;
  sqs: SQSClient;
  dynamo: DynamoDBDocumentClient;
  queueUrl: string;
  /** A new, empty images table: tests that share the engines share no rows. */
  createTable: () => Promise<string>;
  /** As the stack's: two keys, and the indexes of all imports and of those under way. */
  createImportsTable: () => Promise<string>;
  /** As the stack's: what the workers of an account know of each other. */
  createFleetTable: () => Promise<string>;
  createQueue: (name: string) => Promise<string>;
  s3Endpoint: string;
  dynamoEndpoint: string;
  removeOriginal: (image: string) => Promise<void>;
  /** Clients of their own, as a process has: every call is noted, and the process can die. */
  newProcess: () => Process;
  stop: () => Promise<void>;
}

interface Endpoints {
  endpoint: string;
  dynamo: string;
  stop: () => Promise<void>;
}

interface Clients {
  s3: S3Client;
  sqs: SQSClient;
  raw: DynamoDBClient;
}

/**
 * Clients over connections that all processes share: a process is made for each step of thousands of
 * runs, and the sockets of its own that it would leave behind end only with the engines.
 */
function createClients(
  { endpoint, dynamo }: { endpoint: string; dynamo: string },
  requestHandler: NodeHttpHandler,
): Clients {
  return {
    s3: new S3Client({
      ...aws,
      endpoint,
      requestHandler,
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
    }),
    sqs: new SQSClient({ ...aws, endpoint, requestHandler }),
    raw: new DynamoDBClient({ ...aws, endpoint: dynamo, requestHandler }),
  };
}

export async function startEngines(): Promise<Engines> {
  const endpoints = await (process.env.TEST_ENGINE === 'moto' ? startMoto() : startEmbedded());
  const connections = new NodeHttpHandler({ httpAgent: { keepAlive: true } });
  const { s3, sqs, raw } = createClients(endpoints, connections);
  for (const Bucket of [ORIGINALS, THUMBNAILS, IMPORTS])
    await s3.send(new CreateBucketCommand({ Bucket }));
  const { QueueUrl: queueUrl = '' } = await sqs.send(
    new CreateQueueCommand({ QueueName: 'on-demand' }),
  );
  let tables = 0;
  return {
    s3,
    sqs,
    dynamo: DynamoDBDocumentClient.from(raw),
    queueUrl,
    s3Endpoint: endpoints.endpoint,
    dynamoEndpoint: endpoints.dynamo,
    removeOriginal: async (image) => {
      await s3.send(new DeleteObjectCommand({ Bucket: ORIGINALS, Key: image }));
    },
    newProcess: () => newProcess(createClients(endpoints, connections)),
    createTable: async () => {
      const TableName = `images-${++tables}`;
      await raw.send(
        new CreateTableCommand({
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: [
            { AttributeName: 'gallery', KeyType: 'HASH' },
            { AttributeName: 'name', KeyType: 'RANGE' },
          ],
          AttributeDefinitions: [
            { AttributeName: 'gallery', AttributeType: 'S' },
            { AttributeName: 'name', AttributeType: 'S' },
          ],
        }),
      );
      return TableName;
    },
    createImportsTable: async () => {
      const TableName = `imports-${++tables}`;
      const key = (HASH: string, RANGE: string) => [
        { AttributeName: HASH, KeyType: 'HASH' as const },
        { AttributeName: RANGE, KeyType: 'RANGE' as const },
      ];
      await raw.send(
        new CreateTableCommand({
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: key('pk', 'sk'),
          AttributeDefinitions: ['pk', 'sk', 'listed', 'owner', 'active', 'importId'].map(
            (name) => ({
              AttributeName: name,
              AttributeType: 'S',
            }),
          ),
          GlobalSecondaryIndexes: [
            {
              IndexName: 'listed',
              KeySchema: key('listed', 'importId'),
              Projection: { ProjectionType: 'ALL' },
            },
            {
              IndexName: 'owned',
              KeySchema: key('owner', 'importId'),
              Projection: { ProjectionType: 'ALL' },
            },
            {
              IndexName: 'active',
              KeySchema: key('active', 'importId'),
              Projection: { ProjectionType: 'KEYS_ONLY' },
            },
          ],
        }),
      );
      return TableName;
    },
    createFleetTable: async () => {
      const TableName = `fleet-${++tables}`;
      await raw.send(
        new CreateTableCommand({
          TableName,
          BillingMode: 'PAY_PER_REQUEST',
          KeySchema: [
            { AttributeName: 'line', KeyType: 'HASH' },
            { AttributeName: 'at', KeyType: 'RANGE' },
          ],
          AttributeDefinitions: [
            { AttributeName: 'line', AttributeType: 'S' },
            { AttributeName: 'at', AttributeType: 'N' },
          ],
        }),
      );
      return TableName;
    },
    createQueue: async (name) => {
      const answer = await sqs.send(new CreateQueueCommand({ QueueName: name }));
      return answer.QueueUrl ?? '';
    },
    stop: async () => {
      connections.destroy();
      await endpoints.stop();
    },
  };
}

class Died extends Error {}

export interface Process {
  s3: S3Client;
  sqs: SQSClient;
  dynamo: DynamoDBDocumentClient;
  /** The AWS calls so far, by name: `UpdateItem`, `GetObject` … */
  calls: string[];
  /** A call of something else than AWS: it is noted, and the process can die of it, too. */
  note: <T>(name: string, call: () => Promise<T>) => Promise<T>;
  /** From now on, dies when this many more calls are done: the next step never happens. */
  dieAfter: (calls: number) => void;
  /** Does something when this many more calls are answered, before the last one's caller knows. */
  afterCalls: (calls: number, action: () => Promise<void>) => void;
  /** Does something after the next call of a name has been answered and before its caller knows. */
  after: (name: string, action: () => Promise<void>) => void;
  /** The next call of a name is not made: this answers or throws in its place. */
  instead: (name: string, answer: (input: object) => object) => void;
}

function newProcess({ s3, sqs, raw }: Clients): Process {
  const calls: string[] = [];
  let left = Number.POSITIVE_INFINITY;
  let pause: { left: number; action: () => Promise<void> } | undefined;
  const afters = new Map<string, () => Promise<void>>();
  const insteads = new Map<string, (input: object) => object>();
  const note = async <T>(
    { commandName = 'unknown' }: { commandName?: string },
    input: object,
    call: () => Promise<T>,
  ): Promise<T> => {
    if (left <= 0) throw new Died();
    const name = commandName.replace(/Command$/, '');
    calls.push(name);
    const instead = insteads.get(name);
    if (instead !== undefined) {
      insteads.delete(name);
      return { output: instead(input), response: undefined } as T;
    }
    // An answer that says no is an answer too.
    const [answer] = await Promise.allSettled([call()]);
    const action = afters.get(name);
    afters.delete(name);
    await action?.();
    if (pause !== undefined) {
      pause.left -= 1;
      if (pause.left === 0) await pause.action();
    }
    left -= 1;
    if (left <= 0) throw new Died();
    if (answer.status === 'rejected') throw answer.reason;
    return answer.value;
  };
  s3.middlewareStack.add((next, context) => (args) => note(context, args.input, () => next(args)), {
    step: 'initialize',
    name: 'note',
  });
  sqs.middlewareStack.add(
    (next, context) => (args) => note(context, args.input, () => next(args)),
    { step: 'initialize', name: 'note' },
  );
  raw.middlewareStack.add(
    (next, context) => (args) => note(context, args.input, () => next(args)),
    { step: 'initialize', name: 'note' },
  );
  return {
    s3,
    sqs,
    dynamo: DynamoDBDocumentClient.from(raw),
    calls,
    note: (name, call) => note({ commandName: name }, {}, call),
    dieAfter: (count) => {
      left = count;
    },
    afterCalls: (count, action) => {
      pause = { left: count, action };
    },
    after: (name, action) => {
      afters.set(name, action);
    },
    instead: (name, answer) => {
      insteads.set(name, answer);
    },
  };
}

async function startEmbedded(): Promise<Endpoints> {
  const fauxqs = await startFauxqs({ port: 0, logger: false });
  const dynoxide = await startDynoxide();
  return {
    endpoint: `http://127.0.0.1:${fauxqs.port}`,
    dynamo: dynoxide.endpoint,
    stop: async () => {
      await fauxqs.stop();
      await dynoxide.stop();
    },
  };
}

async function startMoto(): Promise<Endpoints> {
  const port = await freePort();
  const child = spawn('moto_server', ['-p', String(port)], { stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  await untilAnswering(endpoint, child);
  return {
    endpoint,
    dynamo: endpoint,
    stop: async () => {
      child.kill('SIGKILL');
    },
  };
}

async function startDynoxide(): Promise<{ endpoint: string; stop: () => Promise<void> }> {
  const port = await freePort();
  const binary =
    process.env.DYNOXIDE_BIN ??
    new URL('../../node_modules/@dynoxide/linux-x64/dynoxide', import.meta.url).pathname;
  // Without a file it keeps everything in memory.
  const child = spawn(binary, ['serve', '--port', String(port)], { stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  await untilAnswering(endpoint, child);
  return {
    endpoint,
    stop: async () => {
      child.kill('SIGKILL');
    },
  };
}

async function untilAnswering(endpoint: string, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (child.exitCode !== null) throw new Error(`the engine left with ${child.exitCode}`);
    try {
      await fetch(endpoint);
      return;
    } catch {
      await sleep(25);
    }
  }
  throw new Error('the engine does not answer');
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
