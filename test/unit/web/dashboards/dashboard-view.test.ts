import { expect, test } from 'vitest';
import { isAlone } from '../../../../web/dashboards/dashboard-view.ts';

test('a value is alone where nothing was measured before it and after it', () => {
  const values = [1, null, 0, null, null, 2, 3, null, 4];
  const alone = values.map((_, at) => at).filter((at) => isAlone(values, at));
  expect(alone).toEqual([0, 2, 8]);
  expect(isAlone([5], 0)).toBe(true);
  expect(isAlone([], 0)).toBe(false);
});
