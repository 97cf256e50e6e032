import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where pip puts it, and with it a Python that knows moto. */
export function findMoto(environment: NodeJS.ProcessEnv): { python: string } | undefined {
  for (const folder of (environment.PATH ?? '').split(delimiter)) {
    try {
      const server = join(folder, 'moto_server');
      accessSync(server, constants.X_OK);
      const beside = join(dirname(realpathSync(server)), 'python3');
      return { python: existsSync(beside) ? beside : 'python3' };
    } catch {
      // Not in this one.
    }
  }
  return undefined;
}

export interface MotoServer {
  readonly endpoint: string;
  stop(): void;
}

/** Starts moto with what `moto/serve.py` adds to it. */
export async function startMoto(python: string): Promise<MotoServer> {
  const port = await freePort();
  const script = join(import.meta.dirname, 'moto/serve.py');
  const child = spawn(python, [script, String(port)], {
    // Buckets answer by their own CORS, not by one for all of moto.
    env: { ...process.env, MOTO_DISABLE_GLOBAL_CORS: 'true' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    said = `${said}${text}`.slice(-4000);
  });
  // An interrupted run must not leave it running.
  process.once('exit', () => child.kill());
  const endpoint = `http://127.0.0.1:${port}`;
  await untilAnswering(endpoint, child, () => said);
  return { endpoint, stop: () => child.kill() };
}

async function untilAnswering(
  endpoint: string,
  child: ChildProcess,
  said: () => string,
): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (child.exitCode !== null) {
      throw new Error(`moto ended with ${child.exitCode}:\n${said()}`);
    }
    try {
      await fetch(endpoint);
      return;
    } catch {
      await sleep(100);
    }
  }
  throw new Error(`moto does not answer at ${endpoint}:\n${said()}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((settled) => server.once('listening', settled));
  const address = server.address();
  await new Promise((settled) => server.close(settled));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
