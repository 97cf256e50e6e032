/** Values of a minute, of which no more is kept than how many there were of about which size. */
export interface Distribution {
  count: number;
  sum: number;
  least: number;
  most: number;
  /** Counts by size: a bin is a hundredth larger than the one before. */
  bins: Map<number, number>;
}

const STEP = Math.log(1.01);
/** Of what is not above zero. */
const ZERO = Number.NEGATIVE_INFINITY;

export function emptyDistribution(): Distribution {
  return {
    count: 0,
    sum: 0,
    least: Number.POSITIVE_INFINITY,
    most: Number.NEGATIVE_INFINITY,
    bins: new Map(),
  };
}

export function addValue(to: Distribution, value: number): void {
  to.count += 1;
  to.sum += value;
  to.least = Math.min(to.least, value);
  to.most = Math.max(to.most, value);
  const bin = value > 0 ? Math.round(Math.log(value) / STEP) : ZERO;
  to.bins.set(bin, (to.bins.get(bin) ?? 0) + 1);
}

export function merged(all: readonly Distribution[]): Distribution {
  const result = emptyDistribution();
  for (const each of all) {
    result.count += each.count;
    result.sum += each.sum;
    result.least = Math.min(result.least, each.least);
    result.most = Math.max(result.most, each.most);
    for (const [bin, count] of each.bins) {
      result.bins.set(bin, (result.bins.get(bin) ?? 0) + count);
    }
  }
  return result;
}

/** The value that so much of all is not above. @param part 0 to 1 */
export function percentile(of: Distribution, part: number): number {
  const wanted = Math.max(1, Math.ceil(part * of.count));
  let seen = 0;
  for (const [bin, count] of sorted(of)) {
    seen += count;
    if (seen >= wanted) return Math.min(of.most, Math.max(of.least, middleOf(bin)));
  }
  return of.most;
}

/** How much of all is above the one and not above the other. 0 to 1. */
export function rank(of: Distribution, above: number, upTo: number): number {
  let within = 0;
  for (const [bin, count] of of.bins) {
    const value = middleOf(bin);
    if (value > above && value <= upTo) within += count;
  }
  return within / of.count;
}

const middleOf = (bin: number): number => (bin === ZERO ? 0 : Math.exp(bin * STEP));

const sorted = ({ bins }: Distribution) => [...bins].sort(([one], [other]) => one - other);
