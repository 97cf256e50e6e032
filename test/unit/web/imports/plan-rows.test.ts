import fc from 'fast-check';
import { expect, test } from 'vitest';
import { MOST_ROWS, planRows } from '../../../../web/imports/rows/plan-rows.ts';

const span = fc
  .tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(400))
  .map(([from, more]) => ({ from, to: from + more }));

test('a window that is full is not asked for', () => {
  fc.assert(
    fc.property(span, (given) => {
      expect(planRows(given, () => true)).toBeUndefined();
    }),
  );
  expect(planRows({ from: 1, to: 0 }, () => false)).toBeUndefined();
});

test('what is asked for begins and ends with rows that are missing, and is within the window', () => {
  fc.assert(
    fc.property(span, fc.array(fc.nat(400)), (given, there) => {
      const known = new Set(there.map((offset) => given.from + offset));
      const planned = planRows(given, (row) => known.has(row));
      const missing = Array.from({ length: given.to - given.from + 1 }, (_, at) => given.from + at)
        .filter((row) => !known.has(row))
        .filter((row, _, all) => row < (all[0] ?? 0) + MOST_ROWS);
      if (missing.length === 0) {
        expect(planned).toBeUndefined();
        return;
      }
      const [first = 0] = missing;
      const last = missing.at(-1) ?? 0;
      expect(planned).toEqual({ after: first - 1, limit: last - first + 1 });
      expect(planned?.limit).toBeLessThanOrEqual(MOST_ROWS);
    }),
  );
});

test('a window that is filled as asked is full after as many requests as it has hundreds', () => {
  fc.assert(
    fc.property(span, (given) => {
      const known = new Set<number>();
      let asked = 0;
      for (;;) {
        const planned = planRows(given, (row) => known.has(row));
        if (planned === undefined) break;
        asked += 1;
        for (let row = planned.after + 1; row <= planned.after + planned.limit; row += 1) {
          expect(known.has(row)).toBe(false);
          known.add(row);
        }
      }
      expect(asked).toBe(Math.ceil((given.to - given.from + 1) / MOST_ROWS));
    }),
  );
});
