import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startLocalCloud } from '../../../local/cloud.ts';
import type { CloudEndpoints } from '../../../local/endpoints.ts';
import { arnOf, bucket, lambda, mapping, queue, root, until, writeStack } from './fixture-stack.ts';

// `npm start` as its user meets it: started, stopped, killed, and started again.

const SLOW = `export const handler = () => new Promise((done) => setTimeout(done, 60_000));`;
/** One thing after the other, as long as there is time for another. */
const CAREFUL = `
export const handler = async (_event, context) => {
  while (context.getRemainingTimeInMillis() > 10_000) await new Promise((done) => setTimeout(done, 20));
};`;
/** At its message's second delivery it lets go, so as not to hold a core in the cloud that comes after. */
const SPINNING = `
export const handler = ({ Records: [{ attributes }] }) => {
  while (attributes.ApproximateReceiveCount === '1');
};`;

const key = (partition: string, sort: string) => [
  { AttributeName: partition, KeyType: 'HASH' },
  { AttributeName: sort, KeyType: 'RANGE' },
];
const index = (name: string) => ({
  IndexName: name,
  KeySchema: key(name, 'importId'),
  Projection: { ProjectionType: 'KEYS_ONLY' },
});
const table = (...indexes: string[]) => ({
  Indexed: {
    Type: 'AWS::DynamoDB::Table',
    Properties: {
      AttributeDefinitions: ['pk', 'sk', 'importId', ...indexes].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: key('pk', 'sk'),
      GlobalSecondaryIndexes: indexes.map(index),
      BillingMode: 'PAY_PER_REQUEST',
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
    },
  },
});

const tellsOfUploads = (queueName: string) =>
  bucket({
    NotificationConfiguration: {
      QueueConfigurations: [{ Event: 's3:ObjectCreated:*', Queue: arnOf(queueName) }],
    },
  });

let cdkOut: string;
let dir: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  cdkOut = writeStack(
    mkdtempSync(join(tmpdir(), 'glimpse-stack-')),
    {
      Kept: queue(),
      Events: queue(),
      Work: queue({ VisibilityTimeout: 360 }),
      // So named that no process of theirs starts ahead, at each of the starts.
      SummariesSlow: lambda('slow', { Timeout: 60 }),
      WorkMapping: mapping('Work', 'SummariesSlow'),
      Many: queue(),
      SummariesCareful: lambda('careful', { Timeout: 60 }),
      ManyMapping: mapping('Many', 'SummariesCareful'),
      Endless: queue(),
      SummariesSpinning: lambda('spinning', { Timeout: 60 }),
      EndlessMapping: mapping('Endless', 'SummariesSpinning'),
      Photos: tellsOfUploads('Events'),
      Fair: queue({ VisibilityTimeout: 60 }),
      Uploads: queue(),
      Numbered: tellsOfUploads('Uploads'),
      ...table('listed', 'active'),
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
    { slow: SLOW, careful: CAREFUL, spinning: SPINNING },
  );
});
afterAll(() => rmSync(dirname(cdkOut), { recursive: true, force: true }));

const newFolder = () => {
  dir = mkdtempSync(join(tmpdir(), 'glimpse-start-'));
};

async function endAll(): Promise<void> {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    }
  }
  rmSync(dir, { recursive: true, force: true });
}

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

const upload = ({ endpoints, s3 }: Running, Key: string) =>
  s3.send(new PutObjectCommand({ Bucket: endpoints.buckets.photos, Key, Body: 'kept' }));

const logOf = (name: string) =>
  readFileSync(join(dir, 'logs', `test-summaries-${name}.log`), 'utf8');

/** How often the function was given the message that it holds for longer than these tests take. */
const deliveries = () => logOf('slow').match(/^START/gm)?.length ?? 0;

async function fill(cloud: Running): Promise<void> {
  const { endpoints, sqs, dynamodb } = cloud;
  await upload(cloud, 'a b');
  const QueueUrl = endpoints.queues.kept;
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'waiting' }));
  const Item = { id: { S: '1' }, value: { S: 'kept' } };
  await dynamodb.send(new PutItemCommand({ TableName: endpoints.tables.items, Item }));
  await sqs.send(
    new SendMessageCommand({ QueueUrl: endpoints.queues.work, MessageBody: 'in flight' }),
  );
  await until(() => deliveries() === 1);
}

