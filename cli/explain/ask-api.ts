import { z } from 'zod';
import type { Authorize } from '../authorize.ts';

// What the command needs of the API's answers, and no more: newer ones may say more.

const waitsSchema = z.object({
  gateMs: z.number(),
  allowanceMs: z.number(),
  yieldMs: z.number(),
  refusedMs: z.number(),
});

export const importSchema = z.object({
  importId: z.string(),
  name: z.string(),
  mode: z.enum(['interactive', 'bulk']),
  state: z.string(),
  rows: z.object({ total: z.number(), done: z.number(), failed: z.number() }),
  waits: waitsSchema,
  startedAt: z.string().optional(),
  completedAt: z.string().optional(),
  etaSeconds: z.number().optional(),
  still: z
    .object({
      since: z.string(),
      unheard: z.object({ chunks: z.number(), againBy: z.string() }).optional(),
      sentAgainAt: z.string().optional(),
    })
    .optional(),
  stalled: z.object({ reason: z.string() }).optional(),
  failure: z.object({ code: z.string(), message: z.string() }).optional(),
});

const diagnosisSchema = z.object({
  code: z.string(),
  words: z.string(),
  help: z.array(z.string()),
});

const ratesSchema = z.object({
  callsPerSecond: z.number(),
  inFlight: z.number(),
  serviceSeconds: z.number().optional(),
});

export const fleetSchema = z.object({
  plan: z.object({
    lines: z.array(
      z.object({
        line: z.string(),
        modes: z.array(z.string()),
        measured: z.object({ serviceSeconds: z.number() }),
      }),
    ),
  }),
  measured: z.object({ interactive: ratesSchema, bulk: ratesSchema }),
  lines: z.array(z.object({ line: z.string(), diagnosis: diagnosisSchema })),
});

export type ImportTold = z.infer<typeof importSchema>;
export type FleetTold = z.infer<typeof fleetSchema>;

const refusalSchema = z.object({ error: z.object({ message: z.string() }) });

const TIMEOUT_MS = 30_000;

/** @throws one sentence: the API's own where it refuses. */
export async function askApi<T>(
  api: string,
  path: string,
  schema: z.ZodType<T>,
  authorize: Authorize,
): Promise<T> {
  const address = `${api.replace(/\/$/, '')}${path}`;
  const headers = await authorize(new URL(address));
  let answer: Response;
  try {
    answer = await fetch(address, {
      headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch (cause) {
    throw new Error(
      `${address} does not answer (${whyOf(cause)}): look at the network, and at the outputs: their stack may be deleted, or be another.`,
      { cause },
    );
  }
  const json: unknown = await answer.json().catch(() => undefined);
  // API Gateway's own, which says no more than this.
  if (answer.status === 401 || answer.status === 403) {
    throw new Error(`${address} lets in nobody with this token or these credentials.`);
  }
  if (!answer.ok) {
    const refusal = refusalSchema.safeParse(json);
    throw new Error(refusal.data?.error.message ?? `${address} answered ${answer.status}.`);
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  throw new Error(
    `${address} gave an answer of another version: expected that of this command's, got ${z.prettifyError(parsed.error).replaceAll(/\s+/g, ' ')}.`,
  );
}

/** What a request came to that had no answer: `fetch` says no more than that it failed. */
function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `nothing for ${TIMEOUT_MS / 1000} s`;
  const { cause = error } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return cause instanceof Error ? cause.message : String(cause);
}
