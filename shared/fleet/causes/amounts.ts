// Numbers as an operator reads them: three digits say enough.

// Numbers as an operator reads them: three digits say enough.

const NUMBER = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

const COUNT = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** `83.3`, `0.052`, `5,000`; whole numbers in full. */
export function rate(value: number): string {
  return Number.isInteger(value) || value >= 1000 ? COUNT.format(value) : NUMBER.format(value);
}

export function count(value: number): string {
  return COUNT.format(value);
}

export function percent(part: number): string {
  return `${COUNT.format(part * 100)} %`;
}

export function seconds(ms: number): string {
  return `${COUNT.format(Math.ceil(ms / 1000))} s`;
}

export function chunks(depth: number): string {
  return depth === 1 ? '1 chunk waits' : `${count(depth)} chunks wait`;
}
