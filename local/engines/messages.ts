import { z } from 'zod';

// What the main process and the engine host tell each other.

export interface StartEngines {
  readonly stateDir: string;
  /** Absent if a DynamoDB runs elsewhere. */
  readonly dynoxide?: { readonly binary: string };
}

/** Not parsed: a schema library would take a quarter of the host's start. */
export type ToHost =
  | ({ readonly type: 'start' } & StartEngines)
  | { readonly type: 'stop' }
  | { readonly type: 'watch' | 'unwatch'; readonly pid: number };

export const fromHost = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('started'),
    fauxqsPort: z.int(),
    dynoxidePort: z.int().optional(),
  }),
  z.strictObject({ type: z.literal('failed'), message: z.string() }),
]);
export type FromHost = z.infer<typeof fromHost>;
