import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createTrueTime, type TrueTime } from '../../../../shared/fleet/true-time.ts';

// By the servers' clocks. Epoch milliseconds.
const NOON = Date.UTC(2030, 0, 1, 12);

/** A process whose clock is off, and servers that answer it. */
class Clocks {
  server = NOON;
  ahead: number;
  readonly time: TrueTime;

  constructor(ahead: number) {
    this.ahead = ahead;
    this.time = createTrueTime(() => this.server + this.ahead);
  }

  get error(): number {
    return this.time.now() - this.server;
  }

  answer(thereMs: number, backMs: number): void {
    const sent = this.server + this.ahead;
    this.server += thereMs;
    const date = new Date(this.server).toUTCString();
    this.server += backMs;
    this.time.heard(date, sent, this.server + this.ahead);
  }

  /** Asks when it is worth it, until it no longer is; answers how often. */
  probe(ms: number): number {
    for (let probes = 0; ; probes++) {
      const wait = this.time.askIn();
      if (wait === undefined || probes === 20) return probes;
      this.server += wait;
      this.answer(ms, ms);
    }
  }
}

const HOUR = 3_600_000;
const skews = fc.oneof(
  fc.integer({ min: -3000, max: 3000 }),
  fc.integer({ min: -HOUR, max: HOUR }),
);
const answers = fc.array(
  fc.record({
    pauseMs: fc.integer({ min: 0, max: 5000 }),
    thereMs: fc.integer({ min: 0, max: 2000 }),
    backMs: fc.integer({ min: 0, max: 2000 }),
  }),
  { minLength: 1, maxLength: 20 },
);

describe('the true time', () => {
  test('is known to a second and the quickest answer, whatever the skew, the delays and the moments', () => {
    fc.assert(
      fc.property(skews, answers, (ahead, all) => {
        const clocks = new Clocks(ahead);
        let quickest = Infinity;
        for (const { pauseMs, thereMs, backMs } of all) {
          clocks.server += pauseMs;
          clocks.answer(thereMs, backMs);
          quickest = Math.min(quickest, thereMs + backMs);
          expect(Math.abs(clocks.error)).toBeLessThanOrEqual(1000 + quickest + 40);
        }
      }),
    );
  });

  test('is known to half of that, where the clock is known to be off', () => {
    fc.assert(
      fc.property(skews, answers, (ahead, all) => {
        const clocks = new Clocks(ahead);
        let quickest = Infinity;
        for (const { pauseMs, thereMs, backMs } of all) {
          clocks.server += pauseMs;
          clocks.answer(thereMs, backMs);
          quickest = Math.min(quickest, thereMs + backMs);
          const isBelieved = clocks.time.now() === clocks.server + clocks.ahead;
          if (!isBelieved)
            expect(Math.abs(clocks.error)).toBeLessThanOrEqual((1000 + quickest) / 2 + 40);
        }
      }),
    );
  });

  test('is known well after six answers at the right moments, whatever the skew', () => {
    fc.assert(
      fc.property(skews, fc.integer({ min: 0, max: 3 }), (ahead, ms) => {
        const clocks = new Clocks(ahead);
        clocks.answer(ms, ms);
        expect(clocks.probe(ms)).toBeLessThanOrEqual(6);
        if (Math.abs(ahead) > 1100) expect(Math.abs(clocks.error)).toBeLessThanOrEqual(45);
      }),
    );
  });

  test('is half as uncertain after each answer at the moment that it asks for', () => {
    const clocks = new Clocks(10_000);
    clocks.answer(0, 0);
    let most = 525;
    while (clocks.time.askIn() !== undefined) {
      expect(Math.abs(clocks.error)).toBeLessThanOrEqual(most);
      clocks.server += clocks.time.askIn() ?? 0;
      clocks.answer(0, 0);
      most = most / 2 + 25 / 2;
    }
    expect(most).toBeLessThanOrEqual(50);
  });

  test('is the local one where no answer contradicts it, and nothing needs to be asked', () => {
    const clocks = new Clocks(0);
    for (const pause of [0, 100, 450, 999, 20, 3]) {
      clocks.server += pause;
      clocks.answer(3, 4);
      expect(clocks.error).toBe(0);
      expect(clocks.time.askIn()).toBeUndefined();
    }
  });

  test('asks for no answer before it has heard one', () => {
    expect(new Clocks(HOUR).time.askIn()).toBeUndefined();
  });

  test('does not mind a date that is just over when it is written', () => {
    const clocks = new Clocks(0);
    clocks.server = NOON + 20;
    clocks.time.heard(new Date(NOON - 1).toUTCString(), clocks.server, clocks.server);
    expect(clocks.error).toBe(0);
  });

  test('recovers when the clock is set meanwhile, forward or back', () => {
    fc.assert(
      fc.property(skews, skews, (before, after) => {
        fc.pre(Math.abs(after) > 1100 && Math.abs(after - before) > 2200);
        const clocks = new Clocks(before);
        clocks.answer(3, 3);
        clocks.probe(3);
        clocks.ahead = after;
        clocks.answer(3, 3);
        clocks.probe(3);
        expect(Math.abs(clocks.error)).toBeLessThanOrEqual(50);
      }),
    );
  });

  test('follows a clock that drifts', () => {
    const clocks = new Clocks(5000);
    clocks.answer(2, 2);
    clocks.probe(2);
    // 50 ppm for an hour: 180 ms.
    for (let answer = 0; answer < 1200; answer++) {
      clocks.server += 3000 + (answer % 7) * 41;
      clocks.ahead += 0.15;
      clocks.answer(2, 2);
      expect(Math.abs(clocks.error)).toBeLessThanOrEqual(75);
    }
  });

  test('learns nothing from an answer without a date, with nonsense, or of a call that was set back', () => {
    const clocks = new Clocks(HOUR);
    const local = NOON + HOUR;
    clocks.time.heard(undefined, local, local);
    clocks.time.heard('yesterday', local, local);
    clocks.time.heard(new Date(NOON).toUTCString(), local, local - 1);
    expect(clocks.error).toBe(HOUR);
    clocks.time.heard(new Date(NOON).toUTCString(), local, local);
    expect(Math.abs(clocks.error)).toBeLessThanOrEqual(525);
  });
});
