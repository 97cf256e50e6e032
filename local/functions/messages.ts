import { z } from 'zod';

// What the main process and a function's process tell each other. Events and answers travel as JSON
// text, as they do on AWS: what JSON loses is lost here too.

export const toFunction = z.strictObject({
  requestId: z.string(),
  event: z.string(),
  /** Milliseconds since the epoch. */
  deadline: z.number(),
  arn: z.string(),
});
export type Invocation = z.infer<typeof toFunction>;
/** Alone, it is an earlier one for the invocation that runs. */
export type Deadline = Pick<Invocation, 'deadline'>;

const errorSchema = z.strictObject({
  errorType: z.string(),
  errorMessage: z.string(),
  trace: z.array(z.string()),
});
export type FunctionError = z.infer<typeof errorSchema>;

export const fromFunction = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('ready'), initMs: z.number() }),
  z.strictObject({ type: z.literal('unusable'), error: errorSchema }),
  z.strictObject({ type: z.literal('answer'), requestId: z.string(), answer: z.string() }),
  z.strictObject({ type: z.literal('error'), requestId: z.string(), error: errorSchema }),
]);
export type FromFunction = z.infer<typeof fromFunction>;
