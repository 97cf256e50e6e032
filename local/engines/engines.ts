import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { endLeftOver, findDynoxide } from './dynoxide.ts';
import { requireDynamoDb } from './elsewhere.ts';
import { fromHost, type ToHost } from './messages.ts';

export interface Engines {
  /** fauxqs: S3 and SQS on one port. Unguarded: only the gateways may speak to it. */
  readonly fauxqs: string;
  /** Unguarded, too. */
  readonly dynamodb: string;
  /** What fauxqs keeps, in a file. */
  readonly database: string;
  /** Settles, with a sentence, if the engines end without having been asked to. */
  readonly failed: Promise<string>;
  readonly orphanage: Orphanage;
  stop(): Promise<void>;
}

/** Processes that the engines' process is to end if the main one is killed. */
export interface Orphanage {
  watch(pid: number): void;
  unwatch(pid: number): void;
}

export interface EngineOptions {
  stateDir: string;
  environment: NodeJS.ProcessEnv;
}

/** Starts fauxqs and dynoxide in a process of their own. */
export async function startEngines(options: EngineOptions): Promise<Engines> {
  const { stateDir, environment } = options;
  const elsewhere = environment.DYNAMODB_ENDPOINT || undefined;
  if (elsewhere !== undefined) await requireDynamoDb(elsewhere);
  const dynoxide = elsewhere === undefined ? { binary: findDynoxide(environment) } : undefined;

  const log = openSync(join(stateDir, 'logs', 'engines.log'), 'a');
  const child = fork(new URL('./engine-host.ts', import.meta.url), {
    stdio: ['ignore', log, log, 'ipc'],
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  let stopping = false;
  const exited = once(child, 'exit');
  const failed = new Promise<string>((resolve) => {
    void exited.then(async () => {
      if (stopping) return;
      // Killed, it could not end its own child.
      await endLeftOver(stateDir);
      resolve(`The engines ended; ${join(stateDir, 'logs', 'engines.log')} may say why.`);
    });
  });

  const tell = (message: ToHost) => {
    if (child.connected) child.send(message, () => {});
  };
  tell({ type: 'start', stateDir, ...(dynoxide ? { dynoxide } : {}) });
  const [first] = await Promise.race([
    once(child, 'message'),
    failed.then((message) => [{ type: 'failed', message }]),
  ]);
  const answer = fromHost.parse(first);
  if (answer.type === 'failed') throw new Error(answer.message);

  return {
    fauxqs: `http://127.0.0.1:${answer.fauxqsPort}`,
    dynamodb: elsewhere ?? `http://127.0.0.1:${answer.dynoxidePort}`,
    database: join(stateDir, 'fauxqs', 'fauxqs.db'),
    failed,
    orphanage: {
      watch: (pid) => tell({ type: 'watch', pid }),
      unwatch: (pid) => tell({ type: 'unwatch', pid }),
    },
    async stop() {
      stopping = true;
      tell({ type: 'stop' });
      const timer = setTimeout(() => child.kill('SIGKILL'), 2000);
      await exited;
      clearTimeout(timer);
    },
  };
}
