import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fromSimulator, type ToSimulator } from './messages.ts';
import { type OptionsInput, optionsSchema } from './settings.ts';

export interface SimulatorProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Settles, with a sentence, if it ends without having been asked to. */
  readonly failed: Promise<string>;
  stop(): Promise<void>;
}

export interface ProcessOptions extends OptionsInput {
  /** An open file for what it writes; this process's own by default. */
  log?: number;
}

/** Starts the simulator in a process of its own, and answers when it listens. */
export async function startSimulatorProcess({
  log,
  ...options
}: ProcessOptions = {}): Promise<SimulatorProcess> {
  const start = { type: 'start', options: optionsSchema.parse(options) } as const;
  const output = log ?? 'inherit';
  const child = fork(new URL('./simulator-host.ts', import.meta.url), {
    stdio: ['ignore', output, output, 'ipc'],
    execArgv: [],
  });
  let stopping = false;
  const exited = once(child, 'exit');
  const failed = new Promise<string>((resolve) => {
    void exited.then(([code, signal]) => {
      if (!stopping) resolve(`The provider simulator ended (${signal ?? code}).`);
    });
  });
  const tell = (message: ToSimulator) => {
    if (child.connected) child.send(message, () => {});
  };
  tell(start);
  const [first] = await Promise.race([
    once(child, 'message'),
    failed.then((message) => [{ type: 'failed', message }]),
  ]);
  const answer = fromSimulator.parse(first);
  if (answer.type === 'failed') {
    await exited;
    throw new Error(answer.message);
  }

  return {
    url: answer.url,
    port: answer.port,
    pid: child.pid ?? 0,
    failed,
    async stop() {
      stopping = true;
      tell({ type: 'stop' });
      const timer = setTimeout(() => child.kill('SIGKILL'), 2000);
      await exited;
      clearTimeout(timer);
    },
  };
}
