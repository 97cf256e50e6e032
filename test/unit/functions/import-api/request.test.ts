import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import * as request from '../../../../functions/import-api/request.ts';
import { InvalidRequestError, NotFoundError } from '../../../../shared/errors.ts';
import { createImportId } from '../../../../shared/imports/import-id.ts';
import { parse } from '../../../../shared/runtime/parse-request.ts';

const least = { name: 'spring.csv', mode: 'interactive' };
const { createBody, resumeBody, estimateBody, listQuery, rowsQuery, exportQuery } = request;

describe('a request is refused in one sentence that says where and what', () => {
  test.each([
    [createBody, undefined, /^body: expected an object, got nothing$/],
    [createBody, { mode: 'bulk' }, /^body\.name: expected text, got nothing$/],
    [createBody, { ...least, name: ' ' }, /^body\.name: expected some text, got ""$/],
    [createBody, { ...least, name: 'n'.repeat(201) }, /^body\.name: expected at most 200 char/],
    [createBody, { ...least, name: '\ud800' }, /^body\.name: expected well-formed Unicode/],
    [
      createBody,
      { name: 'a', mode: 'fast' },
      /^body\.mode: expected one of "interactive", "bulk", got "fast"$/,
    ],
    [createBody, { ...least, rows: 7 }, /^body: expected only "name", "mode", .*, got "rows"$/],
    [createBody, { ...least, name: 'a\0b' }, /^body\.name: expected text without control char/],
    [createBody, { ...least, name: 'a\nb' }, /^body\.name: expected text without control char/],
    [createBody, { ...least, instructions: 'a\u0007' }, /^body\.instructions: .* control char/],
    [createBody, { ...least, idColumn: '\udc00' }, /^body\.idColumn: expected well-formed/],
    [createBody, { ...least, columns: null }, /^body\.columns: expected a list, got null$/],
    [createBody, { ...least, maxCostUsd: null }, /^body\.maxCostUsd: expected US dollars.*null$/],
    [createBody, { ...least, instructions: 'i'.repeat(4001) }, /^body\.instructions: .*4000/],
    [
      createBody,
      { ...least, columns: Array(501).fill('a') },
      /^body\.columns: expected at most 500/,
    ],
    [createBody, { ...least, columns: [] }, /^body\.columns: expected at least one name, or/],
    [resumeBody, { columns: [] }, /^body\.columns: expected at least one name, or nothing/],
    [estimateBody, { columns: [] }, /^body\.columns: expected at least one name, or nothing/],
    [createBody, { ...least, instructions: ' \n' }, /^body\.instructions: expected some text, or/],
    [resumeBody, { instructions: '' }, /^body\.instructions: expected some text, or nothing/],
    [createBody, { ...least, columns: ['a', ''] }, /^body\.columns\.1: expected some text/],
    [
      createBody,
      { ...least, columns: Array.from({ length: 100 }, (_, n) => `${n}${'ü'.repeat(500)}`) },
      /^body\.columns: expected names of at most 65536 bytes together/,
    ],
    [createBody, { ...least, encoding: 'ebcdic' }, /^body\.encoding: .*"utf-8".*, got "ebcdic"$/],
    [createBody, { ...least, delimiter: ':' }, /^body\.delimiter: .*, got ":"$/],
    [createBody, { ...least, maxCostUsd: 0 }, /^body\.maxCostUsd: .*, got 0$/],
    [
      createBody,
      { ...least, deadline: 'tomorrow' },
      /^body\.deadline: expected a time in ISO 8601/,
    ],
    [createBody, { ...least, hold: 'yes' }, /^body\.hold: expected true or false, got "yes"$/],
    [
      resumeBody,
      { name: 'other' },
      /^body: expected only "instructions", "columns", "maxCostUsd", got "name"$/,
    ],
    [resumeBody, { maxCostUsd: '5' }, /^body\.maxCostUsd: expected US dollars, .*, got "5"$/],
    [request.nothing, { hard: true }, /^body: expected nothing in it, got "hard"$/],
  ])('%#', (schema, input, sentence) => {
    expect(() => parse(schema, 'body', input)).toThrow(sentence);
  });

  test.each([
    [listQuery, { limit: '51' }, /^query\.limit: expected a whole number from 1 to 50, got "51"$/],
    [listQuery, { limit: '0' }, /^query\.limit: /],
    [rowsQuery, { limit: '201' }, /^query\.limit: expected a whole number from 1 to 200/],
    [rowsQuery, { after: '-1' }, /^query\.after: expected the number of a row, got "-1"$/],
    [rowsQuery, { state: 'pending' }, /^query\.state: .*"done".*, got "pending"$/],
    [exportQuery, { only: 'done' }, /^query\.only: .*"failed", got "done"$/],
  ])('also in the query: %#', (schema, input, sentence) => {
    expect(() => parse(schema, 'query', input)).toThrow(sentence);
  });
});

