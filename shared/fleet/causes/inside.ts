import type { Diagnosis } from '../diagnosis.ts';
import type { Wait } from '../measure.ts';
import { chunks, count, rate } from './amounts.ts';
import { boundOf, holder, longest, type Scene } from './scene.ts';

// Whatever is none of the others: a gap is never without a name.

export function inside({ facts, all, busy, depth }: Scene): Diagnosis {
  const held = busy.reduce((sum, { queue }) => sum + queue.inFlight, 0);
  if (depth + held === 0) {
    return {
      code: 'inside',
      words: `An import runs, but none of its chunks waits, and ${rate(all.callsPerSecond)} calls a second are made.`,
      help: ['Wait some minutes: what was lost is sent again.', LOOK_FOR_ERRORS],
    };
  }
  const work =
    depth > 0
      ? chunks(depth)
      : held === 1
        ? '1 chunk is taken or held back'
        : `${count(held)} chunks are taken or held back`;
  const gap = `${work}, but ${rate(all.inFlight)} of ${rate(boundOf(busy))} calls are in flight and ${rate(all.callsPerSecond)} of ${rate(facts.callsPerSecond)} a second are made`;
  const wait = longest(all);
  if (wait === undefined) {
    return {
      code: 'inside',
      words: `${gap}. Rows wait for nothing that is measured.`,
      help: [LOOK_FOR_ERRORS, 'Chunks of a worker that was killed go on after half a minute.'],
    };
  }
  const cause = holder(all);
  const rows = (of: Wait) => `${rate(all.waiting[of])} at a time`;
  return {
    code: 'inside',
    words:
      wait === 'gate' && cause !== undefined
        ? `${gap}. Most rows wait ${FOR.gate}, ${rows('gate')}, behind rows that wait ${FOR[cause]}, ${rows(cause)}.`
        : `${gap}. Most rows wait ${FOR[wait]}: ${rows(wait)}.`,
    help: HELP[cause ?? wait],
  };
}

const LOOK_FOR_ERRORS =
  'Look for errors and throttles of the worker functions, and for chunks in the dead-letter queue.';

const FOR: Readonly<Record<Wait, string>> = {
  gate: 'for a free place in their process',
  allowance: 'for the shared allowance',
  yield: 'for callers that are not Glimpse’s',
  refused: 'after refusals and failures of the provider',
};

const HELP: Readonly<Record<Wait, readonly string[]>> = {
  gate: [
    'Let each process take fewer chunks at once, so that the rows reach more processes.',
    'Widen the gate where few processes run.',
  ],
  allowance: [
    'Look for errors of the fleet table in the logs of the workers: without it nobody calls.',
    'Give the workers more memory, and so more of a processor: one that is late misses its turns.',
    'Look at the calls of the table for each call of the provider: well above 0.1 the frames are too short for so many processes.',
  ],
  yield: ['Find out who else uses the account.'],
  refused: [
    'Look at the failed calls: rows that were refused an answer wait longer with each try.',
    "See the provider's status page.",
  ],
};
