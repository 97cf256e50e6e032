/**
 * The time by the servers' clocks. Processes whose clocks differ would take each other's seconds for
 * their own; what they have in common are the servers that answer them, and each answer says when.
 *
 *   local clock    sent ───────────── received
 *   server's       somewhere between, `Date` was the second that it names
 *
 * So each answer bounds how far the local clock is off, by a second and its own duration, and answers
 * at different times of the second bound it to their durations alone.
 */
export interface TrueTime {
  /** Epoch milliseconds. */
  now(): number;
  /** @param date an answer's `Date` header. @param sent and received: by the local clock. */
  heard(date: string | undefined, sent: number, received: number): void;
  /**
   * Milliseconds until an answer would halve what is uncertain; undefined if that is little, or if
   * nothing says that the local clock is off.
   */
  askIn(): number | undefined;
}

/** How much the bounds widen with time: clocks drift by less than a tenth of this. */
const DRIFT = 1e-4;
/** A server may write the date of a second that is just over. */
const TOLERANCE_MS = 25;
/** A clock that is off is known well enough from here on. */
const SURE_MS = 80;

export function createTrueTime(clock: () => number): TrueTime {
  // How much the servers are ahead of the local clock: within these.
  let least = -Infinity;
  let most = Infinity;
  let known = clock();

  const isOff = () => least > 0 || most < 0;
  const offset = () => (isOff() ? (least + most) / 2 : 0);

  return {
    // A clock that no answer contradicts is believed: those of AWS are kept by NTP.
    now: () => clock() + offset(),
    heard(date, sent, received) {
      const second = date === undefined ? Number.NaN : Date.parse(date);
      if (Number.isNaN(second) || received < sent) return;
      const aged = Math.max(0, received - known) * DRIFT;
      known = received;
      const from = second - received - TOLERANCE_MS;
      const to = second + 1000 - sent + TOLERANCE_MS;
      [least, most] = [Math.max(least - aged, from), Math.min(most + aged, to)];
      // The local clock was set meanwhile.
      if (least > most) [least, most] = [from, to];
    },
    askIn() {
      if (!isOff() || most - least <= SURE_MS) return undefined;
      return 1000 - ((clock() + offset()) % 1000);
    },
  };
}