/** What a queue holds, which stays hidden until the next start. */
async function receive({ sqs }: Running, QueueUrl: string | undefined, WaitTimeSeconds: number) {
  const command = { QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds };
  const { Messages = [] } = await sqs.send(new ReceiveMessageCommand(command));
  return Messages.map(({ Body = '' }) => Body);
}

interface Told {
  readonly key: string;
  readonly sequencer: string;
}

async function eventsOf(running: Running, waitSeconds: number): Promise<Told[]> {
  const bodies = await receive(running, running.endpoints.queues.events, waitSeconds);
  return bodies.map((body) => JSON.parse(body).Records[0].s3.object);
}

/** Starts it again, and looks whether all is there that it was filled with; what its bucket has told, too. */
async function readyAndFilled(): Promise<{ running: Running; told: Told[] }> {
  const before = deliveries();
  const running = await ready();
  const { endpoints, s3, dynamodb } = running;
  const got = await s3.send(new GetObjectCommand({ Bucket: endpoints.buckets.photos, Key: 'a b' }));
  expect(await got.Body?.transformToString()).toBe('kept');
  const Key = { id: { S: '1' } };
  const { Item } = await dynamodb.send(
    new GetItemCommand({ TableName: endpoints.tables.items, Key }),
  );
  expect(Item?.value).toEqual({ S: 'kept' });
  expect(await receive(running, endpoints.queues.kept, 2)).toEqual(['waiting']);
  const told = await eventsOf(running, 2);
  expect(told.map(({ key }) => key)).toContain('a+b');
  // What was in flight is delivered again at once, six minutes before it would time out.
  await until(() => deliveries() === before + 1);
  return { running, told };
}

async function sendGroup({ endpoints, sqs }: Running, group: string, count: number): Promise<void> {
  const Entries = Array.from({ length: count }, (_, index) => ({
    Id: String(index),
    MessageBody: `${group}${index + 1}`,
    MessageGroupId: group,
  }));
  await sqs.send(new SendMessageBatchCommand({ QueueUrl: endpoints.queues.fair, Entries }));
}

async function receiveFair({ endpoints, sqs }: Running, most: number) {
  const { Messages = [] } = await sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: endpoints.queues.fair,
      MaxNumberOfMessages: most,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
    }),
  );
  return Messages;
}

/** Of the one event of an upload. */
async function sequencerOf({ endpoints, s3, sqs }: Running, Key: string): Promise<string> {
  const Bucket = endpoints.buckets.numbered;
  await s3.send(new PutObjectCommand({ Bucket, Key, Body: 'bytes' }));
  const QueueUrl = endpoints.queues.uploads;
  const { Body = '', ReceiptHandle } = await until(async () => {
    const { Messages = [] } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10, WaitTimeSeconds: 1 }),
    );
    expect(Messages.length).toBeLessThanOrEqual(1);
    return Messages[0];
  });
  await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
  const { key, sequencer } = JSON.parse(Body).Records[0].s3.object;
  expect(key).toBe(Key);
  return sequencer;
}

