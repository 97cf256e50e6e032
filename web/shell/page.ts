/** A part of a list, and where it goes on. */
export interface Page<T> {
  readonly items: readonly T[];
  readonly cursor: string | undefined;
}
