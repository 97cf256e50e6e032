import { type Distribution, percentile, rank } from './distribution.ts';

/** What is read of a minute. */
export type Statistic = (of: Distribution) => number;

const PLAIN: Readonly<Record<string, Statistic>> = {
  Sum: ({ sum }) => sum,
  Average: ({ sum, count }) => sum / count,
  Minimum: ({ least }) => least,
  Maximum: ({ most }) => most,
  SampleCount: ({ count }) => count,
};

/** By CloudWatch's name of it: `Sum`, `p99`, `PR(500:2000)`. @throws an error that names one that is not known */
export function statisticOf(name: string): Statistic {
  const plain = PLAIN[name];
  if (plain !== undefined) return plain;
  const part = /^p(\d{1,2}(?:\.\d{1,10})?|100)$/.exec(name)?.[1];
  if (part !== undefined) return (of) => percentile(of, Number(part) / 100);
  const range = /^PR\((\d+(?:\.\d+)?)?:(\d+(?:\.\d+)?)?\)$/.exec(name);
  if (range !== null && (range[1] ?? range[2]) !== undefined) {
    const above = range[1] === undefined ? Number.NEGATIVE_INFINITY : Number(range[1]);
    const upTo = range[2] === undefined ? Number.POSITIVE_INFINITY : Number(range[2]);
    return (of) => 100 * rank(of, above, upTo);
  }
  throw new Error(`The local cloud does not know the statistic ${name}.`);
}
