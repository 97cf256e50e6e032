import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  moved,
  placeAt,
  scrolledTo,
  settled,
  trackOf,
} from '../../../../web/imports/rows/track.ts';

const HEIGHT = 88;
const VIEW = 900;
const rows = fc.integer({ min: 1, max: 10_000_000 });

test('a list that fits in an element is its own track', () => {
  const track = trackOf(812, HEIGHT);
  expect(track.height).toBe(812 * HEIGHT);
  expect(moved(track, { scrolled: 0, offset: 0 }, 40_000, VIEW)).toEqual({
    scrolled: 40_000,
    offset: 0,
  });
  expect(settled(track, { scrolled: 40_000, offset: 0 })).toBeUndefined();
});

test('no track is higher than an element may be in any browser', () => {
  expect(trackOf(1_000_000, HEIGHT).height).toBeLessThan(17_000_000);
});

test('every place can be scrolled to, and the bar moves as the rows do', () => {
  fc.assert(
    fc.property(rows, fc.double({ min: 0, max: 1, noNaN: true }), (count, share) => {
      const track = trackOf(count, HEIGHT);
      const place = share * track.length;
      const scrolled = scrolledTo(track, place);
      expect(scrolled).toBeGreaterThanOrEqual(0);
      expect(scrolled).toBeLessThanOrEqual(track.height + 1e-6);
      expect(placeAt(track, scrolled)).toBeCloseTo(place, 2);
      expect(placeAt(track, scrolled + 1)).toBeGreaterThan(placeAt(track, scrolled));
    }),
  );
  const million = trackOf(1_000_000, HEIGHT);
  expect(placeAt(million, 0)).toBe(0);
  expect(placeAt(million, million.height)).toBe(million.length);
});

test('a turn of the wheel moves the rows by as much, wherever one is', () => {
  const track = trackOf(1_000_000, HEIGHT);
  const at = fc.integer({ min: 2_000_000, max: 6_000_000 });
  fc.assert(
    fc.property(
      at,
      fc.array(fc.integer({ min: -VIEW, max: VIEW }), { maxLength: 30 }),
      (start, turns) => {
        let position = { scrolled: start, offset: placeAt(track, start) - start };
        for (const turn of turns) {
          const before = position.scrolled + position.offset;
          position = moved(track, position, position.scrolled + turn, VIEW);
          expect(position.scrolled + position.offset).toBeCloseTo(before + turn, 3);
        }
        // At rest the bar is where the rows are, and the rows have not moved.
        const rest = settled(track, position);
        if (rest === undefined) return;
        expect(rest.scrolled + rest.offset).toBeCloseTo(position.scrolled + position.offset, 3);
        expect(placeAt(track, rest.scrolled)).toBeCloseTo(rest.scrolled + rest.offset, -2);
        expect(settled(track, rest)).toBeUndefined();
      },
    ),
  );
});

test('a drag of the bar goes where the bar is', () => {
  const track = trackOf(1_000_000, HEIGHT);
  const { scrolled, offset } = moved(track, { scrolled: 0, offset: 0 }, 4_000_000, VIEW);
  expect(scrolled + offset).toBeCloseTo(track.length / 2, 0);
});
