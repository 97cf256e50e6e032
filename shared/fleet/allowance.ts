import type { AllowanceSettings, Mode } from './allowance-settings.ts';
import {
  frameOf,
  type Layout,
  lanesOf,
  lanesWithin,
  layOut,
  type Pool,
  poolsFor,
  type Slot,
  slotsOf,
} from './lanes.ts';
import type { Ask, Line, Note } from './line.ts';
import { countName, type LineState, NOTHING_KNOWN } from './line-item.ts';
import type { TrueTime } from './true-time.ts';

/** What a call asks for before it begins. */
export interface Call {
  /** The most it may count for, input and output. */
  readonly tokens: number;
  /** Milliseconds in which it must have begun. */
  readonly withinMs: number;
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
  /** It has no room just now, for whomever: this process rests for so long, the others meet it or not. */
  overloaded(ms: number): void;
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
/** Lanes for a little more than the gate can use: where there are enough, it is the gate that should be full. */
const FILL = 1.1;
/** When each mode asks for the next frame, as parts of this one. */
const TURNS = { interactive: [0.02, 0.2], bulk: [0.82, 0.96] } as const;
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
/** The store answers in a few milliseconds. What waits for longer may wait for ever. */
const STORE_MS = 3000;
/** Each halves a second; with a slow network it does not get better than that, for a while. */
const MOST_PROBES = 6;
const PROBED_FOR_MS = 600_000;
/** No call takes as long: whoever began it was cut off and will not settle it. */
const LONGEST_CALL_MS = 300_000;
const LONGEST_SLEEP_MS = 1000;

const NOT_ASKED = { times: 0, demand: 0 };

interface Waiter extends Call {
  /** Epoch milliseconds. */
  latest: number;
  readonly waited: { allowanceMs: number; yieldMs: number; refusedMs: number };
  readonly resolve: (admission: Admission) => void;
  lookedAt: number;
}

function partAfter(cut: LineState['cut'], now: number): number {
  if (cut === undefined) return 1;
  return Math.min(1, cut.to + (Math.max(0, now - cut.at) / 1000) * BACK_A_SECOND);
}

export function createAllowance(options: AllowanceOptions): Allowance {
  return new ProcessAllowance(options);
}

class ProcessAllowance implements Allowance {
  readonly #options: AllowanceOptions;
  readonly #layout: Layout;
  #state: LineState = NOTHING_KNOWN;
  readonly #waiters: Waiter[] = [];
  /** Calls that have begun and are not settled, by when they began. */
  readonly #inFlight = new Set<{ readonly since: number }>();
  #serviceMs = SERVICE_MS;

  /** Lanes of this process, by frame. */
  readonly #lanes = new Map<number, number[]>();
  /** Frames that were asked for, how often, and for how many lanes that it could use. */
  readonly #asked = new Map<number, { times: number; demand: number }>();
  /** Slots to come, in order, and those that may be used now. */
  #coming: Slot[] = [];
  #open: Slot[] = [];
  #advancedTo = 0;
  #tokens = 0;
  /** The second whose slots brought them. */
  #tokensOf = 0;

  #quietUntil = 0;
  #yieldUntil = 0;
  #askAt = 0;
  /** The demand when it last looked for lanes. */
  #askedFor = 0;
  #asking = false;
  #probes = 0;
  #probedAt = 0;
  #lookedAt = 0;
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
    const now = this.#now();
    this.#waiters.push({
      ...call,
      latest: now + call.withinMs,
      lookedAt: now,
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

