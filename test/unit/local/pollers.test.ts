import { expect, test } from 'vitest';
import { pollersOf } from '../../../local/mappings/mapping.ts';

test.each([
  // A function with a core of its own works: as many as there are cores.
  [10, 1769, 2, 2],
  [10, 1769, 8, 8],
  [10, 3538, 1, 2],
  // One with less waits on the network: twice as many as their shares allow.
  [10, 512, 2, 10],
  [100, 512, 2, 13],
  [100, 256, 1, 13],
  // Never more than the mapping allows at once.
  [4, 512, 2, 4],
  [2, 256, 64, 2],
])('of at most %i, a function with %i MB has on %i cores %i', (most, memoryMb, cores, pollers) => {
  expect(pollersOf(most, memoryMb, cores)).toBe(pollers);
});
