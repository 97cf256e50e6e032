import { z } from 'zod';

// What the main process and the engine host tell each other.

export const startEngines = z.strictObject({
  stateDir: z.string(),
  /** Absent if a DynamoDB runs elsewhere. */
  dynoxide: z.strictObject({ binary: z.string() }).optional(),
});
export type StartEngines = z.infer<typeof startEngines>;

export const toHost = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('start'), ...startEngines.shape }),
  z.strictObject({ type: z.literal('stop') }),
  z.strictObject({ type: z.literal('watch'), pid: z.int() }),
  z.strictObject({ type: z.literal('unwatch'), pid: z.int() }),
]);
export type ToHost = z.infer<typeof toHost>;

export const fromHost = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('started'),
    fauxqsPort: z.int(),
    dynoxidePort: z.int().optional(),
  }),
  z.strictObject({ type: z.literal('failed'), message: z.string() }),
]);
export type FromHost = z.infer<typeof fromHost>;
