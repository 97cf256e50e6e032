import {
  type Admission,
  type Allowance,
  createAllowance,
} from '../../../../shared/fleet/allowance.ts';
import type { AllowanceSettings, Mode } from '../../../../shared/fleet/allowance-settings.ts';
import { layOut, slotsIn } from '../../../../shared/fleet/lanes.ts';
import type { Line } from '../../../../shared/fleet/line.ts';
import { createSoloLine } from '../../../../shared/fleet/solo-line.ts';
import { createTrueTime, type TrueTime } from '../../../../shared/fleet/true-time.ts';
import { createVirtualTime } from '../../../virtual-time.ts';

/** A moment of no meaning. Epoch milliseconds. */
const START = 1_800_000_000_000;

export const SETTINGS: AllowanceSettings = {
  line: 'shared',
  requestsPerMinute: 1800,
  tokensPerMinute: null,
  interactiveShare: 0.3,
  frameSeconds: 2,
  reserve: 0.1,
};

export interface Work {
  mode?: Mode;
  /** Calls in flight, or waiting, at most. */
  gate?: number;
  serviceMs?: () => number;
  tokens?: () => number;
  /** What a call turns out to count for; all that it reserved where nothing is said. */
  used?: (tokens: number) => number;
  /** How long a call waits for its turn before it is handed back. */
  withinMs?: number;
  /** Milliseconds by which the process's clock is ahead. */
  ahead?: number;
  /** Milliseconds between one call's end and the next in its place. */
  restMs?: () => number;
}

export interface Begun {
  at: number;
  mode: Mode;
  process: number;
  tokens: number;
  waitedMs: number;
  /** By how much its process's clock was ahead, as far as it knew the time. */
  offMs: number;
}

export interface Left {
  /** Milliseconds that it waited, and by how much longer than it could. */
  waitedMs: number;
  lateMs: number;
  delayMs: number;
}

export interface Op {
  name: keyof Line;
  at: number;
  process: number;
}

/** Whether the store answers, as it is now. */
export type Weather = 'fine' | 'failing' | 'hanging';

/** Numbers below 1, always the same ones for a seed. */
function seeded(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), 1 | state);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Durations as those of calls are: around a mean, some much longer. */
export function around(mean: number, random: () => number): () => number {
  return () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return mean * Math.exp(0.35 * normal - 0.06);
  };
}

/** An account, and processes that share it, in virtual time. */
export class Fleet {
  readonly settings: AllowanceSettings;
  readonly time = createVirtualTime(START);
  readonly random: () => number;
  readonly line = createSoloLine();
  readonly begun: Begun[] = [];
  readonly left: Left[] = [];
  readonly ops: Op[] = [];
  readonly storeErrors: unknown[] = [];
  /** Tokens that calls turned out not to need, or less than nothing where they needed more. */
  readonly settled: { at: number; tokens: number }[] = [];
  /** Calls in flight, by process, and the most there were. */
  readonly inFlight: number[] = [];
  readonly mostInFlight: number[] = [];
  readonly works: Work[] = [];
  weather: Weather = 'fine';
  /** Milliseconds that an answer of the store takes. */
  storeMs = () => 5;

  constructor(settings: Partial<AllowanceSettings> = {}, seed = 1) {
    this.settings = { ...SETTINGS, ...settings };
    this.random = seeded(seed);
  }

  get now(): number {
    return this.time.now();
  }

  async pass(seconds: number): Promise<void> {
    await this.time.pass(this.now + seconds * 1000);
  }

  join(work: Work = {}): FleetProcess {
    this.works.push(work);
    return new FleetProcess(this, this.inFlight.push(0) - 1, work);
  }

  /** How many calls began in each second. */
  bySecond(of: (begun: Begun) => boolean = () => true): Map<number, number> {
    const counts = new Map<number, number>();
    for (const begun of this.begun) {
      if (!of(begun)) continue;
      const second = Math.floor(begun.at / 1000);
      counts.set(second, (counts.get(second) ?? 0) + 1);
    }
    return counts;
  }

  /** Seconds in which more calls began than there are slots. */
  overdrawn(): { second: number; calls: number; slots: number }[] {
    return [...this.bySecond()]
      .map(([second, calls]) => ({
        second,
        calls,
        slots: slotsIn(second, this.settings.requestsPerMinute),
      }))
      .filter(({ calls, slots }) => calls > slots);
  }

  /** The most tokens by which any stretch of time went beyond what it brings. */
  tokensBeyond(): number {
    const { tokensPerMinute } = this.settings;
    if (tokensPerMinute === null) return 0;
    const spent = new Map<number, number>();
    const add = (at: number, tokens: number) => {
      const second = Math.floor(at / 1000);
      spent.set(second, (spent.get(second) ?? 0) + tokens);
    };
    for (const { at, tokens } of this.begun) add(at, tokens);
    for (const { at, tokens } of this.settled) add(at, -tokens);
    let beyond = 0;
    let most = 0;
    for (let second = START / 1000; second <= this.now / 1000; second++) {
      // Of a stretch that begins where it is worst.
      beyond = Math.max(0, beyond) + (spent.get(second) ?? 0) - tokensPerMinute / 60;
      most = Math.max(most, beyond);
    }
    return most;
  }

