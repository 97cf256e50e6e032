import { describe, expect, test } from 'vitest';
import {
  countName,
  lineKey,
  NOTHING_KNOWN,
  parseLine,
} from '../../../../shared/fleet/line-item.ts';
import {
  NO_USAGE,
  sumOf,
  type Usage,
  usageItemSchema,
} from '../../../../shared/fleet/usage-item.ts';

describe('the item of a line', () => {
  test('says nothing while there is none', () => {
    expect(parseLine(undefined)).toEqual(NOTHING_KNOWN);
    expect(parseLine({ line: 'shared', at: 0 })).toEqual(NOTHING_KNOWN);
  });

  test('is read as it is written, and what else is in it is passed over', () => {
    const item = {
      ...lineKey('shared'),
      [countName('common', 7)]: 12,
      [countName('interactive', 8)]: 3,
      'common/x': 1,
      'other/7': 1,
      'common/9': 'many',
      interactiveAt: 1,
      quietUntil: 2,
      yieldUntil: 3,
      cutTo: 0.5,
      cutAt: 4,
    };
    expect(parseLine(item)).toEqual({
      counts: new Map([
        ['common/7', 12],
        ['interactive/8', 3],
      ]),
      interactiveAt: 1,
      quietUntil: 2,
      yieldUntil: 3,
      cut: { to: 0.5, at: 4 },
    });
  });

  test('has no cut where a half of it is missing, and is refused with nonsense in it', () => {
    expect(parseLine({ cutTo: 0.5 }).cut).toBeUndefined();
    expect(parseLine({ cutAt: 5 }).cut).toBeUndefined();
    expect(() => parseLine({ cutTo: 2, cutAt: 1 })).toThrow();
    expect(() => parseLine({ quietUntil: 'soon' })).toThrow();
  });
});

describe('usage', () => {
  const names = Object.keys(NO_USAGE) as (keyof Usage)[];

  test('is nothing of anything where nothing was written', () => {
    expect(usageItemSchema.parse({ line: 'usage/bulk', at: 10, ttl: 5 })).toEqual({
      at: 10,
      ...NO_USAGE,
    });
    expect(names.map((name) => NO_USAGE[name])).toEqual(names.map(() => 0));
  });

  test('is added up in each of its figures', () => {
    const one = Object.fromEntries(names.map((name, index) => [name, index + 1])) as Usage;
    const sum = sumOf(one, one);
    expect(names.map((name) => sum[name])).toEqual(names.map((_, index) => 2 * (index + 1)));
    expect(sumOf(one, {})).toEqual(one);
  });
});
