import { expect, test } from 'vitest';
import { draftOf, objectionTo, wishesOf } from '../../../../web/imports/import/draft.ts';
import { readImport } from '../../../../web/imports/import-view.ts';
import { told } from './told.ts';

const { settings, report } = readImport(told());
const columns = report?.columns ?? [];
const draft = draftOf(settings, columns);

test('a draft begins as the API has it, and asks for nothing then', () => {
  expect([...draft.columns]).toEqual(['sku', 'notes']);
  expect(wishesOf(draft, settings, columns)).toEqual({});
});

test('only what differs is asked for, columns in the order of the file', () => {
  const changed = { instructions: ' Be brief. ', columns: new Set(['notes']), maxCost: '$ 2,50' };
  expect(wishesOf(changed, settings, columns)).toEqual({
    instructions: 'Be brief.',
    columns: ['notes'],
    maxCostUsd: 2.5,
  });
  const chosen = { ...settings, columns: ['notes'], maxCostUsd: 2.5 };
  const all = { ...draft, columns: new Set(['notes', 'sku']), maxCost: '2.5' };
  // An empty list would stand for the columns chosen before.
  expect(wishesOf(all, chosen, columns)).toEqual({ columns: ['sku', 'notes'] });
});

test('a bound is taken away by emptying its field', () => {
  const bounded = { ...settings, maxCostUsd: 2.5 };
  const emptied = { ...draftOf(bounded, columns), maxCost: ' ' };
  expect(wishesOf(emptied, bounded, columns)).toEqual({ maxCostUsd: null });
  expect(wishesOf(emptied, settings, columns)).toEqual({});
});

test.each([
  [{ columns: new Set<string>() }, 'Choose at least one column.'],
  [{ instructions: '  ' }, 'The model needs instructions.'],
  [{ instructions: 'x'.repeat(4001) }, /characters/],
  [{ maxCost: 'much' }, /amount in US dollars/],
  [{ maxCost: '0' }, /amount in US dollars/],
  [{ maxCost: '-1' }, /amount in US dollars/],
])('what cannot be asked for is objected to: %o', (changes, objection) => {
  const said = objectionTo({ ...draft, ...changes });
  if (typeof objection === 'string') expect(said).toBe(objection);
  else expect(said).toMatch(objection);
});

test('nothing is objected to in a draft that can be asked for', () => {
  for (const maxCost of ['', '5', '.5', '2,50', '$3']) {
    expect(objectionTo({ ...draft, maxCost })).toBeUndefined();
  }
});
