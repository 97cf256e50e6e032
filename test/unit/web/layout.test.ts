import fc from 'fast-check';
import { expect, test } from 'vitest';
import { layoutCards } from '../../../web/gallery/galleries/layout-cards.ts';
import { clampRatio, layoutRows, rowsBetween } from '../../../web/gallery/grid/layout.ts';
import { nextIndex } from '../../../web/gallery/grid/next-index.ts';

const ratios = fc.array(fc.double({ min: 0.05, max: 20, noNaN: true }), { maxLength: 200 });
const shape = fc.record({
  width: fc.integer({ min: 280, max: 3000 }),
  rowHeight: fc.integer({ min: 100, max: 300 }),
  gap: fc.integer({ min: 0, max: 12 }),
});

test('every picture has one place, in order, and no two overlap', () => {
  fc.assert(
    fc.property(ratios, shape, (given, form) => {
      const rows = layoutRows(given, { ...form, more: false });
      const tiles = rows.flatMap((row) => row.tiles);
      expect(tiles.map(({ index }) => index)).toEqual(given.map((_, index) => index));
      for (const [at, { top, height }] of rows.entries()) {
        expect(rows[at + 1]?.top ?? top + height + form.gap).toBe(top + height + form.gap);
      }
      for (const { tiles: inRow } of rows) {
        for (const [at, { left, width }] of inRow.entries()) {
          expect(width).toBeGreaterThan(0);
          const next = inRow[at + 1];
          if (next !== undefined) expect(next.left).toBe(left + width + form.gap);
        }
      }
    }),
  );
});

test('every row but the last is exactly as wide as the page', () => {
  fc.assert(
    fc.property(ratios, shape, (given, form) => {
      for (const { tiles } of layoutRows(given, { ...form, more: false }).slice(0, -1)) {
        const last = tiles.at(-1);
        expect((last?.left ?? 0) + (last?.width ?? 0)).toBe(form.width);
      }
    }),
  );
});

test('pictures keep their proportions within a pixel or two, and rows come near the height wished', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.6, max: 2.4, noNaN: true }), { minLength: 40, maxLength: 80 }),
      fc.integer({ min: 800, max: 2400 }),
      (given, width) => {
        for (const { tiles, height } of layoutRows(given, {
          width,
          rowHeight: 230,
          gap: 6,
          more: true,
        })) {
          expect(height).toBeGreaterThan(230 * 0.6);
          expect(height).toBeLessThan(230 * 1.7);
          for (const tile of tiles) {
            const ratio = clampRatio(given[tile.index] ?? 1);
            // The last of a row takes the others' rounding, half a pixel each, and that of the height.
            expect(Math.abs(tile.width - ratio * height)).toBeLessThan(tiles.length * (1 + ratio));
          }
        }
      },
    ),
  );
});

test('while more is to come, a row that is not full is held back', () => {
  const three = [1.5, 1.5, 1.5];
  const form = { width: 1200, rowHeight: 200, gap: 6 };
  expect(layoutRows(three, { ...form, more: true })).toEqual([]);
  const [row] = layoutRows(three, { ...form, more: false });
  expect(row?.tiles.map(({ width }) => width)).toEqual([396, 396, 396]);
  const [alone] = layoutRows([1.5], { ...form, more: false });
  expect(alone?.tiles).toEqual([{ index: 0, left: 0, top: 0, width: 300, height: 200 }]);
});

test('going on below a row gives what laying out all at once gives', () => {
  fc.assert(
    fc.property(ratios, shape, fc.nat(20), (given, form, keep) => {
      const all = layoutRows(given, { ...form, more: false });
      const kept = all.slice(0, keep);
      const end = kept.at(-1);
      const start =
        end === undefined ? undefined : { from: end.to, top: end.top + end.height + form.gap };
      expect([...kept, ...layoutRows(given, { ...form, more: false }, start)]).toEqual(all);
    }),
  );
});

test('the rows of a window are those that reach into it', () => {
  fc.assert(
    fc.property(
      ratios,
      shape,
      fc.integer({ min: -500, max: 9000 }),
      fc.nat(3000),
      (given, form, top, high) => {
        const rows = layoutRows(given, { ...form, more: false });
        expect(rowsBetween(rows, top, top + high)).toEqual(
          rows.filter((row) => row.top + row.height >= top && row.top <= top + high),
        );
      },
    ),
  );
});

test('arrows go to the neighbours, up and down to the nearest middle, and never out of the grid', () => {
  const rows = layoutRows([1, 2, 1, 1, 1, 2, 1, 1], {
    width: 500,
    rowHeight: 100,
    gap: 0,
    more: false,
  });
  expect(rows.map(({ from, to }) => [from, to])).toEqual([
    [0, 4],
    [4, 8],
  ]);
  const go = (key: string, index: number) => nextIndex(key, index, rows, 8);
  expect(go('ArrowRight', 3)).toBe(4);
  expect(go('ArrowRight', 7)).toBe(7);
  expect(go('ArrowLeft', 0)).toBe(0);
  expect(go('ArrowDown', 1)).toBe(5);
  expect(go('ArrowDown', 5)).toBe(5);
  expect(go('ArrowUp', 6)).toBe(2);
  expect(go('ArrowUp', 2)).toBe(2);
  expect(go('Home', 6)).toBe(0);
  expect(go('End', 1)).toBe(7);
  expect(go('Enter', 1)).toBeUndefined();
});

test('gallery cards fill the width in equal columns, two at least', () => {
  fc.assert(
    fc.property(fc.nat(500), fc.integer({ min: 280, max: 3000 }), (count, width) => {
      const rows = layoutCards(count, width);
      const tiles = rows.flatMap((row) => row.tiles);
      expect(tiles.map(({ index }) => index)).toEqual(Array.from({ length: count }, (_, at) => at));
      for (const tile of tiles) expect(tile.left + tile.width).toBeLessThanOrEqual(width);
      if (count > 1) expect(rows[0]?.tiles.length).toBeGreaterThanOrEqual(2);
    }),
  );
});
