import * as z from 'zod';

/** What the workers of one mode are told of the account that they share. */
export const allowanceSettingsSchema = z.strictObject({
  /** One account for both modes, or one of its own for each. */
  line: z.enum(['shared', 'interactive', 'bulk']),
  /** Calls a minute that the account permits. */
  requestsPerMinute: z.int().min(1).max(10_000_000),
  /** Input and output tokens together; null for an account that does not count them. */
  tokensPerMinute: z.int().min(1).max(10_000_000_000).nullable(),
  /** The part of the account that bulk work cannot touch while somebody watches an import. */
  interactiveShare: z.number().min(0).max(0.9),
  /** Seconds for which a process takes its part at once. */
  frameSeconds: z.int().min(2).max(30),
  /** The part of the provider's own limit under which bulk work gives way. */
  reserve: z.number().min(0).max(0.5),
});

export type AllowanceSettings = z.infer<typeof allowanceSettingsSchema>;

export type Mode = 'interactive' | 'bulk';
