import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { setPriority } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Orphanage } from '../engines/engines.ts';

/** How far the sample gallery has come. */
export interface SampleState {
  readonly state: 'idle' | 'running' | 'done' | 'failed';
  /** Pictures that are drawn; all are put into the bucket together at the end. */
  readonly done: number;
  readonly total: number;
  /** Why it failed. */
  readonly message?: string;
}

export interface Sample {
  readonly state: SampleState;
  /** Begins, unless it runs already; answers how it ended. */
  start(): Promise<SampleState>;
  stop(): void;
}

const progressSchema = z.object({ done: z.int(), total: z.int() });

/** Whoever looks at pictures meanwhile comes first. */
const BELOW_NORMAL = 10;

/** Uploads the sample gallery as a client would, in a process of its own. */
export function createSample(root: string, stateDir: string, orphanage: Orphanage): Sample {
  let state: SampleState = { state: 'idle', done: 0, total: 0 };
  let running: Promise<SampleState> | undefined;
  let kill = () => {};

  const run = async (): Promise<SampleState> => {
    state = { state: 'running', done: 0, total: 0 };
    const child = spawn(process.execPath, ['cli/sample.ts', '--json', '--state', stateDir], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { pid } = child;
    if (pid !== undefined) {
      orphanage.watch(pid);
      lowerPriority(pid);
    }
    kill = () => child.kill('SIGKILL');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const progress = readProgress(line);
      if (progress !== undefined) state = { state: 'running', ...progress };
    });
    const [complaint, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    if (pid !== undefined) orphanage.unwatch(pid);
    const { done, total } = state;
    state =
      code === 0
        ? { state: 'done', done, total }
        : { state: 'failed', done, total, message: sentenceOf(complaint) };
    return state;
  };

  return {
    get state() {
      return state;
    },
    start() {
      running ??= run().finally(() => {
        running = undefined;
      });
      return running;
    },
    stop: () => kill(),
  };
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, BELOW_NORMAL);
  } catch {
    // It has ended already.
  }
}

/** What a command complains of in one sentence, or what it died of. */
function sentenceOf(complaint: string): string {
  const sentence = /^(?:sample|\w*Error): .+$/m.exec(complaint)?.[0];
  return sentence ?? (complaint.trim() || 'It was stopped.');
}

function readProgress(line: string): z.infer<typeof progressSchema> | undefined {
  try {
    return progressSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

/**
 * Whether a request that changes something comes from a page of this server. A page from elsewhere
 * can send one, also under a name of its own that it has pointed at 127.0.0.1.
 */
export function isFromOwnPage({ headers }: IncomingMessage, web: string): boolean {
  const { host, origin, 'sec-fetch-site': site } = headers;
  return (
    isOwnName(host, web) &&
    (origin === undefined || origin === `http://${host}`) &&
    (site === undefined || site === 'same-origin')
  );
}

/** A page whose own name leads here reads what it likes: its browser takes this for its server. */
export function isOwnName(host: string | undefined, web: string): boolean {
  const { port } = new URL(web);
  return host === `127.0.0.1:${port}` || host === `localhost:${port}`;
}
