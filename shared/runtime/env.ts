import * as z from 'zod';

/** Parses a function's environment; the error names the variable that is missing or wrong. */
export function parseEnv<Schema extends z.ZodType>(
  schema: Schema,
  environment: NodeJS.ProcessEnv,
): z.output<Schema> {
  const parsed = schema.safeParse(environment);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(`environment: ${issue?.path.join('.')}: ${issue?.message}`);
}

/** A variable that holds JSON. */
export function json<Schema extends z.ZodType>(schema: Schema) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: 'custom', message: `expected JSON, got ${text.slice(0, 80)}` });
        return z.NEVER;
      }
    })
    .pipe(schema);
}
