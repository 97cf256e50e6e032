import type { AllowanceSettings, Mode } from './allowance-settings.ts';
import {
  frameOf,
  type Layout,
  lanesOf,
  layOut,
  type Pool,
  poolsFor,
  type Slot,
  slotsOf,
} from './lanes.ts';
import type { Ask, Line } from './line.ts';
import { countName, type LineState, NOTHING_KNOWN } from './line-item.ts';
import type { TrueTime } from './true-time.ts';

/** What a call asks for before it begins. */
export interface Call {
  /** The most it may count for, input and output. */
  readonly tokens: number;
  /** Epoch milliseconds at which it must have begun. */
  readonly latest: number;
  /** Whether it is still wanted: looked at before it begins, and while it waits. */
  readonly wanted: () => boolean;
}

/** Milliseconds that a call waited, by what for. */
export interface Waited {
  readonly allowanceMs: number;
  readonly yieldMs: number;
  readonly refusedMs: number;
}

export type Admission =
  | { readonly kind: 'begin'; readonly waited: Waited; readonly settle: (tokens: number) => void }
  /** Not in time. `delayMs`: when it is worth asking again. */
  | { readonly kind: 'left'; readonly waited: Waited; readonly delayMs: number };

/**
 * One process's part of the account. A call begins when it is admitted, and is settled when what it
 * counted for is known.
 */
export interface Allowance {
  admit(call: Call): Promise<Admission>;
  /**
   * The provider refused a call for its rate.
   * @param retryAfterMs undefined if it did not say when to come back.
   * @param told whether its answers say what remains: one that does not is felt for.
   */
  refused(retryAfterMs: number | undefined, told: boolean): void;
  /** Less than the reserve remains: bulk work rests for so long. */
  yield(ms: number): void;
  /** How many calls the store has had from this process. */
  readonly storeOps: number;
}

export interface AllowanceOptions {
  readonly settings: AllowanceSettings;
  readonly mode: Mode;
  readonly line: Line;
  readonly time: TrueTime;
  /** Resolves after so many milliseconds, or when the signal says so. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
  /** Told of each failure of the store: work waits, and somebody should know. */
  readonly onStoreError: (error: unknown) => void;
}

/** Interactive work is there until so long after it last asked, two frames at least. */
const INTERACTIVE_LINGERS_MS = 10_000;
/** A call's duration before one is known. */
const SERVICE_MS = 1000;
/** Lanes for so much of what the gate could use: calls vary, and a slot without room is lost. */
const FILL = 0.85;
/** So much more is asked for than there is, so that all of it is taken. */
const OVERASK = 1.15;
/** After a refusal without headers: to so much of what was used, then back by so much a second. */
const CUT_TO = 0.8;
const BACK_A_SECOND = 0.005;
const LEAST_PART = 0.02;
/** Over so much time those come back that a refusal paused. */
const JITTER_MS = 1000;
const REFUSED_MS = 1000;
/** A later moment by less is not worth a call. */
const LITTLE_MS = 250;
const STORE_BACKOFF_MS = 1000;
/** Each halves a second; with a slow network it does not get better than that. */
const MOST_PROBES = 6;
const LONGEST_SLEEP_MS = 1000;

interface Waiter extends Call {
  readonly since: number;
  readonly waited: { allowanceMs: number; yieldMs: number; refusedMs: number };
  readonly resolve: (admission: Admission) => void;
  lookedAt: number;
}

export function createAllowance(options: AllowanceOptions): Allowance {
  return new ProcessAllowance(options);
}

class ProcessAllowance implements Allowance {
  readonly #options: AllowanceOptions;
  readonly #layout: Layout;
  #state: LineState = NOTHING_KNOWN;
  readonly #waiters: Waiter[] = [];
  #inFlight = 0;
  #serviceMs = SERVICE_MS;

  /** Lanes of this process, by frame. */
  readonly #lanes = new Map<number, number[]>();
  /** Frames that were asked for, and how often. */
  readonly #asked = new Map<number, number>();
  /** Slots to come, in order, and those that may be used now. */
  #coming: Slot[] = [];
  #open: Slot[] = [];
  #advancedTo = 0;
  #tokens = 0;
  /** A call needs more than its slot brought: what is left over is kept for it. */
  #saving = false;

  #quietUntil = 0;
  #yieldUntil = 0;
  #askAt = 0;
  /** The demand when it last looked for lanes. */
  #askedFor = 0;
  /** The part of what it could use that it asks for, and what it was for each frame. */
  #restraint = 1;
  readonly #restraints = new Map<number, number>();
  #asking = false;
  #probes = 0;
  #storeOps = 0;
  #running = false;
  #wake = new AbortController();

  constructor(options: AllowanceOptions) {
    this.#options = options;
    this.#layout = layOut(options.settings);
  }

