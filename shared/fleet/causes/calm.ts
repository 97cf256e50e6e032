import type { Diagnosis } from '../diagnosis.ts';
import type { LineFacts } from '../line-facts.ts';
import { figuresAt } from '../measure.ts';
import { count, rate, seconds } from './amounts.ts';
import { boundOf, endOf, FULL, isEmpty, type Scene, succeededOf, waitingRows } from './scene.ts';

// Nothing is in the way: there is no work, it has just begun, or it is done as it comes.

export function idle({ facts }: Scene): Diagnosis | undefined {
  const { modes, imports, now } = facts;
  if (modes.some(({ queue }) => queue.depth > 0)) return undefined;
  // Messages of workers that were killed stay hidden for long after their rows are done.
  const isHeld = modes.some(({ queue }) => !isEmpty(queue));
  const isCalling = modes.some(({ lately }) => lately.callsPerSecond > 0);
  if (isHeld && (imports === undefined || isCalling)) return undefined;
  // Queues are counted roughly, and late: where calls are still made, they are not believed alone.
  const last = Math.max(0, ...modes.map(({ run }) => run?.ended ?? 0)) * 1000;
  const isSeen = modes.some(({ lately }) => lately.callsPerSecond > 0) || last > endOf(now);
  const runs = imports?.running.length;
  if (runs === undefined ? isSeen : runs > 0) return undefined;
  const paused = imports?.paused ?? [];
  if (paused.length > 0) return pausedInWords(paused);
  return {
    code: 'idle',
    words:
      last === 0
        ? 'There is nothing to do: no chunk waits.'
        : `All work is done: nothing waits, and the last calls ended ${last >= endOf(now) ? 'just now' : `${count((endOf(now) - last) / 1000)} s ago or more`}.`,
    help: [],
  };
}

/** Of several, one that the asker may begin. One that was read and never started is paused, too. */
function pausedInWords(paused: readonly (string | undefined)[]): Diagnosis {
  const others = paused.length - 1;
  const known = paused.find((name) => name !== undefined);
  if (known !== undefined) {
    const more = others === 0 ? ' has' : ` and ${count(others)} more of the newest imports have`;
    return {
      code: 'idle',
      words: `Nothing waits: the import “${known}”${more} yet to be started or resumed.`,
      help: ['Start or resume it, and its rows are summarised.'],
    };
  }
  return {
    code: 'idle',
    words:
      others === 0
        ? 'Nothing waits: an import has yet to be started or resumed, by its owner.'
        : `Nothing waits: ${count(paused.length)} of the newest imports have yet to be started or resumed, by their owners.`,
    help: [],
  };
}

/** Seconds for which processes may take to start, before that they do not is a finding. */
const STARTING_SECONDS = 30;

/** Seconds that somebody who watches feels. */
const LONG_FRAME = 8;

/**
 * Something is to be done, and one that has to do it has only just begun. That its processes have to
 * start, and that its first seconds are not a whole item, is no fault.
 */
export function starting({ modes, imports, frameSeconds, now }: LineFacts): Diagnosis | undefined {
  const end = endOf(now);
  const graceMs = (STARTING_SECONDS + frameSeconds) * 1000;
  const began = modes.flatMap(({ mode, run }) => {
    if (run !== undefined && run.ended * 1000 >= end) {
      return figuresAt(run.began) > now ? [run.began] : [];
    }
    return (imports?.running ?? [])
      .filter((each) => each.mode === mode && each.startedAt > now - graceMs)
      .map(({ startedAt }) => startedAt / 1000);
  });
  if (began.length === 0) return undefined;
  const restMs = figuresAt(Math.max(...began)) - now;
  return {
    code: 'starting',
    words: [
      restMs > 0
        ? `Work has just begun: what limits it is known in about ${seconds(restMs)}.`
        : 'Work has just begun, and no call was made yet: processes start.',
      ...(frameSeconds >= LONG_FRAME
        ? [`With so small an account a first call may wait ${frameSeconds} s for its turn.`]
        : []),
    ].join(' '),
    help: [],
  };
}

/** Seconds in which all that waits is done: more is a backlog. */
const BACKLOG_SECONDS = 10;

/** A backlog is short or long by the time that it takes. */
export function producer({ all, busy, used }: Scene): Diagnosis | undefined {
  const pace = succeededOf(all);
  const rows = Math.round(waitingRows(busy));
  if (pace <= 0 || rows > pace * BACKLOG_SECONDS) return undefined;
  const bound = boundOf(busy);
  const waits =
    rows === 0
      ? 'Nothing waits: work is done as fast as it comes'
      : `Work is done as fast as it comes: what waits, ${count(rows)} ${rows === 1 ? 'row' : 'rows'}, takes ${rate(rows / pace)} s`;
  const hasRoom = Math.max(used.requests, used.tokens) < FULL && all.inFlight < FULL * bound;
  return {
    code: 'producer',
    words: `${waits}, with ${rate(all.inFlight)} of ${rate(bound)} calls in flight.`,
    help: [
      hasRoom
        ? 'Nothing here is in the way: there is room for more imports at the same time.'
        : 'Nothing here is in the way.',
    ],
  };
}