test('whatever comes is taken, or refused in our own words', () => {
  const schemas = [createBody, resumeBody, estimateBody, request.nothing, listQuery];
  const names = fc.constantFrom(...Object.keys(createBody.shape), 'cursor', 'limit', 'after');
  const values = fc.oneof(
    fc.anything({ withNullPrototype: false }),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('\0', '\ud800', 'x'.repeat(70_000), [''], [null], -1, 0, 1e9, Number.NaN),
  );
  const bodies = fc.oneof(
    fc.anything({ withNullPrototype: false }),
    fc.dictionary(names, values).map((given) => ({ ...least, ...given })),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...schemas, rowsQuery, exportQuery),
      bodies,
      (schema: z.ZodType, given) => {
        try {
          parse(schema, 'body', given);
        } catch (error) {
          if (!(error instanceof InvalidRequestError)) throw error;
          expect(error.message).toMatch(/^body[^:]*: expected .+, got .+$/s);
          expect(error.message.split(', got ')[0]).not.toMatch(
            /something else|Invalid|Unrecogni|Too |received|ZodError/,
          );
        }
      },
    ),
    { numRuns: 2000 },
  );
});

test('a bound can be taken away, and lines are text', () => {
  expect(parse(resumeBody, 'body', { maxCostUsd: null })).toEqual({ maxCostUsd: null });
  const instructions = 'One sentence.\n\tIn French.';
  expect(parse(resumeBody, 'body', { instructions })).toEqual({ instructions });
});

test('what is left out stays out, or is what it usually is', () => {
  expect(parse(createBody, 'body', least)).toEqual({ ...least, hold: false });
  expect(parse(listQuery, 'query', {})).toEqual({ limit: 20 });
  expect(parse(rowsQuery, 'query', {})).toEqual({ after: 0, limit: 100 });
  expect(parse(resumeBody, 'body', {})).toEqual({});
});

test('names are trimmed and named once', () => {
  const columns = [' sku', 'title', 'sku '];
  expect(parse(resumeBody, 'body', { columns })).toEqual({ columns: ['sku', 'title'] });
});

test('all limits that may be asked for are', () => {
  for (let limit = 1; limit <= 200; limit++) {
    const query = { limit: String(limit) };
    expect(parse(rowsQuery, 'query', query).limit).toBe(limit);
    if (limit <= 50) expect(parse(listQuery, 'query', query).limit).toBe(limit);
  }
});

test('what is no id is the id of nothing', () => {
  const id = createImportId(Date.UTC(2026, 0, 31));
  expect(request.importIdOf({ id })).toBe(id);
  for (const wrong of [undefined, '', '../1', `${id}/1`, id.toUpperCase()]) {
    const path = wrong === undefined ? {} : { id: wrong };
    expect(() => request.importIdOf(path)).toThrow(NotFoundError);
  }
});

test('a kept answer is known by its ETag, however browsers and proxies write it', () => {
  for (const header of ['"a"', 'W/"a"', '"b", "a"', '*']) {
    expect(request.isKept('"a"', header)).toBe(true);
  }
  for (const header of [undefined, '', 'a', '"b"']) {
    expect(request.isKept('"a"', header)).toBe(false);
  }
});
