import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  CHUNKS_A_PAGE,
  chunkOfRow,
  chunksOf,
  chunksOfPage,
  type Layout,
  lengthOf,
  pageOfChunk,
  pageOfRow,
  pagesOf,
  rowsOfChunk,
} from '../../../../shared/imports/layout.ts';

const layout: fc.Arbitrary<Layout> = fc.record({
  total: fc.integer({ min: 1, max: 10_000_000 }),
  chunkRows: fc.integer({ min: 1, max: 1000 }),
});

/** A layout with one of its rows. */
const place = layout.chain((of) =>
  fc.tuple(fc.constant(of), fc.integer({ min: 1, max: of.total })),
);

describe('the layout of an import', () => {
  test('has every row in one chunk, and every chunk on one page', () => {
    fc.assert(
      fc.property(place, ([of, row]) => {
        const chunk = chunkOfRow(of, row);
        const rows = rowsOfChunk(of, chunk);
        expect(rows.first <= row && row <= rows.last).toBe(true);
        const page = pageOfChunk(chunk);
        expect(pageOfRow(of, row)).toBe(page);
        const chunks = chunksOfPage(of, page);
        expect(chunks.first <= chunk && chunk <= chunks.last).toBe(true);
      }),
    );
  });

  test('leaves nothing out between two chunks or pages, nor at the end', () => {
    fc.assert(
      fc.property(place, ([of, row]) => {
        const chunk = chunkOfRow(of, row);
        const rows = rowsOfChunk(of, chunk);
        if (chunk < chunksOf(of)) {
          expect(rowsOfChunk(of, chunk + 1).first).toBe(rows.last + 1);
          expect(lengthOf(rows)).toBe(of.chunkRows);
        } else expect(rows.last).toBe(of.total);
        const page = pageOfChunk(chunk);
        const chunks = chunksOfPage(of, page);
        if (page < pagesOf(of)) {
          expect(chunksOfPage(of, page + 1).first).toBe(chunks.last + 1);
          expect(lengthOf(chunks)).toBe(CHUNKS_A_PAGE);
        } else expect(chunks.last).toBe(chunksOf(of));
        expect(lengthOf(rows)).toBeGreaterThan(0);
        expect(lengthOf(chunks)).toBeGreaterThan(0);
      }),
    );
  });

  test('of a million rows', () => {
    const million = { total: 1_000_000, chunkRows: 50 };
    expect([chunksOf(million), pagesOf(million)]).toEqual([20_000, 200]);
    expect(rowsOfChunk(million, 20_000)).toEqual({ first: 999_951, last: 1_000_000 });
    expect(chunksOfPage(million, 200)).toEqual({ first: 19_901, last: 20_000 });
    expect(pageOfRow(million, 5000)).toBe(1);
    expect(pageOfRow(million, 5001)).toBe(2);
    // One more is one more of each.
    const more = { ...million, total: 1_000_001 };
    expect([chunksOf(more), pagesOf(more)]).toEqual([20_001, 201]);
    expect(rowsOfChunk(more, 20_001)).toEqual({ first: 1_000_001, last: 1_000_001 });
    expect(chunksOf({ total: 812, chunkRows: 50 })).toBe(17);
  });
});
