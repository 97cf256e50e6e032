import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { sampleBytes } from './bytes.ts';

// A thread that renders one picture at a time, as it is asked: drawing is all computing, and the
// process that wants the pictures has other things to do.

const port = parentPort;
if (port === null) throw new Error('expected to be started as a thread');
port.on('message', async (message: unknown) => {
  const image = z.string().parse(message);
  const bytes = await sampleBytes(image);
  port.postMessage({ image, bytes });
});
