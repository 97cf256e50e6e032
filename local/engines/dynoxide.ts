import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './loopback.ts';

/** The binary to run, from `DYNOXIDE_BIN` or the optional dependency for this platform. */
export function findDynoxide(environment: NodeJS.ProcessEnv): string {
  const given = environment.DYNOXIDE_BIN;
  if (given !== undefined && given !== '') {
    if (existsSync(given)) return given;
    throw new Error(`DYNOXIDE_BIN names ${given}, where there is no file.`);
  }
  const name = `@dynoxide/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    const binary = join(dirname(require.resolve(`${name}/package.json`)), 'dynoxide');
    if (existsSync(binary)) return binary;
  } catch {
    // Not installed: said below, with what to do.
  }
  throw new Error(
    `There is no DynamoDB to run: ${name} is not installed. Run \`npm ci\`, or name a dynoxide binary in DYNOXIDE_BIN, or the endpoint of a DynamoDB that already runs (dynoxide, DynamoDB Local) in DYNAMODB_ENDPOINT.`,
  );
}

export interface Dynoxide {
  readonly port: number;
  readonly exited: Promise<string>;
  stop(): Promise<void>;
}

export async function startDynoxide(binary: string, stateDir: string): Promise<Dynoxide> {
  const pidFile = pidFileOf(stateDir);
  const database = databaseOf(stateDir);
  const chosen = await freePort();
  // A group of its own, or a Ctrl-C in the terminal would end it before what still writes to it.
  const child = spawn(binary, ['serve', '--port', String(chosen), '--db-path', database], {
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.on('data', (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-500);
  });
  const exited = exitOf(child, () => complaint);
  try {
    if (child.pid !== undefined) writeFileSync(pidFile, String(child.pid));
    await answers(chosen, exited);
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }

  return {
    port: chosen,
    exited,
    async stop() {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), 1000);
      await exited;
      clearTimeout(timer);
      rmSync(pidFile, { force: true });
    },
  };
}

function exitOf(child: ChildProcess, complaint: () => string): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(`${signal ?? code}: ${complaint().trim()}`));
  });
}

async function answers(port: number, exited: Promise<string>): Promise<void> {
  let failure: string | undefined;
  void exited.then((how) => {
    failure = how;
  });
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(10)) {
    if (failure !== undefined) throw new Error(`dynoxide did not start (${failure}).`);
    // Any answer will do; this one is a refusal.
    const response = await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined);
    await response?.body?.cancel();
    if (response !== undefined) return;
  }
  throw new Error(`dynoxide did not answer on port ${port} within ten seconds.`);
}

const pidFileOf = (stateDir: string) => join(stateDir, 'dynoxide.pid');
const databaseOf = (stateDir: string) => join(stateDir, 'dynamodb.sqlite');

/**
 * Ends a dynoxide whose parent was killed before it could do so itself, and waits until its port is
 * free. The number may meanwhile be another program's, so its command line is looked at first.
 */
export async function endLeftOver(stateDir: string): Promise<void> {
  const pidFile = pidFileOf(stateDir);
  if (!existsSync(pidFile)) return;
  const pid = Number(readFileSync(pidFile, 'utf8'));
  const commandLine = `/proc/${pid}/cmdline`;
  const isOurs = () =>
    existsSync(commandLine) && readFileSync(commandLine, 'utf8').includes(databaseOf(stateDir));
  if (Number.isInteger(pid) && pid > 1 && isOurs()) {
    process.kill(pid, 'SIGKILL');
    for (const end = Date.now() + 2000; Date.now() < end && isOurs(); await sleep(10));
  }
  rmSync(pidFile, { force: true });
}
