import type { LineFacts, ModeFacts } from '../line-facts.ts';
import { lastSpan, type Rates, together, WAITS, type Wait } from '../measure.ts';

export interface ModeScene extends Omit<ModeFacts, 'rates' | 'lately'> {
  readonly rates: Rates;
}

export interface Scene {
  readonly facts: LineFacts;
  readonly all: Rates;
  /** Those with something to do. */
  readonly busy: readonly ModeScene[];
  readonly depth: number;
  /** Parts of the account's requests and of its tokens that are used: 1 is all. */
  readonly used: { readonly requests: number; readonly tokens: number };
}

export function lookAt(facts: LineFacts, of: 'rates' | 'lately'): Scene {
  const { account } = facts;
  const modes = facts.modes.map((mode): ModeScene => ({ ...mode, rates: mode[of] }));
  const all = together(modes.map(({ rates }) => rates));
  const { requestsPerMinute, tokensPerMinute } = account;
  return {
    facts,
    all,
    busy: modes.filter(isBusy),
    depth: modes.reduce((sum, { queue }) => sum + queue.depth, 0),
    used: {
      requests: (all.callsPerSecond * 60) / requestsPerMinute,
      tokens: tokensPerMinute === null ? 0 : (all.tokensPerSecond * 60) / tokensPerMinute,
    },
  };
}

function isBusy({ queue, rates }: ModeScene): boolean {
  return !isEmpty(queue) || rates.callsPerSecond > 0;
}

export function isEmpty({ depth, inFlight }: ModeFacts['queue']): boolean {
  return depth === 0 && inFlight === 0;
}

export function succeededOf({ callsPerSecond, refusedPerSecond, failedPerSecond }: Rates): number {
  return callsPerSecond - refusedPerSecond - failedPerSecond;
}

/**
 * Calls in flight that are possible, of those that would use the account if each took as long as the
 * measured ones do on average. Slots of the account are lost where that is not well above 1.
 */
export function roomOf({ facts, all, busy }: Scene): number {
  const needed = facts.callsPerSecond * (all.serviceSeconds ?? facts.serviceSeconds);
  return boundOf(busy) / needed;
}

/** So much room uses nearly all of an account. */
export const ROOM = 1.25;

export function boundOf(modes: readonly Pick<ModeFacts, 'gate' | 'processes'>[]): number {
  return modes.reduce((sum, { gate, processes }) => sum + gate * processes, 0);
}

/**
 * Rows that nobody works on: those of chunks in the queue, and those that wait in processes, of which
 * there are no more than the chunks that these have.
 */
export function waitingRows(modes: readonly ModeScene[]): number {
  return modes.reduce((sum, { queue, chunkRows, rates }) => {
    const inside = Object.values(rates.waiting).reduce((all, rows) => all + rows, 0);
    return sum + queue.depth * chunkRows + Math.min(inside, queue.inFlight * chunkRows);
  }, 0);
}

/** Up to when all is known. Epoch milliseconds. */
export function endOf(now: number): number {
  return lastSpan(now).to * 1000;
}

/** Of the bound: a process between two batches is not full. */
export const FULL = 0.8;

/** Rows that wait at once, of those in flight: fewer are not why work is slow. */
const FELT = 0.1;

/** Of the calls in flight: so many rows that wait in a place keep others from it. */
const HOLDS_UP = 0.25;

/** What rows wait for longest, if it is felt. */
export function longest({ waiting, inFlight }: Rates): Wait | undefined {
  const [most] = WAITS.toSorted((one, other) => waiting[other] - waiting[one]);
  return most !== undefined && isFeltAt(waiting[most], inFlight) ? most : undefined;
}

/**
 * What those wait for that have a place: a row keeps it until its call ends, so that all others wait
 * for a place behind it. Undefined where places are taken by calls.
 */
export function holder({ waiting, inFlight }: Rates): Exclude<Wait, 'gate'> | undefined {
  const [most] = HOLDERS.toSorted((one, other) => waiting[other] - waiting[one]);
  if (most === undefined || waiting[most] === 0) return undefined;
  return waiting[most] >= HOLDS_UP * inFlight ? most : undefined;
}

const HOLDERS = ['allowance', 'yield', 'refused'] as const;

export function isFeltAt(rows: number, inFlight: number): boolean {
  return rows > 0 && rows >= FELT * inFlight;
}
