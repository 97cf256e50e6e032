import { type ChildProcess, fork } from 'node:child_process';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Orphanage } from '../engines/engines.ts';
import type { FunctionPlan } from '../template/stack.ts';
import type { Log } from './log-file.ts';
import { watchMemory } from './memory.ts';
import {
  type Deadline,
  type FromFunction,
  type FunctionError,
  fromFunction,
  type Invocation,
} from './messages.ts';
import { reportLines } from './report.ts';

/** What an invocation came to. */
export type Outcome =
  | { readonly kind: 'answer'; readonly payload: string }
  | { readonly kind: 'error'; readonly error: FunctionError };

/** One process of a function. `run` is called again only after the last call has settled. */
export interface Instance {
  /** Whether it can take another invocation. */
  readonly alive: boolean;
  /** Settles when its module is loaded, or never will be. */
  readonly loaded: Promise<unknown>;
  run(invocation: Omit<Invocation, 'deadline'>): Promise<Outcome>;
  /** Gives what runs less time. @param deadline epoch milliseconds */
  hurry(deadline: number): void;
  /** As a crash would. */
  kill(): void;
  /** As the local cloud ends all of them: that is no error, and nothing is said of it. */
  stop(): void;
}

/** What comes of an invocation that the local cloud ended with itself. */
export const STOPPED: Outcome = {
  kind: 'error',
  error: {
    errorType: 'Runtime.ExitError',
    errorMessage: 'The local cloud was stopped.',
    trace: [],
  },
};

/**
 * Lambda allows ten seconds for what a module does before its handler can be called; what takes longer
 * it begins anew in the first invocation, within the function's timeout.
 */
const INIT_LIMIT_MS = 10_000;
const BELOW_NORMAL = 10;

/**
 * One process after the other loads the same host and the same bundle. Told by a variable, Node keeps the
 * host without its types, too.
 */
const COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(tmpdir(), 'node-compile-cache');

export function startInstance(
  plan: FunctionPlan,
  environment: Record<string, string>,
  log: Log,
  orphanage: Orphanage,
): Instance {
  const child = forkHost(plan, environment, log);
  const pid = child.pid ?? 0;
  orphanage.watch(pid);
  const ready = Promise.withResolvers<Outcome | undefined>();
  /** What it died of: no invocation can come to anything else any more. */
  let death: Outcome | undefined;
  let settle: (outcome: Outcome) => void = () => {};
  let initMs: number | undefined;

  const end = (cause: Outcome): void => {
    death ??= cause;
    child.kill('SIGKILL');
    ready.resolve(death);
    settle(death);
  };
  const hear = (message: FromFunction): void => {
    switch (message.type) {
      case 'ready':
        initMs = message.initMs;
        ready.resolve(undefined);
        break;
      case 'unusable':
        log.write(`${message.error.trace.join('\n')}\n`);
        end({ kind: 'error', error: message.error });
        break;
      case 'answer':
        settle({ kind: 'answer', payload: message.answer });
        break;
      case 'error':
        settle({ kind: 'error', error: message.error });
        break;
      default:
        message satisfies never;
    }
  };

  child.on('message', (message) => hear(fromFunction.parse(message)));
  child.on('error', (error) => end(failure('Runtime.ExitError', error.message)));
  // `close` comes after the last output, so a crash is logged before it is answered.
  child.on('close', (code, signal) => {
    orphanage.unwatch(pid);
    end(exitError(code, signal));
  });
  const initLimitMs = INIT_LIMIT_MS + plan.timeoutSeconds * 1000;
  const loading = setTimeout(
    () => end(failure('Sandbox.Timedout', `Init timed out after ${initLimitMs / 1000} seconds`)),
    initLimitMs,
  );
  void ready.promise.then(() => clearTimeout(loading));

  return {
    get alive() {
      return death === undefined;
    },
    loaded: ready.promise,
    async run(invocation) {
      const unusable = await ready.promise;
      if (unusable !== undefined) return unusable;
      log.write(`START RequestId: ${invocation.requestId} Version: $LATEST\n`);
      const started = performance.now();
      const timeoutMs = plan.timeoutSeconds * 1000;
      const late = setTimeout(() => end(timedOut(plan.timeoutSeconds)), timeoutMs);
      const memory = watchMemory(pid, plan.memoryMb * 1_048_576, () =>
        end(failure('Runtime.OutOfMemory', 'Runtime exited with error: out of memory')),
      );
      const done = new Promise<Outcome>((resolve) => {
        settle = resolve;
        if (death !== undefined) resolve(death);
      });
      // The callback takes the error of a process that ended meanwhile; `close` tells of it.
      child.send({ ...invocation, deadline: Date.now() + timeoutMs }, () => {});
      const outcome = await done;
      const durationMs = performance.now() - started;
      clearTimeout(late);
      settle = () => {};
      const peakBytes = memory.stop();
      if (outcome === STOPPED) return outcome;
      const { requestId } = invocation;
      const { memoryMb } = plan;
      log.write(reportLines({ requestId, outcome, durationMs, memoryMb, peakBytes, initMs }));
      initMs = undefined;
      return outcome;
    },
    hurry: (deadline) => child.send({ deadline } satisfies Deadline, () => {}),
    kill: () => end(exitError(null, 'killed')),
    stop: () => end(STOPPED),
  };
}

function forkHost(plan: FunctionPlan, environment: Record<string, string>, log: Log): ChildProcess {
  const child = fork(new URL('./function-host.ts', import.meta.url), {
    cwd: plan.folder,
    env: { ...environment, NODE_COMPILE_CACHE: COMPILE_CACHE },
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.stdout?.setEncoding('utf8').on('data', log.write);
  child.stderr?.setEncoding('utf8').on('data', log.write);
  try {
    if (plan.queueDriven && child.pid !== undefined) setPriority(child.pid, BELOW_NORMAL);
  } catch {
    // It may have ended already; whoever invokes it hears of that.
  }
  return child;
}

function failure(errorType: string, errorMessage: string): Outcome {
  return { kind: 'error', error: { errorType, errorMessage, trace: [] } };
}

function exitError(code: number | null, signal: string | null): Outcome {
  const how = signal === null ? `exit status ${code}` : `signal: ${signal}`;
  return failure('Runtime.ExitError', `Runtime exited with error: ${how}`);
}

function timedOut(seconds: number): Outcome {
  return failure('Sandbox.Timedout', `Task timed out after ${seconds.toFixed(2)} seconds`);
}
