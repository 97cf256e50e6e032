import { describe, expect, test } from 'vitest';
import { fitInside } from '../../../../web/gallery/large/fit.ts';

const SCREEN = { width: 1200, height: 800 };

/** A picture with a thumbnail of this width. */
function picture(width: number, height: number, thumbnail: number) {
  const card = { state: 'ready', url: undefined, expiresAt: undefined, width: thumbnail } as const;
  return { width, height, variants: { card } };
}

describe('a picture is shown', () => {
  test('as large as the screen has room for', () => {
    expect(fitInside(picture(3000, 3000, 480), SCREEN)).toEqual({ width: 800, height: 800 });
  });

  test('no larger than it is', () => {
    expect(fitInside(picture(30, 20, 30), SCREEN)).toEqual({ width: 30, height: 20 });
  });

  test('as large as the screen where it is a drawing, whatever size that names', () => {
    expect(fitInside(picture(16, 16, 480), SCREEN)).toEqual({ width: 800, height: 800 });
  });

  test('on the whole screen where nothing is known of it', () => {
    expect(fitInside(undefined, SCREEN)).toEqual(SCREEN);
  });
});
