import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { ReceiveMessageCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { CloudEndpoints } from '../../../local/endpoints.ts';
import { arnOf, bucket, lambda, mapping, queue, root, until, writeStack } from './fixture-stack.ts';

// `npm start` as its user meets it: started, stopped, killed, and started again.

const SLOW = `export const handler = () => new Promise((done) => setTimeout(done, 60_000));`;
const SPINNING = `export const handler = () => { for (;;); };`;

let cdkOut: string;
let dir: string;
let children: ChildProcess[];

beforeAll(() => {
  cdkOut = writeStack(
    mkdtempSync(join(tmpdir(), 'glimpse-stack-')),
    {
      Kept: queue(),
      Events: queue(),
      Work: queue({ VisibilityTimeout: 360 }),
      Slow: lambda('slow', { Timeout: 60 }),
      WorkMapping: mapping('Work', 'Slow'),
      Endless: queue(),
      Spinning: lambda('spinning', { Timeout: 60 }),
      EndlessMapping: mapping('Endless', 'Spinning'),
      Photos: bucket({
        NotificationConfiguration: {
          QueueConfigurations: [{ Event: 's3:ObjectCreated:*', Queue: arnOf('Events') }],
        },
      }),
      Items: {
        Type: 'AWS::DynamoDB::Table',
        Properties: {
          AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
          BillingMode: 'PAY_PER_REQUEST',
          TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
        },
      },
    },
    { slow: SLOW, spinning: SPINNING },
  );
});
afterAll(() => rmSync(dirname(cdkOut), { recursive: true, force: true }));
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'glimpse-start-'));
  children = [];
});
afterEach(async () => {
  for (const child of children) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    }
  }
  rmSync(dir, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly output: () => string;
  readonly exit: Promise<number | null>;
}

const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;

function start(args: string[] = [], environment: Record<string, string> = {}): Started {
  const options = ['--state', dir, '--cdk-out', cdkOut, ...args];
  const child = spawn(process.execPath, ['local/main.ts', ...options], {
    cwd: root,
    env: { PATH, NODE_COMPILE_CACHE, PORT: '0', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
    });
  }
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { child, output: () => output, exit };
}

async function ready(args: string[] = []) {
  const started = start(args);
  const file = join(dir, 'endpoints.json');
  const failed = started.exit.then(() => {
    throw new Error(started.output());
  });
  failed.catch(() => {});
  await Promise.race([until(() => started.output().includes('Ctrl-C'), 20_000), failed]);
  const endpoints: CloudEndpoints = JSON.parse(readFileSync(file, 'utf8'));
  const common = { region: endpoints.region, credentials: endpoints.credentials };
  return {
    ...started,
    endpoints,
    s3: new S3Client({ ...common, endpoint: endpoints.s3, forcePathStyle: true }),
    sqs: new SQSClient({ ...common, endpoint: endpoints.sqs }),
    dynamodb: new DynamoDBClient({ ...common, endpoint: endpoints.dynamodb }),
  };
}

type Running = Awaited<ReturnType<typeof ready>>;

/** Every process that has this test's folder, or a child of the one that was started, in its name. */
function processes(): string[] {
  const all = execFileSync('ps', ['-eo', 'pid,ppid,stat,args'], { encoding: 'utf8' }).split('\n');
  return all.filter((line) => line.includes(dir) && !line.includes(' ps '));
}

function familyOf(pid: number): number[] {
  const rows = execFileSync('ps', ['-eo', 'pid,ppid'], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  const childrenOf = (parent: number): number[] =>
    rows
      .filter(([, ppid]) => ppid === parent)
      .flatMap(([child = 0]) => [child, ...childrenOf(child)]);
  return childrenOf(pid);
}

const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

const upload = ({ endpoints, s3 }: Running) =>
  s3.send(new PutObjectCommand({ Bucket: endpoints.buckets.photos, Key: 'a b', Body: 'kept' }));

async function fill(cloud: Running): Promise<void> {
  const { endpoints, sqs, dynamodb } = cloud;
  await upload(cloud);
  const QueueUrl = endpoints.queues.kept;
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'waiting' }));
  const Item = { id: { S: '1' }, value: { S: 'kept' } };
  await dynamodb.send(new PutItemCommand({ TableName: endpoints.tables.items, Item }));
  await sqs.send(
    new SendMessageCommand({ QueueUrl: endpoints.queues.work, MessageBody: 'in flight' }),
  );
  // Its function holds it, for longer than this test.
  await until(() => readFileSync(join(dir, 'logs', 'test-slow.log'), 'utf8').includes('START'));
}