  get storeOps(): number {
    return this.#storeOps;
  }

  async admit(call: Call): Promise<Admission> {
    const { promise, resolve } = Promise.withResolvers<Admission>();
    const since = this.#now();
    this.#waiters.push({
      ...call,
      since,
      lookedAt: since,
      waited: { allowanceMs: 0, yieldMs: 0, refusedMs: 0 },
      resolve,
    });
    this.#nudge();
    return await promise;
  }

  refused(retryAfterMs: number | undefined, told: boolean): void {
    const { line } = this.#options;
    const now = this.#now();
    const until = now + (retryAfterMs ?? REFUSED_MS);
    if (until > this.#state.quietUntil + LITTLE_MS) {
      this.#state = { ...this.#state, quietUntil: until };
      void this.#tell(() => line.quiet(until));
    }
    this.#quiet(until);
    if (!told) {
      const { frameMs } = this.#layout;
      if ((this.#state.cut?.at ?? 0) < now - frameMs) {
        const to = Math.max(LEAST_PART, this.#part(now) * CUT_TO);
        this.#state = { ...this.#state, cut: { to, at: now } };
        this.#layAgain(now);
        void this.#tell(() => line.cut(to, now, now - frameMs));
      }
    }
    this.#nudge();
  }

  yield(ms: number): void {
    if (this.#options.mode !== 'bulk' || ms <= 0) return;
    const until = this.#now() + ms;
    if (until <= this.#yieldUntil + LITTLE_MS) return;
    this.#yieldUntil = until;
    void this.#tell(() => this.#options.line.yield(until));
    this.#nudge();
  }

  #now(): number {
    return this.#options.time.now();
  }

  /** What paused together comes back one after the other. */
  #quiet(until: number): void {
    if (until <= this.#quietUntil) return;
    this.#quietUntil = until + this.#options.random() * JITTER_MS;
  }

  /** The part of the account that is felt to be there. */
  #part(now: number): number {
    const { cut } = this.#state;
    if (cut === undefined) return 1;
    return Math.min(1, cut.to + (Math.max(0, now - cut.at) / 1000) * BACK_A_SECOND);
  }

  #nudge(): void {
    this.#wake.abort();
    if (!this.#running) void this.#run();
  }

  /** Runs while somebody waits. */
  async #run(): Promise<void> {
    this.#running = true;
    try {
      while (this.#waiters.length > 0) {
        this.#wake = new AbortController();
        const next = this.#step();
        if (this.#waiters.length === 0) break;
        if (next <= 0) continue;
        await this.#options
          .sleep(Math.min(next, LONGEST_SLEEP_MS), this.#wake.signal)
          .catch(() => {});
      }
    } finally {
      this.#running = false;
    }
  }

  /** Begins what may begin, and answers in how many milliseconds there is something to do again. */
  #step(): number {
    const now = this.#now();
    const quiet = Math.max(this.#quietUntil, this.#isBulk ? this.#yieldUntil : 0);
    this.#account(now);
    this.#dismiss(now, quiet);
    if (this.#waiters.length === 0) return 0;
    this.#forget(now);
    if (this.#isUnsure()) return LONGEST_SLEEP_MS;
    this.#ask(now);
    const nextSlot = this.#advance(now);
    if (quiet <= now) this.#serve(now);
    const [head] = this.#waiters;
    if (head === undefined) return 0;
    const ends = Math.min(...this.#waiters.map(({ latest }) => latest));
    const times = [nextSlot, ends + 1, this.#asking ? Infinity : this.#askAt];
    if (quiet > now) times.push(quiet);
    return Math.max(1, Math.ceil(Math.min(...times.filter((time) => time > now)) - now));
  }

  /** A clock that is off must be known before anything begins by it. */
  #isUnsure(): boolean {
    const { time, line, sleep, onStoreError } = this.#options;
    const wait = time.askIn();
    if (wait === undefined || this.#probes >= MOST_PROBES) return false;
    if (!this.#asking) {
      this.#asking = true;
      this.#probes++;
      this.#storeOps++;
      void sleep(wait, new AbortController().signal)
        .then(() => line.read())
        .catch(onStoreError)
        .finally(() => {
          this.#asking = false;
          this.#nudgeIfWaiting();
        });
    }
    return true;
  }

  get #isBulk(): boolean {
    return this.#options.mode === 'bulk';
  }

  /** Adds the time since the last look to what it was spent on. */
  #account(now: number): void {
    for (const waiter of this.#waiters) {
      const ms = Math.max(0, now - waiter.lookedAt);
      if (waiter.lookedAt < this.#quietUntil) waiter.waited.refusedMs += ms;
      else if (this.#isBulk && waiter.lookedAt < this.#yieldUntil) waiter.waited.yieldMs += ms;
      else waiter.waited.allowanceMs += ms;
      waiter.lookedAt = now;
    }
  }

  /** Sends away those that nobody wants any more or whose time has gone, or will go while all rest. */
  #dismiss(now: number, quiet: number): void {
    for (let index = this.#waiters.length - 1; index >= 0; index--) {
      const waiter = this.#waiters[index];
      if (waiter === undefined) continue;
      const isLate = waiter.latest < Math.max(now, quiet);
      if (!isLate && waiter.wanted()) continue;
      this.#waiters.splice(index, 1);
      const delayMs = isLate
        ? Math.max(quiet - now, this.#layout.frameMs * this.#options.random())
        : 0;
      waiter.resolve({ kind: 'left', waited: waiter.waited, delayMs: Math.ceil(delayMs) });
    }
  }

  #forget(now: number): void {
    const frame = frameOf(this.#layout, now);
    for (const key of this.#lanes.keys()) if (key < frame) this.#lanes.delete(key);
    for (const key of this.#asked.keys()) if (key < frame) this.#asked.delete(key);
    for (const key of this.#restraints.keys()) if (key < frame - 1) this.#restraints.delete(key);
  }

  /** Opens the slots whose time has come, closes those whose time is over; answers when the next opens. */
  #advance(now: number): number {
    this.#open = this.#open.filter(({ until }) => until >= now);
    let next = this.#coming[0];
    while (next !== undefined && next.at <= now) {
      this.#coming.shift();
      if (next.until >= now) {
        // What a second did not use is not there in the next, or that would spend more than its own.
        if (Math.floor(next.at / 1000) > Math.floor(this.#advancedTo / 1000) && !this.#saving) {
          this.#tokens = Math.min(this.#tokens, 0);
        }
        this.#advancedTo = next.at;
        this.#open.push(next);
        this.#tokens += this.#layout.tokensASlot;
      }
      next = this.#coming[0];
    }
    this.#advancedTo = Math.max(this.#advancedTo, now);
    return next?.at ?? Infinity;
  }

  /** First come, first served: a large call saves up while the others wait, or it would wait for ever. */
  #serve(now: number): void {
    let head = this.#waiters[0];
    while (head !== undefined && this.#open.length > 0 && this.#tokens >= head.tokens) {
      this.#open.shift();
      this.#waiters.shift();
      this.#begin(head, now);
      head = this.#waiters[0];
    }
    this.#saving = head !== undefined && this.#open.length > 0;
  }

  #begin({ tokens, waited, resolve }: Waiter, now: number): void {
    this.#tokens -= tokens;
    this.#inFlight++;
    let settled = false;
    const settle = (used: number) => {
      if (settled) return;
      settled = true;
      this.#inFlight--;
      this.#tokens += tokens - used;
      this.#serviceMs += (Math.max(1, this.#now() - now) - this.#serviceMs) / 8;
      this.#nudgeIfWaiting();
    };
    resolve({ kind: 'begin', waited, settle });
  }

  #nudgeIfWaiting(): void {
    if (this.#waiters.length > 0) this.#nudge();
  }

  /** Lanes that this process could use. */
  #demand(): number {
    const { windowSeconds, tokensASlot } = this.#layout;
    const perSecond = ((this.#waiters.length + this.#inFlight) / this.#serviceMs) * 1000 * FILL;
    const [head] = this.#waiters;
    const slotsACall = head === undefined ? 1 : Math.max(1, head.tokens / tokensASlot);
    return Math.max(1, Math.ceil(perSecond * slotsACall * windowSeconds));
  }

  /**
   * Asks for lanes: for the next frame once in each, at a time of its own, and for the one under way
   * where there is none yet.
   */
  #ask(now: number): void {
    if (this.#asking || (now < this.#askAt && this.#demand() < 2 * this.#askedFor)) return;
    const { frameMs } = this.#layout;
    const frame = frameOf(this.#layout, now);
    this.#askedFor = this.#demand();
    this.#restrain(frame, now);
    const demand = Math.max(1, this.#roundly(this.#askedFor * this.#restraint));
    const asks: Ask[] = [];
    for (const wanted of [frame, frame + 1]) {
      const has = this.#lanes.get(wanted)?.length ?? 0;
      const times = this.#asked.get(wanted) ?? 0;
      // Once, and once more for what has come since.
      if (times >= 2 || (times === 1 && has * 2 > demand)) continue;
      if (wanted > frame && times === 0 && this.#asked.has(frame) && now < this.#turn(frame))
        continue;
      asks.push(...this.#asksFor(wanted, demand - has, now));
    }
    if (asks.length === 0) {
      this.#askAt = now < this.#turn(frame) ? this.#turn(frame) : (frame + 1) * frameMs;
      return;
    }
    for (const { frame: asked } of asks) {
      this.#asked.set(asked, (this.#asked.get(asked) ?? 0) + 1);
      this.#restraints.set(asked, this.#restraint);
    }
    void this.#take(asks, now);
  }

  /**
   * Where more is asked for than there is, everybody asks for less, in proportion: who has just what
   * it can use at once loses slots whenever its calls take longer, and others have none.
   */
  #restrain(frame: number, now: number): void {
    // The last frame of which it is known what all asked for; this one's counts still grow.
    const known = frame - 1;
    const used = this.#restraints.get(known);
    if (used === undefined || this.#restraints.has(frame + 1)) return;
    const pools = poolsFor(this.#options.mode, this.#interactiveIsThere(now));
    const counts = pools.map((pool) => this.#state.counts.get(countName(pool, known)) ?? 0);
    const asked = counts.reduce((all, count) => all + count, 0);
    const there = pools.reduce((all, pool) => all + this.#layout.lanes[pool], 0);
    if (asked > 0) this.#restraint = Math.min(1, (used * OVERASK * there) / asked);
  }

  readonly #turns = { frame: -1, at: 0 };

  /** When, in a frame, this process asks for the next: processes that ask all at once would collide. */
  #turn(frame: number): number {
    const { frameMs } = this.#layout;
    if (this.#turns.frame !== frame) {
      this.#turns.frame = frame;
      this.#turns.at = frame * frameMs + frameMs * (0.3 + 0.4 * this.#options.random());
    }
    return this.#turns.at;
  }

  #asksFor(frame: number, wanted: number, now: number): Ask[] {
    const { mode } = this.#options;
    const pools = poolsFor(mode, this.#interactiveIsThere(now));
    const free = (pool: Pool) =>
      Math.max(0, this.#layout.lanes[pool] - (this.#state.counts.get(countName(pool, frame)) ?? 0));
    const asks: Ask[] = [];
    let left = wanted;
    const total = pools.reduce((all, pool) => all + free(pool), 0);
    for (const pool of pools) {
      // Interactive work takes its own first; bulk takes of both as they are large.
      const share =
        mode === 'interactive' || total === 0 ? left : this.#roundly((wanted * free(pool)) / total);
      const lanes = Math.min(share, left, free(pool));
      if (lanes > 0) asks.push({ pool, frame, lanes });
      left -= Math.max(0, lanes);
    }
    return asks;
  }

  /** Up or down at random, so that many processes' small parts add up to the whole. */
  #roundly(value: number): number {
    return Math.floor(value + this.#options.random());
  }

  #interactiveIsThere(now: number): boolean {
    const lingers = Math.max(INTERACTIVE_LINGERS_MS, 2 * this.#layout.frameMs);
    return this.#state.interactiveAt > now - lingers;
  }

  async #take(asks: readonly Ask[], now: number): Promise<void> {
    const { line, mode, random } = this.#options;
    this.#asking = true;
    try {
      const frame = frameOf(this.#layout, now);
      const outdated = [...this.#state.counts.keys()].filter(
        (name) => Number(name.slice(name.indexOf('/') + 1)) < frame - 1,
      );
      const note = mode === 'interactive' ? { interactiveAt: now, outdated } : { outdated };
      this.#storeOps++;
      const state = await line.take(asks, note);
      this.#hear(state);
      for (const { pool, frame, lanes } of asks) {
        const count = state.counts.get(countName(pool, frame)) ?? 0;
        const mine = lanesOf(this.#layout, pool, lanes, count);
        this.#lanes.set(frame, [...(this.#lanes.get(frame) ?? []), ...mine]);
      }
      this.#layAgain(this.#now());
    } catch (error) {
      // Without the store nobody knows what is left: work waits.
      for (const { frame } of asks) this.#asked.set(frame, 0);
      this.#askAt = this.#now() + STORE_BACKOFF_MS * (0.5 + random());
      this.#options.onStoreError(error);
    } finally {
      this.#asking = false;
      this.#nudgeIfWaiting();
    }
  }

  #hear(state: LineState): void {
    this.#state = state;
    this.#quiet(state.quietUntil);
    this.#yieldUntil = Math.max(this.#yieldUntil, state.yieldUntil);
  }

  /** The slots to come, of the lanes there are. */
  #layAgain(now: number): void {
    const part = this.#part(now);
    const frames = [...this.#lanes].sort(([a], [b]) => a - b);
    this.#coming = frames
      .flatMap(([frame, lanes]) => slotsOf(this.#layout, frame, lanes, part))
      .filter(({ at }) => at > this.#advancedTo);
  }

  async #tell(write: () => Promise<void>): Promise<void> {
    this.#storeOps++;
    try {
      await write();
    } catch (error) {
      this.#options.onStoreError(error);
    }
  }
}
