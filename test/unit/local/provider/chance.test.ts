import { expect, test } from 'vitest';
import { faultOf, latencyOf, randomFor } from '../../../../local/provider/chance.ts';
import type { FaultRule } from '../../../../local/provider/settings.ts';

const rule = (given: Partial<FaultRule>): FaultRule => ({
  fault: 'hang',
  probability: 1,
  ...given,
});
const numbers = (...given: Parameters<typeof randomFor>) => {
  const random = randomFor(...given);
  return Array.from({ length: 5 }, random);
};

test('the same seed, row and attempt meet the same; another of these another', () => {
  expect(numbers(1, 'imp/7', 1)).toEqual(numbers(1, 'imp/7', 1));
  const others = [
    numbers(2, 'imp/7', 1),
    numbers(1, 'imp/8', 1),
    numbers(1, 'imp/7', 2),
    numbers(1, '', 1),
  ];
  for (const other of others) expect(other).not.toEqual(numbers(1, 'imp/7', 1));
});

test('neighbouring rows are evenly spread', () => {
  const first = Array.from({ length: 20_000 }, (_, row) => randomFor(7, `imp/${row}`, 1)());
  for (let tenth = 0; tenth < 10; tenth++) {
    const share = first.filter((value) => Math.floor(value * 10) === tenth).length / first.length;
    expect(share).toBeGreaterThan(0.09);
    expect(share).toBeLessThan(0.11);
  }
});

test('a rule fits if all that it names does; the first that fits is taken', () => {
  const rules = [
    rule({ fault: 'reset', row: 'imp/7', attempt: 1 }),
    rule({ fault: 'empty', call: 3 }),
    rule({ fault: 'overloaded', row: 'imp/7' }),
  ];
  const meets = (row: string, attempt: number, call: number) =>
    faultOf(rules, { row, attempt, call }, () => 0.5);
  expect(meets('imp/7', 1, 3)).toBe('reset');
  expect(meets('imp/7', 2, 3)).toBe('empty');
  expect(meets('imp/7', 2, 4)).toBe('overloaded');
  expect(meets('imp/8', 1, 1)).toBeUndefined();
});

test('a probability is that share of the calls', () => {
  const rules = [rule({ probability: 0.2 })];
  const met = Array.from({ length: 5000 }, (_, row) =>
    faultOf(rules, { row: `imp/${row}`, attempt: 1, call: row }, randomFor(3, `imp/${row}`, 1)),
  ).filter((fault) => fault === 'hang');
  expect(met.length / 5000).toBeCloseTo(0.2, 1);
  expect(
    faultOf([rule({ probability: 0 })], { row: '', attempt: 1, call: 1 }, () => 0),
  ).toBeUndefined();
});

test('a log-normal latency has the mean that was asked for, and a tail', () => {
  const latency = { kind: 'log-normal', meanMs: 800, sigma: 0.5 } as const;
  const all = Array.from({ length: 20_000 }, (_, row) =>
    latencyOf(latency, randomFor(1, `r${row}`, 1)),
  );
  const mean = all.reduce((sum, ms) => sum + ms, 0) / all.length;
  expect(mean).toBeGreaterThan(785);
  expect(mean).toBeLessThan(815);
  expect(Math.min(...all)).toBeGreaterThan(50);
  expect(Math.max(...all)).toBeGreaterThan(2500);
  expect(latencyOf({ ...latency, sigma: 0 }, () => 0.3)).toBeCloseTo(800, 6);
  expect(latencyOf({ kind: 'fixed', ms: 42 }, () => 0.3)).toBe(42);
});
