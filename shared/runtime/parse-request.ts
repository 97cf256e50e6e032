import * as z from 'zod';
import { InvalidRequestError } from '../errors.ts';

/** Parses a query or a body; the error says where, what was expected and what came. */
export function parse<Schema extends z.ZodType>(
  schema: Schema,
  where: 'query' | 'body',
  input: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true, error: expectation });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = [where, ...(issue?.path ?? [])].join('.');
  if (issue?.code === 'unrecognized_keys') {
    const known = schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];
    const names = known.length === 0 ? 'nothing in it' : `only ${listed(known)}`;
    throw new InvalidRequestError(`${path}: expected ${names}, got ${show(issue.keys[0])}`);
  }
  throw new InvalidRequestError(
    `${path}: ${issue?.message ?? 'expected something else'}, got ${show(issue?.input)}`,
  );
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

/** In our words, where a schema has none of its own. */
function expectation(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `expected ${issue.values.length > 1 ? 'one of ' : ''}${listed(issue.values)}`;
    case 'too_big':
      return `expected ${issue.inclusive ? 'at most' : 'less than'} ${amount(issue.maximum, issue.origin)}`;
    case 'too_small':
      return `expected ${issue.inclusive ? 'at least' : 'more than'} ${amount(issue.minimum, issue.origin)}`;
    default:
      return 'expected something else';
  }
}

function amount(bound: number | bigint, of: string): string {
  const unit = of === 'string' ? 'character' : of === 'array' ? 'entr' : undefined;
  if (unit === undefined) return String(bound);
  const one = Number(bound) === 1;
  return `${bound} ${unit === 'entr' ? (one ? 'entry' : 'entries') : one ? unit : `${unit}s`}`;
}

const listed = (values: readonly unknown[]) => values.map(show).join(', ');

/** As JSON, but for what it has no words for. */
function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  return (typeof value === 'number' ? String(value) : jsonOf(value)).slice(0, 80);
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Nested more deeply than the stack is high.
    return `${Array.isArray(value) ? 'a list' : 'an object'}, nested too deeply`;
  }
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
      `query.cursor: expected the cursor of an earlier page of this list, or none to begin anew, got ${JSON.stringify(text.slice(0, 80))}`,
      { cause },
    );
  }
}

export function encodeCursor(value: object): string {
  return Buffer.from(JSON.stringify(value), 'utf8').toString('base64url');
}
