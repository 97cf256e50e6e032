// Answers are read without trust; what has not the form expected is refused where it comes in.

export function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw new TypeError('expected a list');
}

export function text(value: unknown): string {
  if (typeof value === 'string') return value;
  throw new TypeError('expected text');
}

export function number(value: unknown): number {
  if (typeof value === 'number') return value;
  throw new TypeError('expected a number');
}

/** What may be absent: undefined then, and read where it is there. */
export function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : read(value);
}