  /** Calls a second since so many seconds. */
  rate(seconds: number, of: (begun: Begun) => boolean = () => true): number {
    const since = this.now - seconds * 1000;
    return this.begun.filter((begun) => begun.at >= since && of(begun)).length / seconds;
  }

  opsOf(name: keyof Line): Op[] {
    return this.ops.filter((op) => op.name === name);
  }

  get frameMs(): number {
    return layOut(this.settings).frameMs;
  }
}

/** One process: it makes as many calls as its gate has room for, one after the other. */
export class FleetProcess {
  readonly fleet: Fleet;
  readonly id: number;
  readonly allowance: Allowance;
  readonly trueTime: TrueTime;
  ahead: number;
  /** Whether it has more to do. */
  busy = true;
  #dead = false;
  #thawsAt = 0;

  constructor(fleet: Fleet, id: number, work: Work) {
    this.fleet = fleet;
    this.id = id;
    this.ahead = work.ahead ?? 0;
    this.trueTime = createTrueTime(() => this.clock());
    this.allowance = createAllowance({
      settings: fleet.settings,
      mode: work.mode ?? 'bulk',
      line: this.#line(),
      time: this.trueTime,
      sleep: (ms, signal) => this.#sleep(ms, signal),
      random: fleet.random,
      onStoreError: (error) => fleet.storeErrors.push(error),
    });
    fleet.mostInFlight.push(0);
    for (let index = 0; index < (work.gate ?? 5); index++) void this.#loop(work);
  }

  clock(): number {
    return this.fleet.now + this.ahead;
  }

  /** Without notice: nothing that it waits for happens any more. */
  kill(): void {
    this.#dead = true;
  }

  /** Nothing of it runs for a while; what it waits for happens afterwards. */
  freeze(ms: number): void {
    this.#thawsAt = this.fleet.now + ms;
  }

  /** One call that is not the loop's. */
  async admit(call: { tokens?: number; withinMs?: number; wanted?: () => boolean } = {}) {
    return await this.allowance.admit({
      tokens: 1,
      withinMs: 60_000,
      wanted: () => true,
      ...call,
    });
  }

  async #loop(work: Work): Promise<void> {
    const { fleet } = this;
    const { mode = 'bulk', withinMs = 3_600_000, used = (tokens: number) => tokens } = work;
    while (this.busy) {
      const tokens = work.tokens?.() ?? 1;
      const asked = fleet.now;
      const admission = await this.admit({ tokens, withinMs });
      const waitedMs = fleet.now - asked;
      if (admission.kind === 'left') {
        fleet.left.push({ waitedMs, lateMs: waitedMs - withinMs, delayMs: admission.delayMs });
        await this.#sleep(admission.delayMs);
        continue;
      }
      const offMs = this.trueTime.now() - fleet.now;
      fleet.begun.push({ at: fleet.now, mode, process: this.id, tokens, waitedMs, offMs });
      await this.#called(work.serviceMs?.() ?? 800);
      const needed = used(tokens);
      fleet.settled.push({ at: fleet.now, tokens: tokens - needed });
      this.#settle(admission, needed);
      const rest = work.restMs?.() ?? 0;
      if (rest > 0) await this.#sleep(rest);
    }
  }

  async #called(serviceMs: number): Promise<void> {
    const { inFlight, mostInFlight } = this.fleet;
    const now = (inFlight[this.id] ?? 0) + 1;
    inFlight[this.id] = now;
    mostInFlight[this.id] = Math.max(mostInFlight[this.id] ?? 0, now);
    await this.#sleep(serviceMs);
    inFlight[this.id] = (inFlight[this.id] ?? 0) - 1;
  }

  #settle(admission: Admission, used: number): void {
    if (admission.kind === 'begin') admission.settle(used);
  }

  /** Answers say when they were made, as the servers' `Date` headers do. */
  #line(): Line {
    const { fleet } = this;
    const call =
      <Args extends unknown[], Answer>(name: keyof Line, op: (...args: Args) => Promise<Answer>) =>
      async (...args: Args): Promise<Answer> => {
        const sent = this.clock();
        fleet.ops.push({ name, at: fleet.now, process: this.id });
        const ms = fleet.storeMs();
        await this.#sleep(ms / 2);
        if (fleet.weather === 'hanging') await new Promise(() => {});
        if (fleet.weather === 'failing') throw new Error('the store fails');
        const answer = await op(...args);
        const date = new Date(fleet.now).toUTCString();
        await this.#sleep(ms / 2);
        this.trueTime.heard(date, sent, this.clock());
        return answer;
      };
    const { line } = fleet;
    return {
      take: call('take', (...args: Parameters<Line['take']>) => line.take(...args)),
      read: call('read', (...args: Parameters<Line['read']>) => line.read(...args)),
      quiet: call('quiet', (...args: Parameters<Line['quiet']>) => line.quiet(...args)),
      yield: call('yield', (...args: Parameters<Line['yield']>) => line.yield(...args)),
      cut: call('cut', (...args: Parameters<Line['cut']>) => line.cut(...args)),
    };
  }

  async #sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { time } = this.fleet;
    await time.sleep(ms, signal);
    while (this.#thawsAt > time.now()) await time.sleep(this.#thawsAt - time.now());
    if (this.#dead) await new Promise(() => {});
  }
}
