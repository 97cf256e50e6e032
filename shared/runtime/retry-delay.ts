const SECOND = 1000;
const LONGEST = 120 * SECOND;

/**
 * Milliseconds until a message is delivered again after an error that is not the provider's: 2, 4, 8
 * … 120 seconds, and up to half as much again at random.
 */
export function retryDelay(attempt: number, random: () => number): number {
  return Math.min(2 ** attempt * SECOND, LONGEST) * (1 + random() / 2);
}
