import type { Diagnosis } from '../diagnosis.ts';
import type { LineFacts } from '../line-facts.ts';
import { percent, rate, seconds } from './amounts.ts';
import { holder, isEmpty, isFeltAt, type Scene, succeededOf } from './scene.ts';

// What the provider does, and what others do to its account.

export function stopped({ facts }: Scene): Diagnosis | undefined {
  const { modes, imports } = facts;
  const stopped = imports?.stopped;
  if (stopped === undefined) return undefined;
  const isNothingLeft = imports?.running.length === 0 && modes.every(({ queue }) => isEmpty(queue));
  const succeeds = modes.some(({ lately }) => succeededOf(lately) > 0);
  if (succeeds && !isNothingLeft) return undefined;
  return {
    code: 'stopped',
    words: `${stopped.name === undefined ? 'An import' : `The import “${stopped.name}”`} is paused and no call succeeds. ${stopped.message}`,
    help: [
      stopped.name === undefined
        ? 'Do what that says; then the import’s owner can resume it.'
        : 'Do what that says, then resume the import.',
    ],
  };
}

/** Of the calls: fewer refusals are the provider's own unevenness. */
const MANY_REFUSED = 0.01;

/** A cut says so much about an account for so long. */
const RECENT_MS = 60_000;

export function refused({ facts, all }: Scene): Diagnosis | undefined {
  const { state, now, account, told } = facts;
  const restMs = state.quietUntil - now;
  const share = all.callsPerSecond === 0 ? 0 : all.refusedPerSecond / all.callsPerSecond;
  const isCut = state.cut !== undefined && now - state.cut.at < RECENT_MS;
  if (restMs <= 0 && share < MANY_REFUSED && !isCut) return undefined;
  const words = [
    all.refusedPerSecond > 0
      ? `The provider refuses ${rate(all.refusedPerSecond)} of ${rate(all.callsPerSecond)} calls a second for their rate.`
      : 'The provider refused calls for their rate.',
    ...(restMs > 0 ? [`Nobody calls for another ${seconds(restMs)}.`] : []),
    ...(isCut && state.cut !== undefined
      ? [
          `Its answers do not say what remains: the fleet went down to ${percent(state.cut.to)} of the account and feels its way back.`,
        ]
      : []),
  ];
  const smaller = smallerThan(account, told);
  if (smaller !== undefined) {
    const { what, configured, real } = smaller;
    words.push(
      `It is configured for ${rate(configured)} ${what} a minute, and the provider's answers say ${rate(real)}.`,
    );
    return {
      code: 'refused',
      words: words.join(' '),
      help: [`Configure the account with ${rate(real)} ${what} a minute, and deploy.`],
    };
  }
  return {
    code: 'refused',
    words: words.join(' '),
    help: [
      'Find out who else uses the account, and give Glimpse one of its own or the part that is left.',
      `Compare the configured ${limitsInWords(account)} with the provider's page of limits: the real ones may be lower.`,
    ],
  };
}

function smallerThan(account: LineFacts['account'], told: LineFacts['told']) {
  const { requestsPerMinute, tokensPerMinute } = account;
  const requests = told?.requests ?? Infinity;
  const tokens = told?.tokens ?? Infinity;
  if (requests < requestsPerMinute) {
    return { what: 'requests', configured: requestsPerMinute, real: requests };
  }
  if (tokensPerMinute !== null && tokens < tokensPerMinute) {
    return { what: 'tokens', configured: tokensPerMinute, real: tokens };
  }
  return undefined;
}

function limitsInWords({ requestsPerMinute, tokensPerMinute }: LineFacts['account']): string {
  const requests = `${rate(requestsPerMinute)} requests`;
  return tokensPerMinute === null
    ? `${requests} a minute`
    : `${requests} and ${rate(tokensPerMinute)} tokens a minute`;
}

const MANY_FAILED = 0.1;

export function failing({ all }: Scene): Diagnosis | undefined {
  const { callsPerSecond, failedPerSecond } = all;
  if (failedPerSecond === 0 || failedPerSecond < MANY_FAILED * callsPerSecond) return undefined;
  return {
    code: 'failing',
    words: `The provider fails ${rate(failedPerSecond)} of ${rate(callsPerSecond)} calls a second. Their rows are asked for again, later each time, or end as failed.`,
    help: [
      "See the provider's status page.",
      'Read the reasons of the failed rows, and the errors of the workers in their logs.',
    ],
  };
}

export function yielding({ facts, busy }: Scene): Diagnosis | undefined {
  const { state, now } = facts;
  const bulk = busy.find(({ mode }) => mode === 'bulk');
  if (bulk === undefined) return undefined;
  const restMs = state.yieldUntil - now;
  const { waiting, inFlight } = bulk.rates;
  const isFelt = holder(bulk.rates) === 'yield' && isFeltAt(waiting.yield, inFlight);
  if (restMs <= 0 && !isFelt) return undefined;
  const waits = waiting.yield > 0 ? ` ${rowsWait(waiting.yield)}.` : '';
  const rest = restMs > 0 ? ` It rests for another ${seconds(restMs)}.` : '';
  return {
    code: 'yielding',
    words: `Bulk work gives way: by the provider's answers little remains of the account, and it is not Glimpse that uses it.${waits}${rest}`,
    help: [
      'Find out who else uses the account; bulk work goes on by itself when they leave more of it.',
      'Give Glimpse an account of its own, or lower the reserve if those others may be refused.',
    ],
  };
}

function rowsWait(rows: number): string {
  return `${rate(rows)} rows wait for that at a time`;
}
