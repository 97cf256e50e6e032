import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hrefOf, parseRoute } from '../../../../web/imports/route.ts';

test('an address leads back to what it shows', () => {
  const id = fc.string({ unit: 'grapheme', minLength: 1 });
  fc.assert(
    fc.property(id, fc.constantFrom('all', 'failed'), (importId, rows) => {
      const { pathname, search } = new URL(hrefOf({ importId, rows }), 'https://pages.example');
      expect(pathname).toBe('/imports.html');
      expect(parseRoute(search)).toEqual({ importId, rows });
    }),
  );
});

test('whose imports are shown is in the address', () => {
  expect(hrefOf({ of: 'everyone' })).toBe('/imports.html?of=everyone');
  expect(parseRoute('?of=everyone').of).toBe('everyone');
  expect(parseRoute('?of=nobody').of).toBeUndefined();
});

test('without an import all are shown', () => {
  expect(hrefOf({})).toBe('/imports.html');
  expect(parseRoute('')).toEqual({ importId: undefined, rows: 'all' });
  expect(parseRoute('?import=&rows=some')).toEqual({ importId: undefined, rows: 'all' });
});
