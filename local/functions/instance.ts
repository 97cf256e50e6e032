import { type ChildProcess, fork } from 'node:child_process';
import { setPriority } from 'node:os';
import type { FunctionPlan } from '../template/stack.ts';
import type { Log } from './log-file.ts';
import { residentMemory } from './memory.ts';
import { type FunctionError, fromFunction, type Invocation } from './messages.ts';

/** What an invocation came to. */
export type Outcome =
  | { readonly kind: 'answer'; readonly payload: string }
  | { readonly kind: 'error'; readonly error: FunctionError };

/** One process of a function. `run` is called again only after the last call has settled. */
export interface Instance {
  readonly pid: number;
  /** Whether it can take another invocation. */
  readonly alive: boolean;
  run(invocation: Invocation): Promise<Outcome>;
  kill(): void;
}

/** Lambda allows ten seconds for what a module does before its handler can be called. */
const INIT_LIMIT_MS = 10_000;
const MEMORY_CHECK_MS = 200;
const BELOW_NORMAL = 10;

const failure = (errorType: string, errorMessage: string): Outcome => ({
  kind: 'error',
  error: { errorType, errorMessage, trace: [] },
});

export function startInstance(
  plan: FunctionPlan,
  environment: Record<string, string>,
  log: Log,
): Instance {
  const child = fork(new URL('./function-host.ts', import.meta.url), {
    cwd: plan.folder,
    env: environment,
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  child.stdout?.setEncoding('utf8').on('data', log.write);
  child.stderr?.setEncoding('utf8').on('data', log.write);
  if (plan.queueDriven) lowerPriority(child);

  let settle: ((outcome: Outcome) => void) | undefined;
  let verdict: Outcome | undefined;
  let initMs: number | undefined;
  const ready = Promise.withResolvers<Outcome | undefined>();
  const end = (outcome: Outcome) => {
    verdict ??= outcome;
    child.kill('SIGKILL');
    ready.resolve(verdict);
    settle?.(verdict);
  };

  child.on('error', (error) => end(failure('Runtime.ExitError', error.message)));
  // `close` comes after the last output, so a crash is logged before it is answered.
  child.on('close', (code, signal) => {
    const how = signal === null ? `exit status ${code}` : `signal: ${signal}`;
    end(failure('Runtime.ExitError', `Runtime exited with error: ${how}`));
  });
  child.on('message', (message) => {
    const parsed = fromFunction.parse(message);
    if (parsed.type === 'ready') {
      initMs = parsed.initMs;
      ready.resolve(undefined);
    } else if (parsed.type === 'unusable') {
      log.write(`${parsed.error.trace.join('\n')}\n`);
      end({ kind: 'error', error: parsed.error });
    } else if (parsed.type === 'answer') {
      settle?.({ kind: 'answer', payload: parsed.answer });
    } else {
      settle?.({ kind: 'error', error: parsed.error });
    }
  });

  const loading = setTimeout(
    () => end(failure('Sandbox.Timedout', 'Init timed out after 10.00 seconds')),
    INIT_LIMIT_MS,
  );
  void ready.promise.then(() => clearTimeout(loading));

  return {
    pid: child.pid ?? 0,
    get alive() {
      return verdict === undefined;
    },
    async run(invocation) {
      const unusable = await ready.promise;
      if (unusable !== undefined) return unusable;
      const timeoutMs = plan.timeoutSeconds * 1000;
      const started = performance.now();
      let peak = 0;
      const done = new Promise<Outcome>((resolve) => {
        settle = resolve;
        if (verdict !== undefined) resolve(verdict);
      });
      log.write(`START RequestId: ${invocation.requestId} Version: $LATEST\n`);
      const late = setTimeout(() => {
        const message = `Task timed out after ${plan.timeoutSeconds.toFixed(2)} seconds`;
        end(failure('Sandbox.Timedout', message));
      }, timeoutMs);
      const watch = setInterval(async () => {
        peak = Math.max(peak, (await residentMemory(child.pid ?? 0)) ?? 0);
        if (peak > plan.memoryMb * 1_048_576) {
          end(failure('Runtime.OutOfMemory', 'Runtime exited with error: out of memory'));
        }
      }, MEMORY_CHECK_MS);
      child.send({ ...invocation, deadline: Date.now() + timeoutMs }, () => {});
      const outcome = await done;
      settle = undefined;
      clearTimeout(late);
      clearInterval(watch);
      if (verdict === undefined) peak = Math.max(peak, (await residentMemory(child.pid ?? 0)) ?? 0);
      log.write(
        report(invocation.requestId, plan, outcome, performance.now() - started, peak, initMs),
      );
      initMs = undefined;
      return outcome;
    },
    kill: () => end(failure('Runtime.ExitError', 'Runtime exited with error: signal: killed')),
  };
}

function lowerPriority(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) setPriority(child.pid, BELOW_NORMAL);
  } catch {
    // It may have ended already; whoever invokes it hears of that.
  }
}

/** Lambda's last lines of an invocation. */
function report(
  requestId: string,
  plan: FunctionPlan,
  outcome: Outcome,
  durationMs: number,
  peakBytes: number,
  initMs: number | undefined,
): string {
  const lines = [];
  if (outcome.kind === 'error') {
    const { errorType, errorMessage, trace } = outcome.error;
    lines.push(
      `${new Date().toISOString()}\t${requestId}\tERROR\tInvoke Error\t${JSON.stringify({ errorType, errorMessage, stack: trace })}`,
    );
  }
  lines.push(`END RequestId: ${requestId}`);
  const parts = [
    `REPORT RequestId: ${requestId}`,
    `Duration: ${durationMs.toFixed(2)} ms`,
    `Billed Duration: ${Math.ceil(durationMs)} ms`,
    `Memory Size: ${plan.memoryMb} MB`,
    `Max Memory Used: ${Math.ceil(peakBytes / 1_048_576)} MB`,
    ...(initMs === undefined ? [] : [`Init Duration: ${initMs.toFixed(2)} ms`]),
  ];
  lines.push(parts.join('\t'));
  return `${lines.join('\n')}\n`;
}
