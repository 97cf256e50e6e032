import type { z } from 'zod';
import { InvalidRequestError } from '../errors.ts';

/** Parses a query or a body; the error says where, what was expected and what came. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  where: 'query' | 'body',
  input: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = [where, ...(issue?.path ?? [])].join('.');
  const came = issue?.input === undefined ? '' : `, got ${show(issue.input)}`;
  const message = (issue?.message ?? 'invalid').replace(/^Invalid input: |, received .*$/g, '');
  throw new InvalidRequestError(`${path}: ${message}${came}`);
}

/** As JSON, but for the numbers that it has no words for. */
function show(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  return (text ?? String(value)).slice(0, 80);
}

/** A cursor is opaque to callers and parsed like anything else that comes from them. */
export function decodeCursor<Schema extends z.ZodType>(
  schema: Schema,
  text: string,
): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  } catch (cause) {
    throw new InvalidRequestError(
      `query.cursor: expected the cursor of an earlier answer, got ${JSON.stringify(text.slice(0, 80))}`,
      { cause },
    );
  }
}

export function encodeCursor(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}
