import { expect, test } from 'vitest';
import { pictures } from '../../../../web/gallery/uploads/pictures-in-words.ts';

test('pictures are counted', () => {
  expect([0, 1, 1200].map(pictures)).toEqual(['0 pictures', '1 picture', '1,200 pictures']);
});