  overloaded(ms: number): void {
    this.#quiet(this.#now() + ms);
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
    return partAfter(this.#state.cut, now);
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
    this.#setBack(now);
    const quiet = Math.max(this.#quietUntil, this.#isBulk ? this.#yieldUntil : 0);
    this.#account(now);
    this.#dismiss(now, quiet);
    if (this.#waiters.length === 0) return 0;
    this.#forget(now);
    const times = [this.#ends() + 1];
    if (quiet > now) times.push(quiet);
    if (!this.#isUnsure(now)) {
      this.#ask(now);
      times.push(this.#advance(now));
      if (quiet <= now) this.#serve(now);
      if (this.#waiters.length === 0) return 0;
      times.push(this.#ends() + 1);
      if (!this.#asking) times.push(this.#askAt);
    }
    return Math.max(1, Math.ceil(Math.min(...times.filter((time) => time > now)) - now));
  }

  /** When the first of those who wait must have begun. */
  #ends(): number {
    return Math.min(...this.#waiters.map(({ latest }) => latest));
  }

  /** The clock was found to be ahead: what was to come by it is as far away as it was. */
  #setBack(now: number): void {
    const ms = this.#lookedAt - now;
    this.#lookedAt = now;
    if (ms <= 0) return;
    for (const waiter of this.#waiters) {
      waiter.latest -= ms;
      waiter.lookedAt -= ms;
    }
    // By less: no slot is used twice, and they are soon there again.
    if (ms <= this.#layout.frameMs) return;
    this.#quietUntil -= ms;
    this.#yieldUntil -= ms;
    this.#advancedTo = now;
    this.#askAt = now;
    this.#coming = [];
    this.#open = [];
    for (const map of [this.#lanes, this.#asked]) map.clear();
  }

  /** A clock that is off must be known before anything begins by it. */
  #isUnsure(now: number): boolean {
    const { time, line, sleep, onStoreError } = this.#options;
    const wait = time.askIn();
    if (now - this.#probedAt > PROBED_FOR_MS) this.#probes = 0;
    if (wait === undefined || this.#probes >= MOST_PROBES) return false;
    if (!this.#asking) {
      this.#asking = true;
      void sleep(wait, new AbortController().signal)
        .then(async () => {
          this.#storeOps++;
          this.#hear(await this.#inTime(line.read()));
          this.#probes++;
          this.#probedAt = this.#now();
        })
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
        ? Math.max(quiet - now, this.#layout.frameMs * (0.5 + this.#options.random()))
        : 0;
      waiter.resolve({ kind: 'left', waited: waiter.waited, delayMs: Math.ceil(delayMs) });
    }
  }

  #forget(now: number): void {
    const frame = frameOf(this.#layout, now);
    for (const key of this.#lanes.keys()) if (key < frame) this.#lanes.delete(key);
    for (const key of this.#asked.keys()) if (key < frame) this.#asked.delete(key);
    for (const call of this.#inFlight)
      if (call.since < now - LONGEST_CALL_MS) this.#inFlight.delete(call);
  }

  /** Opens the slots whose time has come, closes those whose time is over; answers when the next opens. */
  #advance(now: number): number {
    this.#open = this.#open.filter(({ until }) => until >= now);
    let next = this.#coming[0];
    while (next !== undefined && next.at <= now) {
      this.#coming.shift();
      if (next.until >= now) {
        this.#enter(Math.floor(next.at / 1000));
        this.#open.push(next);
        this.#tokens += this.#layout.tokensASlot;
      }
      next = this.#coming[0];
    }
    this.#advancedTo = Math.max(this.#advancedTo, now);
    return next?.at ?? Infinity;
  }

  /**
   * What a second did not use is not there in the next, or that would spend more than its own. Kept
   * is what the call whose turn it is needs: one that is larger than what a second brings saves up.
   */
  #enter(second: number): void {
    if (second === this.#tokensOf) return;
    this.#tokensOf = second;
    this.#tokens = Math.min(this.#tokens, this.#waiters[0]?.tokens ?? 0);
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
  }

  #begin({ tokens, waited, resolve }: Waiter, now: number): void {
    this.#tokens -= tokens;
    const inFlight = { since: now };
    this.#inFlight.add(inFlight);
    let settled = false;
    const settle = (used: number) => {
      if (settled) return;
      settled = true;
      this.#inFlight.delete(inFlight);
      this.#tokens += tokens - used;
      // One that a process slept through, or whose clock was set, says little of the next.
      const took = Math.min(Math.max(1, this.#now() - now), 2 * this.#serviceMs);
      this.#serviceMs += (took - this.#serviceMs) / 8;
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
    const perSecond =
      ((this.#waiters.length + this.#inFlight.size) / this.#serviceMs) * 1000 * FILL;
    const [head] = this.#waiters;
    const slotsACall = head === undefined ? 1 : Math.max(1, head.tokens / tokensASlot);
    return Math.max(1, Math.ceil(perSecond * slotsACall * windowSeconds));
  }

  /**
   * Asks for lanes: for the next frame once in each, at a time of its own, and for the one under way
   * where there is none yet.
   */
  #ask(now: number): void {
    const could = this.#demand();
    if (this.#asking || (now < this.#askAt && could < 2 * this.#askedFor)) return;
    const { frameMs } = this.#layout;
    const frame = frameOf(this.#layout, now);
    this.#askedFor = could;
    const demand = Math.max(1, this.#roundly(could * this.#restraint(frame, now)));
    const asks: Ask[] = [];
    for (const wanted of [frame, frame + 1]) {
      const has = this.#lanes.get(wanted)?.length ?? 0;
      const { times } = this.#asked.get(wanted) ?? NOT_ASKED;
      // Once, and once more for what has come since.
      if (times >= 2 || (times === 1 && has * 4 > demand * 3)) continue;
      // Bulk work that comes or has none must not be before interactive work, either.
      const isInTurn = now >= this.#turn(frame) || (!this.#isBulk && !this.#asked.has(frame));
      if (wanted > frame && times === 0 && !isInTurn) continue;
      asks.push(...this.#asksFor(wanted, demand - has, now));
    }
    if (asks.length === 0) {
      this.#askAt = now < this.#turn(frame) ? this.#turn(frame) : (frame + 1) * frameMs;
      return;
    }
    void this.#take(asks, could, now);
  }

  /**
   * The part of what it could use that it asks for. Where all could use more than there is, each asks for
   * less, in the same proportion: who has just what it can use at once loses slots whenever its calls
   * take longer, and others have none.
   */
  #restraint(frame: number, now: number): number {
    const there = lanesWithin(this.#layout, this.#part(now));
    // What is wanted of this frame may not be all said yet.
    const wanted = (mode: Mode) =>
      Math.max(
        ...[frame - 1, frame].map(
          (of) => this.#state.counts.get(countName(`wanted-${mode}`, of)) ?? 0,
        ),
      );
    const all = there.interactive + there.common;
    let lanes = all;
    if (this.#isBulk && this.#interactiveIsThere(now)) {
      // Interactive work asks first, and beyond its share for what it could use of the others.
      const first = Math.min(wanted('interactive'), OVERASK * all);
      lanes = there.common - Math.min(there.common, Math.max(0, first - there.interactive));
    }
    return Math.min(1, (OVERASK * lanes) / Math.max(1, wanted(this.#options.mode)));
  }

  readonly #turns = { frame: -1, at: 0 };

  /**
   * When, in a frame, this process asks for the next. Interactive work asks first, so that bulk takes
   * what it leaves; within a mode each asks at a time of its own.
   */
  #turn(frame: number): number {
    const { frameMs } = this.#layout;
    const [first, last] = TURNS[this.#options.mode];
    if (this.#turns.frame !== frame) {
      this.#turns.frame = frame;
      this.#turns.at =
        frame * frameMs + frameMs * (first + (last - first) * this.#options.random());
    }
    return this.#turns.at;
  }

  #asksFor(frame: number, wanted: number, now: number): Ask[] {
    const { mode } = this.#options;
    const pools = poolsFor(mode, this.#interactiveIsThere(now));
    const there = lanesWithin(this.#layout, this.#part(now));
    const free = (pool: Pool) =>
      Math.max(0, there[pool] - (this.#state.counts.get(countName(pool, frame)) ?? 0));
    const asks: Ask[] = [];
    let left = wanted;
    const total = pools.reduce((all, pool) => all + free(pool), 0);
    if (total === 0) return [];
    for (const pool of pools) {
      // Interactive work takes its own first; bulk takes of both as they are large.
      const share =
        mode === 'interactive' || pool === pools.at(-1)
          ? left
          : this.#roundly((wanted * free(pool)) / total);
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
    return this.#state.interactiveAt > now - this.#lingersMs;
  }

  get #lingersMs(): number {
    return Math.max(INTERACTIVE_LINGERS_MS, 2 * this.#layout.frameMs);
  }

  async #take(asks: readonly Ask[], could: number, now: number): Promise<void> {
    const { line, mode, random } = this.#options;
    const asked = [...new Set(asks.map(({ frame }) => frame))].map((frame) => {
      const { times, demand } = this.#asked.get(frame) ?? NOT_ASKED;
      this.#asked.set(frame, { times: times + 1, demand });
      return { frame, times: times + 1, demand };
    });
    // What it could use, beyond what it said before.
    const wanted = asked
      .map(({ frame, demand }) => ({ mode, frame, lanes: could - demand }))
      .filter(({ lanes }) => lanes > 0);
    this.#asking = true;
    try {
      this.#storeOps++;
      const note = { ...this.#noteFor(asks, now), wanted };
      const { taken, state } = await this.#inTime(line.take(asks, note));
      this.#hear(state);
      // Where interactive work was there, the second ask is for other lanes.
      if (taken) {
        for (const { frame, times, demand } of asked)
          this.#asked.set(frame, { times, demand: Math.max(demand, could) });
        this.#own(asks);
      }
    } catch (error) {
      // Without the store nobody knows what is left: work waits.
      for (const { frame } of asked) this.#asked.delete(frame);
      this.#askAt = this.#now() + STORE_BACKOFF_MS * (0.5 + random());
      this.#options.onStoreError(error);
    } finally {
      this.#asking = false;
      this.#nudgeIfWaiting();
    }
  }

  #noteFor(asks: readonly Ask[], now: number): Note {
    const frame = frameOf(this.#layout, now);
    const outdated = [...this.#state.counts.keys()].filter(
      (name) => Number(name.slice(name.indexOf('/') + 1)) < frame - 1,
    );
    if (!this.#isBulk) return { interactiveAt: now, outdated };
    return asks.some(({ pool }) => pool === 'interactive')
      ? { unlessInteractiveSince: now - this.#lingersMs, outdated }
      : { outdated };
  }

  #own(asks: readonly Ask[]): void {
    for (const { pool, frame, lanes } of asks) {
      const count = this.#state.counts.get(countName(pool, frame)) ?? 0;
      const mine = lanesOf(this.#layout, pool, lanes, count);
      this.#lanes.set(frame, [...(this.#lanes.get(frame) ?? []), ...mine]);
    }
    this.#layAgain(this.#now());
  }

  /** What the store answers, or an error where it hangs: the others would wait with it. */
  async #inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const ended = new AbortController();
    const late = async (): Promise<never> => {
      await this.#options.sleep(STORE_MS, ended.signal).catch(() => {});
      throw new Error(`expected an answer of the fleet's table within ${STORE_MS} ms, got none`);
    };
    try {
      return await Promise.race([answer, late()]);
    } finally {
      ended.abort();
    }
  }

  #hear(state: LineState): void {
    // A cut of this process that the store does not know of yet holds here all the same.
    const own = this.#state.cut;
    const now = this.#now();
    const cut = partAfter(own, now) < partAfter(state.cut, now) ? own : state.cut;
    this.#state = { ...state, cut };
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