describe('one cloud, ended in every way and started again', () => {
  // Each test takes over what the one before has started.
  let running: Running;
  /** The sequencer of an upload of the first run. */
  let before: string;

  beforeAll(async () => {
    newFolder();
    running = await ready();
    await fill(running);
    before = await sequencerOf(running, 'before');
  });
  afterAll(endAll);

  test('a queue is fair between groups: whoever has few messages does not wait behind many', async () => {
    const bodies = async (most: number) =>
      (await receiveFair(running, most)).map(({ Body }) => Body);
    await sendGroup(running, 'a', 8);
    expect(await bodies(2)).toEqual(['a1', 'a2']);
    await sendGroup(running, 'b', 3);
    await running.sqs.send(
      new SendMessageCommand({
        QueueUrl: running.endpoints.queues.fair,
        MessageBody: 'alone',
        MessageAttributes: { kind: { DataType: 'String', StringValue: 'x' } },
      }),
    );
    // Within a batch, too; and one without a group is in nobody's way.
    expect(await bodies(3)).toEqual(['b1', 'alone', 'b2']);
  });

  test('a table has the indexes of its template, and a sparse one holds what has its attribute', async () => {
    const { dynamodb, endpoints } = running;
    const TableName = endpoints.tables.indexed;
    const put = (id: string, more: object) => {
      const Item = { pk: { S: id }, sk: { S: 'import' }, importId: { S: id }, ...more };
      return dynamodb.send(new PutItemCommand({ TableName, Item }));
    };
    await put('one', { active: { S: 'yes' } });
    await put('two', {});
    const query = new QueryCommand({
      TableName,
      IndexName: 'active',
      KeyConditionExpression: 'active = :yes',
      ExpressionAttributeValues: { ':yes': { S: 'yes' } },
    });
    const answer = await dynamodb.send(query);
    expect(answer).toMatchObject({ Count: 1, Items: [{ importId: { S: 'one' } }] });
  });

  test('Ctrl-C leaves no process behind, within three seconds, and the next start finds everything', async () => {
    const { child, exit, sqs, endpoints } = running;
    await sqs.send(
      new SendMessageCommand({ QueueUrl: endpoints.queues.many, MessageBody: 'begun' }),
    );
    await until(() => logOf('careful').includes('START'));
    const family = familyOf(child.pid ?? 0);
    expect(family.length).toBeGreaterThanOrEqual(4);
    const pressed = Date.now();
    // A terminal sends it to the whole group: all of them, but for dynoxide, which is in its own.
    const dynoxide = Number(readFileSync(join(dir, 'dynoxide.pid'), 'utf8'));
    for (const pid of family) if (alive(pid) && pid !== dynoxide) process.kill(pid, 'SIGINT');
    child.kill('SIGINT');
    expect(await exit).toBe(0);
    // One that was killed is still listed for a moment while the system buries it.
    await until(() => family.filter(alive).length === 0 || undefined, 3000);
    expect(Date.now() - pressed).toBeLessThan(3000);
    expect(existsSync(join(dir, 'endpoints.json'))).toBe(false);
    expect(running.output()).toMatch(
      new RegExp(`\\n\\nStopping…\\nStopped; the state is kept in ${dir}\\.\\n$`),
    );
    // The function that was at work is ended with the rest: that is no error of it.
    expect(logOf('slow')).toContain('START');
    expect(logOf('slow')).not.toMatch(/ERROR|END/);
    ({ running } = await readyAndFilled());
    // One that sees that there is less time ends what it has begun, and does not begin it again.
    expect(logOf('careful').match(/START|END/g)).toEqual(['START', 'END']);
  });

  test('what was under way in a fair queue is there, in the order in which it was sent', async () => {
    const [first, second] = await receiveFair(running, 2);
    expect([first?.Body, second?.Body]).toEqual(['a1', 'b1']);
    expect(first?.Attributes?.MessageGroupId).toBe('a');
    expect(first).not.toHaveProperty('MessageAttributes');
    const rest = [...(await receiveFair(running, 10)), ...(await receiveFair(running, 10))];
    expect(rest).toHaveLength(10);
    const alone = rest.find(({ Body }) => Body === 'alone');
    expect(Object.keys(alone?.MessageAttributes ?? {})).toEqual(['kind']);
    expect(alone?.Attributes).not.toHaveProperty('MessageGroupId');
  });

  test('sequencers of uploads grow on', async () => {
    const after = await sequencerOf(running, 'after');
    expect(after > before).toBe(true);
  });

  test('a second one on the same folder is refused, and the first keeps what it needs', async () => {
    const { code, output } = await ends([]);
    expect(code).toBe(1);
    expect(output).toContain(`A local cloud already runs on ${dir}`);
    expect(existsSync(join(dir, 'endpoints.json'))).toBe(true);
  });

  test('when all are killed at once, the next start ends the dynoxide that is left, finds everything and tells of a log that it cannot write', async () => {
    const { child } = running;
    const family = familyOf(child.pid ?? 0);
    const dynoxide = Number(readFileSync(join(dir, 'dynoxide.pid'), 'utf8'));
    for (const pid of [child.pid ?? 0, ...family])
      if (pid !== dynoxide) process.kill(pid, 'SIGKILL');
    expect(alive(dynoxide)).toBe(true);
    const log = join(dir, 'logs', 'test-summaries-careful.log');
    rmSync(log);
    mkdirSync(log);
    ({ running } = await readyAndFilled());
    expect(running.output().split(`Nothing can be written to ${dir} (EISDIR): `)).toHaveLength(2);
    expect(alive(dynoxide)).toBe(false);
  });

  test('after kill -9 its children leave by themselves, and the next start finds everything and tells of an upload of which it had not', async () => {
    await upload(running, 'told');
    // One that never looks up, too.
    await running.sqs.send(
      new SendMessageCommand({ QueueUrl: running.endpoints.queues.endless, MessageBody: 'x' }),
    );
    await until(() => logOf('spinning').includes('START'));
    const family = familyOf(running.child.pid ?? 0);
    running.child.kill('SIGKILL');
    await until(() => family.filter(alive).length === 0 || undefined, 3000);
    await running.exit;
    const intent = {
      id: 'F'.repeat(18),
      bucket: 'test-photos',
      key: 'told',
      eventName: 'ObjectCreated:Put',
    };
    const notDone = { ...intent, id: 'E'.repeat(18), key: 'never written' };
    const lines = [{ open: intent }, { open: notDone }].map((line) => JSON.stringify(line));
    appendFileSync(join(dir, 'notifications.jsonl'), [...lines, '{"open":{"cut sh'].join('\n'));
    const { told, ...found } = await readyAndFilled();
    running = found.running;
    // But for what it was filled with.
    const sequencers = () => told.flatMap(({ key, sequencer }) => (key === 'a+b' ? [] : sequencer));
    await until(async () => {
      told.push(...(await eventsOf(running, 0)));
      return sequencers().includes(intent.id) || undefined;
    });
    // The first upload's own event may have been sent and come twice, as S3's may: it says so itself.
    expect(new Set(sequencers()).size).toBe(2);
    expect(sequencers()).not.toContain(notDone.id);
  });

  test('when the engines are killed, dynoxide goes with them, and it says so', async () => {
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

  test('a table that exists is kept, unless its indexes are others now', async () => {
    const others = writeStack(join(dirname(cdkOut), 'changed'), table('listed', 'other'));
    await expect(startLocalCloud({ root, stateDir: dir, cdkOut: others })).rejects.toThrow(
      "The table test-indexed exists with other indexes than the template's. Start with --reset to make it anew, empty.",
    );
  });

  test('--reset forgets what was there', async () => {
    running = await ready(['--reset']);
    const { s3, endpoints } = running;
    const get = s3.send(new GetObjectCommand({ Bucket: endpoints.buckets.photos, Key: 'a b' }));
    await expect(get).rejects.toMatchObject({ name: 'NoSuchKey' });
  });

  test('when the engines end by themselves, it says so and ends too', async () => {
    const { exit, output } = running;
    process.kill(Number(readFileSync(join(dir, 'dynoxide.pid'), 'utf8')), 'SIGKILL');
    expect(await exit).toBe(1);
    expect(output()).toContain('The engines ended');
    expect(processes()).toEqual([]);
  });
});

async function ends(args: string[], environment: Record<string, string> = {}) {
  const { exit, output } = start(args, environment);
  const code = await exit;
  expect(output()).not.toMatch(/^\s+at /m);
  return { code, output: output() };
}

describe('a start that cannot be says why and what to do', () => {
  beforeEach(newFolder);
  afterEach(endAll);

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

  test('when DYNAMODB_ENDPOINT names none', async () => {
    const [address, silent] = [
      await ends([], { DYNAMODB_ENDPOINT: 'nonsense' }),
      await ends([], { DYNAMODB_ENDPOINT: 'http://127.0.0.1:9' }),
    ];
    expect(address).toMatchObject({
      code: 2,
      output: expect.stringContaining('DYNAMODB_ENDPOINT: expected the http address of a DynamoDB'),
    });
    expect(silent).toMatchObject({
      code: 2,
      output: expect.stringContaining('DYNAMODB_ENDPOINT: no DynamoDB answers at'),
    });
    expect(processes()).toEqual([]);
  });

  test('when an option or PORT is none', async () => {
    expect(await ends(['--rest'])).toMatchObject({
      code: 2,
      output: expect.stringMatching(/^\S.*--rest/),
    });
    const ports = ['http', '0x10', ' '];
    const refused = await Promise.all(ports.map((PORT) => ends([], { PORT })));
    expect(refused).toEqual(
      ports.map((port) => ({
        code: 2,
        output: `Expected PORT to be a whole number from 0 to 65528, got "${port}".\n`,
      })),
    );
  });

  test('--help does not start anything', async () => {
    const { code, output } = await ends(['--help']);
    expect([code, output]).toEqual([0, expect.stringContaining('--reset')]);
    expect(existsSync(join(dir, 'logs'))).toBe(false);
  });
});
