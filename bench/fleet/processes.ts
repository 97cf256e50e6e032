import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Call } from '../../local/provider/ledger.ts';
import type { AccountSettings } from '../../local/provider/settings.ts';
import {
  type SimulatorProcess,
  startSimulatorProcess,
} from '../../local/provider/simulator-process.ts';
import { type Engines, startEngines } from '../../test/integration/engines.ts';
import { type Report, reportSchema, type Task } from './messages.ts';

/** Milliseconds of a call: the mean of a log-normal distribution. */
const SERVICE_MS = 800;

/** The account, the table and the processes of one run. */
export interface Fleet {
  /** Starts processes; they go on until they are stopped. */
  start(task: Partial<Task> & Pick<Task, 'limiter'>, count: number): Member[];
  /** Until each process that is there now has had an answer: starting them takes a while. */
  ready(): Promise<void>;
  /** What all that ever were have done. */
  sums(): { done: number; storeOps: number };
  members(): readonly Member[];
  ledger(): Promise<Call[]>;
  /** Somebody whom Glimpse does not see calls at this rate, evenly, until stopped. */
  stranger(perSecond: number): { stop: () => void };
  stop(): Promise<void>;
}

export interface Member {
  readonly report: () => Report;
  /** Ends what it has begun, and no more. */
  leave(): Promise<void>;
  kill(): void;
  readonly alive: () => boolean;
  readonly ended: Promise<void>;
}

export interface FleetOptions {
  requestsPerMinute: number;
  tokensPerMinute?: number;
  burstSeconds: number;
  headers?: boolean;
  processes: number;
  gate: number;
  interactiveShare?: number;
  frameSeconds: number;
}

export async function withFleet<T>(
  options: FleetOptions,
  run: (fleet: Fleet) => Promise<T>,
): Promise<T> {
  const engines = await startEngines();
  const { requestsPerMinute, tokensPerMinute, burstSeconds, headers = true } = options;
  const simulator = await startSimulatorProcess({
    account: {
      requestsPerMinute,
      tokensPerMinute: tokensPerMinute ?? 10_000_000_000,
      burstSeconds,
      headers,
    } satisfies AccountSettings,
    latency: { kind: 'log-normal', meanMs: SERVICE_MS, sigma: 0.35 },
    seed: 1,
    maxLedger: 1_000_000,
  });
  const fleet = await openFleet(engines, simulator, options);
  try {
    return await run(fleet);
  } finally {
    await fleet.stop();
    await simulator.stop();
    await engines.stop();
  }
}

async function openFleet(
  engines: Engines,
  simulator: SimulatorProcess,
  options: FleetOptions,
): Promise<Fleet> {
  const table = await engines.createFleetTable();
  const peers = await createPeersTable(engines.dynamoEndpoint);
  const members: Member[] = [];
  const strangers: { stop: () => void }[] = [];
  const { requestsPerMinute, tokensPerMinute, processes, gate, interactiveShare = 0.3 } = options;
  let started = 0;

  return {
    members: () => members,
    async ready() {
      const limit = Date.now() + 120_000;
      const present = [...members];
      while (present.some(({ alive, report }) => alive() && report().done === 0)) {
        if (Date.now() > limit) throw new Error('Not all processes came to work in 120 s.');
        await sleep(500);
      }
    },
    sums: () => ({
      done: members.reduce((all, { report }) => all + report().done, 0),
      storeOps: members.reduce((all, { report }) => all + report().storeOps, 0),
    }),
    start(task, count) {
      const added = Array.from({ length: count }, () =>
        startMember({
          mode: 'bulk',
          settings: {
            line: 'shared',
            requestsPerMinute,
            tokensPerMinute: tokensPerMinute ?? null,
            interactiveShare,
            frameSeconds: options.frameSeconds,
            reserve: 0.1,
          },
          processes,
          gate,
          provider: simulator.url,
          dynamodb: engines.dynamoEndpoint,
          tables: { fleet: table, peers },
          name: `row-${++started}`,
          impatient: false,
          skewMs: 0,
          ...task,
        }),
      );
      members.push(...added);
      return added;
    },
    async ledger() {
      const response = await fetch(`${simulator.url}/ledger`);
      const text = await response.text();
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line): Call => JSON.parse(line));
    },
    stranger(perSecond) {
      const timer = setInterval(() => void callAsStranger(simulator.url), 1000 / perSecond);
      const stranger = { stop: () => clearInterval(timer) };
      strangers.push(stranger);
      return stranger;
    },
    async stop() {
      for (const stranger of strangers) stranger.stop();
      for (const member of members) member.kill();
      await Promise.all(members.map(({ ended }) => ended));
    },
  };
}

function startMember(task: Task): Member {
  const child: ChildProcess = fork(new URL('./worker.ts', import.meta.url), {
    execArgv: [],
    env: {
      PATH: process.env.PATH ?? '',
      // Of the many processes, only the first compiles its modules.
      NODE_COMPILE_CACHE: join(import.meta.dirname, '../../.glimpse/compile-cache'),
      TASK: JSON.stringify(task),
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let report: Report = { done: 0, storeOps: 0, rowMs: [], waitMs: [], over: false };
  let alive = true;
  child.on('message', (message) => {
    report = reportSchema.parse(message);
  });
  const ended = new Promise<void>((resolve) => {
    child.on('exit', () => {
      alive = false;
      resolve();
    });
  });
  return {
    report: () => report,
    alive: () => alive,
    ended,
    kill: () => void child.kill('SIGKILL'),
    async leave() {
      if (child.connected) child.send('leave', () => {});
      await ended;
    },
  };
}

async function createPeersTable(endpoint: string): Promise<string> {
  const client = new DynamoDBClient({
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    endpoint,
  });
  const TableName = `peers-${process.hrtime.bigint()}`;
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
      AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    }),
  );
  client.destroy();
  return TableName;
}

async function callAsStranger(url: string): Promise<void> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk-else', 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'gpt-4.1-mini',
      max_completion_tokens: 50,
      messages: [{ role: 'user', content: 'Somebody else asks something.' }],
    }),
  }).catch(() => undefined);
  await response?.arrayBuffer().catch(() => {});
}

export async function seconds(count: number): Promise<void> {
  await sleep(count * 1000);
}
