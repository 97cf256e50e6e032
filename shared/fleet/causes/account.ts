import type { Diagnosis } from '../diagnosis.ts';
import { USAGE_SECONDS } from '../usage-item.ts';
import { chunks, percent, rate } from './amounts.ts';
import { endOf, holder, ROOM, roomOf, type Scene, waitingRows } from './scene.ts';

// The account is used, by Glimpse itself: as good as it gets with this one.

/** Of the account: its last part is lost to slots that nobody took in time. */
const USED = 0.9;

/** More is lost where processes come and go; it is the account all the same, if rows wait for it. */
const NEARLY_USED = 0.8;

/** Seconds without interactive work until bulk work takes its share, two frames at least. */
const LINGERS_SECONDS = 10;

export function quota(scene: Scene): Diagnosis | undefined {
  const { facts, all, used } = scene;
  const { requestsPerMinute, tokensPerMinute } = facts.account;
  if (!isUsed(scene)) return partOfBulk(scene);
  if (used.tokens > used.requests && tokensPerMinute !== null) {
    return {
      code: 'quota',
      words: `${usedInWords('tokens', all.tokensPerSecond, tokensPerMinute / 60, used.tokens)}${waitsForIt(scene)}`,
      help: [
        ...largerThan(tokensPerMinute, facts.told?.tokens, 'tokens'),
        'Make calls smaller: fewer columns, shorter instructions, a lower bound of the input and of the answer.',
        ...MORE_QUOTA,
      ],
    };
  }
  return {
    code: 'quota',
    words: `${usedInWords('requests', all.callsPerSecond, requestsPerMinute / 60, used.requests)}${waitsForIt(scene)}`,
    help: [...largerThan(requestsPerMinute, facts.told?.requests, 'requests'), ...MORE_QUOTA],
  };
}

/** All but what is lost to slots that nobody took in time: more of that where processes come and go. */
function isUsed(scene: Scene): boolean {
  const { all, used } = scene;
  const most = Math.max(used.requests, used.tokens);
  if (most >= USED) return true;
  return most >= NEARLY_USED && holder(all) === 'allowance' && roomOf(scene) >= ROOM;
}

function usedInWords(what: string, used: number, most: number, part: number): string {
  const figures = `${rate(used)} of ${rate(most)} a second (${percent(part)})`;
  return part >= USED
    ? `The account's ${what} are used: ${figures}.`
    : `The account's ${what} are all but used: ${figures}; the rest are turns for which no call was ready.`;
}

function waitsForIt({ busy, depth }: Scene): string {
  const interactive = busy.find(({ mode }) => mode === 'interactive');
  const bulk = busy.find(({ mode }) => mode === 'bulk');
  const waits = depth > 0 ? ` ${chunks(depth)} for it.` : '';
  if (bulk === undefined || interactive === undefined || bulk.queue.depth === 0) return waits;
  const { rates } = interactive;
  return rates.callsPerSecond === 0
    ? waits
    : `${waits} Interactive work comes first, with ${rate(rates.callsPerSecond)} calls a second; bulk work has what that leaves, ${rate(bulk.rates.callsPerSecond)}.`;
}

function largerThan(configured: number, told: number | undefined, what: string): string[] {
  if (told === undefined || told <= configured) return [];
  return [
    `Configure the account with ${rate(told)} ${what} a minute, as the provider's answers say, and deploy.`,
  ];
}

const MORE_QUOTA = [
  'Ask the provider for a larger quota, then raise the configured account.',
  "Send what has time to the provider's batch endpoint: its quota is another, and it costs half.",
];

/** While somebody watches, and a little after, bulk work has less than the whole account. */
function partOfBulk({ facts, busy, used, all }: Scene): Diagnosis | undefined {
  const { interactiveShare, frameSeconds, state, now } = facts;
  const bulk = busy.find(({ mode }) => mode === 'bulk');
  if (bulk === undefined || waitingRows([bulk]) === 0) return undefined;
  // Messages of workers that were killed stay hidden for long: nobody watches these.
  const isWatched = busy.some(
    ({ mode, queue, rates }) =>
      mode === 'interactive' && (queue.depth > 0 || rates.callsPerSecond > 0),
  );
  // What is measured is of a while ago: a part of the last item may have been kept.
  const lingers = Math.max(LINGERS_SECONDS, 2 * frameSeconds) + USAGE_SECONDS;
  if (!isWatched && state.interactiveAt < endOf(now) - lingers * 1000) return undefined;
  // Of both limits, the one that bulk has used more of; a mode's tokens are as its calls.
  const part = all.callsPerSecond === 0 ? 0 : bulk.rates.callsPerSecond / all.callsPerSecond;
  const bulkUses = Math.max(used.requests, used.tokens) * part;
  if (bulkUses < USED * (1 - interactiveShare)) return undefined;
  const waits = bulk.queue.depth === 0 ? '' : ` ${chunks(bulk.queue.depth)} for it.`;
  return {
    code: 'quota',
    words: `Bulk work uses its part of the account: ${percent(Math.min(bulkUses, 1 - interactiveShare))} of ${percent(1 - interactiveShare)}; the rest is kept for the imports that somebody watches${isWatched ? '' : ', as somebody did a moment ago'}.${waits}`,
    help: [
      'Wait until those are done: bulk work then has the whole account.',
      'Lower the share of interactive work, if so much is never needed.',
    ],
  };
}