async function expectFilled({ endpoints, s3, sqs, dynamodb }: Running): Promise<void> {
  const got = await s3.send(new GetObjectCommand({ Bucket: endpoints.buckets.photos, Key: 'a b' }));
  expect(await got.Body?.transformToString()).toBe('kept');
  const Key = { id: { S: '1' } };
  const { Item } = await dynamodb.send(
    new GetItemCommand({ TableName: endpoints.tables.items, Key }),
  );
  expect(Item?.value).toEqual({ S: 'kept' });
  const receive = (QueueUrl: string | undefined) =>
    sqs.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 2 }));
  expect((await receive(endpoints.queues.kept)).Messages?.map(({ Body }) => Body)).toEqual([
    'waiting',
  ]);
  const { Messages: events = [] } = await receive(endpoints.queues.events);
  expect(events.map(({ Body = '' }) => JSON.parse(Body).Records[0].s3.object.key)).toContain('a+b');
  // What was in flight is delivered again at once, six minutes before it would time out.
  const starts = () =>
    readFileSync(join(dir, 'logs', 'test-slow.log'), 'utf8').match(/^START/gm)?.length;
  await until(() => starts() === 2);
}

test('Ctrl-C leaves no process behind, within three seconds, and the next start finds everything', async () => {
  const first = await ready();
  await fill(first);
  const family = familyOf(first.child.pid ?? 0);
  expect(family.length).toBeGreaterThanOrEqual(3);
  const pressed = Date.now();
  // A terminal sends it to the whole group: all of them, but for dynoxide, which is in its own.
  for (const pid of family) if (alive(pid)) process.kill(pid, 'SIGINT');
  first.child.kill('SIGINT');
  expect(await first.exit).toBe(0);
  // One that was killed is still listed for a moment while the system buries it.
  await until(() => family.filter(alive).length === 0 || undefined, 3000);
  expect(Date.now() - pressed).toBeLessThan(3000);
  expect(existsSync(join(dir, 'endpoints.json'))).toBe(false);
  await expectFilled(await ready());
});

test('after kill -9 its children leave by themselves, and the next start finds everything', async () => {
  const first = await ready();
  await fill(first);
  // One that never looks up, too.
  const { sqs, endpoints } = first;
  await sqs.send(new SendMessageCommand({ QueueUrl: endpoints.queues.endless, MessageBody: 'x' }));
  await until(() => readFileSync(join(dir, 'logs', 'test-spinning.log'), 'utf8').includes('START'));
  const family = familyOf(first.child.pid ?? 0);
  first.child.kill('SIGKILL');
  await until(() => family.filter(alive).length === 0 || undefined, 3000);
  await expectFilled(await ready());
});

test('when all are killed at once, the next start ends the dynoxide that is left and finds everything', async () => {
  const first = await ready();
  await fill(first);
  const family = familyOf(first.child.pid ?? 0);
  const dynoxide = Number(readFileSync(join(dir, 'dynoxide.pid'), 'utf8'));
  for (const pid of [first.child.pid ?? 0, ...family])
    if (pid !== dynoxide) process.kill(pid, 'SIGKILL');
  expect(alive(dynoxide)).toBe(true);
  const second = await ready();
  expect(alive(dynoxide)).toBe(false);
  await expectFilled(second);
});

