import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startSimulatorProcess } from '../../../../local/provider/simulator-process.ts';

test('runs in a process of its own, which answers, and is gone once stopped', async () => {
  const simulator = await startSimulatorProcess({ latency: { kind: 'fixed', ms: 0 } });
  expect(simulator.pid).not.toBe(process.pid);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Oak.' }] });
  const answer = await fetch(`${simulator.url}/v1/chat/completions`, { method: 'POST', body });
  expect(await answer.json()).toMatchObject({ model: 'glimpse-extractive-1' });
  await simulator.stop();
  expect(() => process.kill(simulator.pid, 0)).toThrow('ESRCH');
});

test('says why it cannot start, and that it was killed', async () => {
  const taken = createServer();
  taken.listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  await expect(startSimulatorProcess({ port: port ?? 1 })).rejects.toThrow(`Port ${port}`);
  taken.close();

  const simulator = await startSimulatorProcess();
  process.kill(simulator.pid, 'SIGKILL');
  expect(await simulator.failed).toBe('The provider simulator ended (SIGKILL).');
});
