import { z } from 'zod';
import { optionsSchema } from './settings.ts';

// What the process that starts the simulator and the simulator's own tell each other.

export const toSimulator = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('start'), options: optionsSchema }),
  z.strictObject({ type: z.literal('stop') }),
]);
export type ToSimulator = z.input<typeof toSimulator>;

export const fromSimulator = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('started'), url: z.string(), port: z.int() }),
  z.strictObject({ type: z.literal('failed'), message: z.string() }),
]);
export type FromSimulator = z.infer<typeof fromSimulator>;
