import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cut } from '../../../../shared/thumbnails/geometry.ts';
import type { Variant } from '../../../../shared/thumbnails/variant.ts';

function box(width: number, height: number, fit: Variant['fit']): Variant {
  return { name: 'v', width, height, fit, format: 'webp', quality: 75, orientation: 'exif' };
}

const anySize = fc.record({
  width: fc.integer({ min: 1, max: 65_500 }),
  height: fc.integer({ min: 1, max: 65_500 }),
});
const side = fc.integer({ min: 1, max: 4096 });

describe('inside', () => {
  test('keeps the whole picture in proportion', () => {
    expect(cut({ width: 3000, height: 2000 }, box(480, 480, 'inside')).crop).toEqual({
      width: 480,
      height: 320,
    });
  });

  test('180×4 to width 25 gives 25×1, not 25×0', () => {
    const crop = { width: 25, height: 1 };
    expect(cut({ width: 180, height: 4 }, box(25, 4096, 'inside')).crop).toEqual(crop);
  });

  test('never enlarges', () => {
    const crop = { width: 100, height: 50 };
    expect(cut(crop, box(480, 480, 'inside')).crop).toEqual(crop);
  });
});

describe('what was drawn larger than it is', () => {
  const icon = { width: 16, height: 8 };

  test('fills the box, inside or covering it', () => {
    expect(cut(icon, box(480, 480, 'inside'), 100).crop).toEqual({ width: 480, height: 240 });
    expect(cut(icon, box(480, 480, 'cover'), 100)).toEqual({
      scaled: { width: 960, height: 480 },
      crop: { width: 480, height: 480 },
    });
  });

  test('is cut as far as it was drawn', () => {
    expect(cut(icon, box(480, 480, 'inside'), 2).crop).toEqual({ width: 32, height: 16 });
    expect(cut(icon, box(480, 480, 'cover'), 2)).toEqual({
      scaled: { width: 32, height: 16 },
      crop: { width: 16, height: 16 },
    });
  });
});

describe('cover', () => {
  test('fills the box and crops what sticks out', () => {
    expect(cut({ width: 3000, height: 2000 }, box(400, 400, 'cover'))).toEqual({
      scaled: { width: 600, height: 400 },
      crop: { width: 400, height: 400 },
    });
  });

  test('keeps the shape of the box when the picture is smaller, without enlarging', () => {
    expect(cut({ width: 300, height: 600 }, box(480, 480, 'cover'))).toEqual({
      scaled: { width: 300, height: 600 },
      crop: { width: 300, height: 300 },
    });
  });
});

test('no side is ever below 1, above the box or above the picture, whatever the sizes', () => {
  fc.assert(
    fc.property(
      anySize,
      side,
      side,
      fc.constantFrom('inside', 'cover'),
      (size, width, height, fit) => {
        const { scaled, crop } = cut(size, box(width, height, fit));
        for (const [side, limit] of [
          ['width', width],
          ['height', height],
        ] as const) {
          expect(Number.isInteger(crop[side])).toBe(true);
          expect(crop[side]).toBeGreaterThanOrEqual(1);
          expect(crop[side]).toBeLessThanOrEqual(Math.min(limit, scaled[side]));
          expect(scaled[side]).toBeLessThanOrEqual(size[side]);
        }
      },
    ),
  );
});
