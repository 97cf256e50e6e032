import * as z from 'zod';
import { NotFoundError } from '../../shared/errors.ts';
import { delimiterSchema } from '../../shared/imports/csv/delimiter.ts';
import { encodingSchema } from '../../shared/imports/csv/encoding.ts';
import { IMPORT_ID } from '../../shared/imports/import-id.ts';
import { MODES } from '../../shared/imports/import-item.ts';

// What the routes take. Anything else is the caller's mistake, told in one sentence.

/** What no one means to write: it could not be seen, and would break a line of a log or a file's name. */
const CONTROL = /\p{Cc}/u;
/** Within instructions and in the names of columns there are lines. */
const CONTROL_BUT_LINES = /(?![\t\n\r])\p{Cc}/u;

const text = (most: number, control = CONTROL_BUT_LINES) =>
  z
    .string()
    .trim()
    .refine((given) => given.isWellFormed(), 'expected well-formed Unicode')
    .refine((given) => !control.test(given), 'expected text without control characters')
    .refine((given) => given.length <= most, `expected at most ${most} characters`);

const named = (most: number, control?: RegExp) =>
  text(most, control).refine((given) => given !== '', 'expected some text');

/** Bytes of UTF-8. DynamoDB takes 400 KB an import, and its header is as long again. */
const MOST_NAMES = 65_536;

const columns = z
  .array(named(1000))
  .min(1, 'expected at least one name, or nothing where the model is to see all columns')
  .max(500, 'expected at most 500 names')
  .refine(
    (names) => Buffer.byteLength(names.join('')) <= MOST_NAMES,
    `expected names of at most ${MOST_NAMES} bytes together`,
  )
  .transform((names) => [...new Set(names)]);

/** What the model is asked; the stack's own instructions and all columns where there is nothing. */
const asked = {
  instructions: text(4000)
    .refine(
      (given) => given !== '',
      'expected some text, or nothing where the stack has its own instructions',
    )
    .exactOptional(),
  columns: columns.exactOptional(),
};

const COST = 'expected US dollars, more than 0 and at most 1000000';
const maxCostUsd = z.number(COST).refine((usd) => usd > 0 && usd <= 1_000_000, COST);

export const createBody = z.strictObject({
  name: named(200, CONTROL),
  mode: z.enum(MODES),
  ...asked,
  idColumn: named(1000).exactOptional(),
  encoding: encodingSchema.exactOptional(),
  delimiter: delimiterSchema.exactOptional(),
  maxCostUsd: maxCostUsd.exactOptional(),
  deadline: z.iso
    .datetime({ offset: true, error: 'expected a time in ISO 8601, such as 2026-01-31T18:00:00Z' })
    .exactOptional(),
  hold: z.boolean().default(false),
});

export const resumeBody = z.strictObject({
  ...asked,
  /** `null` takes the bound away. */
  maxCostUsd: maxCostUsd.nullable().exactOptional(),
});

export const estimateBody = z.strictObject(asked);

/** Of the routes that take none. */
export const nothing = z.strictObject({});

export const listQuery = z.strictObject({
  cursor: z.string().max(200).optional(),
  limit: z
    .string()
    .regex(/^([1-9]|[1-4]\d|50)$/, 'expected a whole number from 1 to 50')
    .transform(Number)
    .default(20),
  /** Whose; one's own unless it is said. */
  of: z.literal('everyone').exactOptional(),
});

/** Where a page of imports begins, of one's own or of everyone's. */
export const listCursor = (of: 'everyone' | undefined) =>
  z.strictObject({
    before: z.string().regex(IMPORT_ID),
    ...(of === undefined ? {} : { of: z.literal(of) }),
  });

export const rowsQuery = z.strictObject({
  /** A row's number: those behind it are listed. */
  after: z
    .string()
    .regex(/^\d{1,8}$/, 'expected the number of a row')
    .transform(Number)
    .default(0),
  limit: z
    .string()
    .regex(/^([1-9]\d?|1\d\d|200)$/, 'expected a whole number from 1 to 200')
    .transform(Number)
    .default(100),
  state: z.enum(['done', 'failed']).exactOptional(),
});

export const exportQuery = z.strictObject({
  only: z.literal('failed').exactOptional(),
  /** For a script, which must not follow a redirect to where it is. */
  as: z.literal('json').exactOptional(),
});

/** What is no id is the id of nothing. */
export function importIdOf({ id = '' }: Readonly<Record<string, string | undefined>>): string {
  if (IMPORT_ID.test(id)) return id;
  throw new NotFoundError(`there is no import ${JSON.stringify(id.slice(0, 80))}`);
}

/** Whether a browser that has kept an answer with `etag` still has what it would get. */
export function isKept(etag: string, ifNoneMatch = ''): boolean {
  const kept = ifNoneMatch.split(',').map((each) => each.trim().replace(/^W\//, ''));
  return kept.includes(etag) || kept.includes('*');
}
