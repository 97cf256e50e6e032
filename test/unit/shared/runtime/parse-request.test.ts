import { expect, test } from 'vitest';
import { z } from 'zod';
import { decodeCursor, encodeCursor, parse } from '../../../../shared/runtime/parse-request.ts';

test('a cursor comes back as it was given, and no other does', () => {
  const schema = z.strictObject({ after: z.string() });
  const cursor = encodeCursor({ after: 'ü/😀' });
  expect(cursor).toMatch(/^[\w-]+$/);
  expect(decodeCursor(schema, cursor)).toEqual({ after: 'ü/😀' });
  for (const text of ['', 'nonsense', encodeCursor({ before: 'a' }), 'e30']) {
    expect(() => decodeCursor(schema, text)).toThrow(/^query\.cursor: expected the cursor/);
  }
});

test('numbers that JSON has no words for are shown as they are', () => {
  const bytes = z.strictObject({ bytes: z.int() });
  expect(() => parse(bytes, 'body', { bytes: Number.POSITIVE_INFINITY })).toThrow(/got Infinity$/);
  expect(() => parse(bytes, 'body', null)).toThrow(/^body: expected an object, got null$/);
});

test('what is nested more deeply than the stack is high is refused like anything else', () => {
  const deep: unknown = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
  expect(() => parse(z.strictObject({}), 'body', deep)).toThrow(
    /^body: expected an object, got a list, nested too deeply$/,
  );
  expect(() => parse(z.strictObject({ name: z.string() }), 'body', { name: deep })).toThrow(
    /^body\.name: expected text, got a list/,
  );
});
