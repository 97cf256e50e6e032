/** Evenly distributed in [0, 1), the same sequence for the same seed. */
export type Random = () => number;

export function randomFrom(seed: number): Random {
  let state = (Math.imul(seed, 0x9e3779b1) ^ 0x5bd1e995) | 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 0x1_0000_0000;
  };
  // Neighbouring seeds differ in few bits, and the first numbers would show it.
  for (let round = 0; round < 8; round += 1) next();
  return next;
}

export function between(random: Random, low: number, high: number): number {
  return low + (high - low) * random();
}

export function pick<T>(random: Random, choices: readonly [T, ...T[]]): T {
  return choices[Math.floor(random() * choices.length)] ?? choices[0];
}
