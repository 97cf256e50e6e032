import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type FauxqsServer, startFauxqs } from 'fauxqs';
import { type Dynoxide, startDynoxide } from './dynoxide.ts';
import { makeQueuesFair } from './fair-queues.ts';
import { listenOnLoopbackOnly } from './loopback.ts';
import type { FromHost, StartEngines, ToHost } from './messages.ts';

// The engines' process: their work (fauxqs writes through SQLite, synchronously) must not hold up
// the servers in the main one. It leaves when the main process does, however that ends.

let fauxqs: FauxqsServer | undefined;
let dynoxide: Dynoxide | undefined;
let stopping = false;
const watched = new Set<number>();

// Ctrl-C reaches the whole process group, as does a closed terminal; the main process decides what stops when.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => {
  // A handler that never lets go of its thread does not notice that the main process has ended.
  for (const pid of watched) kill(pid);
  void stop();
});
process.on('message', (message) => {
  if (isToHost(message)) hear(message);
});

/** Only the main process is at the other end. */
function isToHost(message: unknown): message is ToHost {
  return typeof message === 'object' && message !== null && 'type' in message;
}

function hear(message: ToHost): void {
  switch (message.type) {
    case 'start':
      void start(message);
      break;
    case 'watch':
      watched.add(message.pid);
      break;
    case 'unwatch':
      watched.delete(message.pid);
      break;
    case 'stop':
      void stop();
      break;
    default:
      message satisfies never;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It had ended.
  }
}

async function start({ stateDir, dynoxide: wanted }: StartEngines): Promise<void> {
  try {
    listenOnLoopbackOnly();
    makeQueuesFair();
    const dataDir = join(stateDir, 'fauxqs');
    releaseInFlight(join(dataDir, 'fauxqs.db'));
    [fauxqs, dynoxide] = await Promise.all([
      startFauxqs({ port: 0, dataDir, logger: false, host: '127.0.0.1' }),
      wanted === undefined ? undefined : startDynoxide(wanted.binary, stateDir),
    ]);
    void dynoxide?.exited.then(() => {
      if (!stopping) process.exit(1);
    });
    report({
      type: 'started',
      fauxqsPort: fauxqs.port,
      ...(dynoxide ? { dynoxidePort: dynoxide.port } : {}),
    });
  } catch (error) {
    report({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    await stop();
  }
}

/** Whoever had received messages when the last run ended is gone; they need not wait for a time-out. */
function releaseInFlight(database: string): void {
  if (!existsSync(database)) return;
  const db = new DatabaseSync(database);
  db.exec('UPDATE sqs_messages SET receipt_handle = NULL, visibility_deadline = NULL');
  db.close();
}

function report(message: FromHost): void {
  if (process.connected) process.send?.(message);
}

async function stop(): Promise<void> {
  stopping = true;
  // fauxqs waits for open connections to end; what it has acknowledged is on disk already.
  const enough = setTimeout(() => process.exit(0), 1500);
  await Promise.allSettled([dynoxide?.stop(), fauxqs?.stop()]);
  clearTimeout(enough);
  process.exit(0);
}