test('when the engines are killed, dynoxide goes with them, and it says so', async () => {
  const running = await ready();
  const dynoxide = Number(readFileSync(join(dir, 'dynoxide.pid'), 'utf8'));
  const engines = familyOf(running.child.pid ?? 0).filter((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('engine-host'),
  );
  for (const pid of engines) process.kill(pid, 'SIGKILL');
  expect(engines).toHaveLength(1);
  expect(await running.exit).toBe(1);
  expect(running.output()).toContain('The engines ended');
  expect(alive(dynoxide)).toBe(false);
});

test('an upload whose notification was not sent before kill -9 is told at the next start', async () => {
  const first = await ready();
  await upload(first);
  first.child.kill('SIGKILL');
  await first.exit;
  const intent = {
    id: 'F'.repeat(18),
    bucket: 'test-photos',
    key: 'a b',
    eventName: 'ObjectCreated:Put',
  };
  const notDone = { ...intent, id: 'E'.repeat(18), key: 'never written' };
  const lines = [{ open: intent }, { open: notDone }].map((line) => JSON.stringify(line));
  appendFileSync(join(dir, 'notifications.jsonl'), [...lines, '{"open":{"cut sh'].join('\n'));
  const { sqs, endpoints } = await ready();
  const sequencers: string[] = [];
  await until(async () => {
    const QueueUrl = endpoints.queues.events;
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    sequencers.push(
      ...Messages.map(({ Body = '' }) => JSON.parse(Body).Records[0].s3.object.sequencer),
    );
    return sequencers.includes(intent.id) || undefined;
  });
  // The first upload's own event may have been sent and come twice, as S3's may: it says so itself.
  expect(new Set(sequencers).size).toBe(2);
  expect(sequencers).not.toContain(notDone.id);
});

test('--reset forgets what was there', async () => {
  const first = await ready();
  await upload(first);
  first.child.kill('SIGTERM');
  await first.exit;
  const { s3, endpoints } = await ready(['--reset']);
  const get = s3.send(new GetObjectCommand({ Bucket: endpoints.buckets.photos, Key: 'a b' }));
  await expect(get).rejects.toMatchObject({ name: 'NoSuchKey' });
});

test('when the engines end by themselves, it says so and ends too', async () => {
  const { exit, output } = await ready();
  process.kill(Number(readFileSync(join(dir, 'dynoxide.pid'), 'utf8')), 'SIGKILL');
  expect(await exit).toBe(1);
  expect(output()).toContain('The engines ended');
  expect(processes()).toEqual([]);
});

describe('a start that cannot be says why and what to do', () => {
  const ends = async (args: string[], environment: Record<string, string> = {}) => {
    const { exit, output } = start(args, environment);
    const code = await exit;
    expect(output()).not.toMatch(/^\s+at /m);
    return { code, output: output() };
  };

  test('when one already runs on the same folder', async () => {
    await ready();
    const { code, output } = await ends([]);
    expect(code).toBe(1);
    expect(output).toContain(`A local cloud already runs on ${dir}`);
    // And the one that runs keeps what it needs.
    expect(existsSync(join(dir, 'endpoints.json'))).toBe(true);
  });

  test('when a port is in use', async () => {
    const server = createServer();
    const port: number = await new Promise((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const { code, output } = await ends([], { PORT: String(port) });
    server.close();
    expect(code).toBe(1);
    expect(output).toMatch(new RegExp(`Port ${port}, for the web page, is in use\\. .*PORT=`));
    expect(processes()).toEqual([]);
  });

  test('when there is no DynamoDB to run', async () => {
    const missing = await ends([], { DYNOXIDE_BIN: '/nowhere/dynoxide' });
    expect(missing).toMatchObject({
      code: 1,
      output: expect.stringContaining('/nowhere/dynoxide'),
    });
    const broken = await ends([], { DYNOXIDE_BIN: '/bin/false' });
    expect(broken).toMatchObject({
      code: 1,
      output: expect.stringContaining('dynoxide did not start'),
    });
  });

  test('when an option or PORT is none', async () => {
    expect(await ends(['--rest'])).toMatchObject({
      code: 1,
      output: expect.stringContaining('--rest'),
    });
    const port = await ends([], { PORT: 'http' });
    expect(port).toMatchObject({ code: 1, output: expect.stringContaining('Expected PORT') });
  });

  test('--help does not start anything', async () => {
    const { code, output } = await ends(['--help']);
    expect([code, output]).toEqual([0, expect.stringContaining('--reset')]);
    expect(existsSync(join(dir, 'logs'))).toBe(false);
  });
});
