import type { FaultName, FaultRule, Latency } from './settings.ts';

/** What decides a call's fate: with the same seed, the same row's n-th call meets the same. */
export interface Fate {
  readonly row: string;
  /** Of the row, from 1. */
  readonly attempt: number;
  /** Of all, from 1. */
  readonly call: number;
}

/** Evenly distributed in [0, 1). */
export type Random = () => number;

/** From all of the row's letters: neighbouring rows differ in one. */
export function randomFor(seed: number, row: string, attempt: number): Random {
  let state = Math.imul(seed ^ 0x3c6ef372, 0x9e3779b1) ^ Math.imul(attempt, 0x85ebca6b);
  for (let at = 0; at < row.length; at++) {
    state = Math.imul(state ^ row.charCodeAt(at), 0x01000193);
    state ^= state >>> 15;
  }
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  };
}

/** The first rule that fits, if any. */
export function faultOf(
  rules: readonly FaultRule[],
  fate: Fate,
  random: Random,
): FaultName | undefined {
  for (const { fault, row, attempt, call, probability } of rules) {
    if (row !== undefined && row !== fate.row) continue;
    if (attempt !== undefined && attempt !== fate.attempt) continue;
    if (call !== undefined && call !== fate.call) continue;
    if (probability === 1 || random() < probability) return fault;
  }
  return undefined;
}

const LONGEST_MS = 600_000;

export function latencyOf(latency: Latency, random: Random): number {
  if (latency.kind === 'fixed') return latency.ms;
  const { meanMs, sigma } = latency;
  // The mean of a log-normal is exp(mu + sigma²/2).
  const mu = Math.log(meanMs) - sigma ** 2 / 2;
  return Math.min(LONGEST_MS, Math.exp(mu + sigma * normal(random)));
}

/** Box and Muller's, of which one of the two is enough. */
function normal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()));
  return radius * Math.cos(2 * Math.PI * random());
}
