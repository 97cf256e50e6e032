import { type FromSimulator, toSimulator } from './messages.ts';
import type { Options } from './settings.ts';
import { type Simulator, startSimulator } from './simulator.ts';

// The simulator's process: its latencies must not come from whoever calls it. It leaves when the one
// that started it does, however that ends.

let simulator: Simulator | undefined;

// Ctrl-C reaches the whole process group, as does a closed terminal; who started it decides what stops when.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => void stop());
process.on('message', (given) => {
  const message = toSimulator.parse(given);
  switch (message.type) {
    case 'start':
      void start(message.options);
      break;
    case 'stop':
      void stop();
      break;
    default:
      message satisfies never;
  }
});

async function start(options: Options): Promise<void> {
  try {
    simulator = await startSimulator(options);
    report({ type: 'started', url: simulator.url, port: simulator.port });
  } catch (error) {
    report({ type: 'failed', message: error instanceof Error ? error.message : String(error) });
    await stop();
  }
}

function report(message: FromSimulator): void {
  // Whoever started it may have ended at this moment; then there is nobody to tell.
  if (process.connected) process.send?.(message, () => {});
}

async function stop(): Promise<void> {
  await simulator?.stop();
  process.exit(0);
}
