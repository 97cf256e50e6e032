import { z } from 'zod';
import { allowanceSettingsSchema } from '../../shared/fleet/allowance-settings.ts';
import { PEERS } from './limiters.ts';

// What a bench tells the processes that it starts, and what they tell it.

export const taskSchema = z.object({
  limiter: z.enum(['ours', ...PEERS]),
  mode: z.enum(['interactive', 'bulk']),
  settings: allowanceSettingsSchema,
  processes: z.number(),
  gate: z.number(),
  provider: z.string(),
  dynamodb: z.string(),
  /** Of the fleet, and of the other limiters. */
  tables: z.object({ fleet: z.string(), peers: z.string() }),
  /** Rows are named `<name>/<number>`. */
  name: z.string(),
  /** Rows to do; without it, until it is stopped. */
  rows: z.number().optional(),
  /** Tries again at once, as a job that goes back to its queue, whatever the provider asks for. */
  impatient: z.boolean(),
  /** Milliseconds that this process's clock is ahead. */
  skewMs: z.number(),
});
export type Task = z.infer<typeof taskSchema>;

export const reportSchema = z.object({
  done: z.number(),
  storeOps: z.number(),
  /** Milliseconds that rows took, from their turn at the gate to their answer. */
  rowMs: z.array(z.number()),
  /** Milliseconds that they waited of these, for whatever reason. */
  waitMs: z.array(z.number()),
  over: z.boolean(),
});
export type Report = z.infer<typeof reportSchema>;
