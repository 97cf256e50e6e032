import type { FleetTold, ImportTold } from './ask-api.ts';

export interface Explanation {
  /**
   * What holds the import: its state, what its rows wait for, or `service` where that is not felt. Rows
   * that wait for a place do so behind others: what those wait for is it, if they wait for something.
   */
  readonly code: string;
  /** Sentences, the import's own first and then the fleet's. */
  readonly words: readonly string[];
  /** What would help, the most likely first. */
  readonly help: readonly string[];
  readonly measured: {
    readonly rowsPerSecond: number | undefined;
    /** Milliseconds that a row waited on average, by what for. */
    readonly waitsARow: Readonly<Record<Wait, number>>;
    /** The longest of them, if any is felt. */
    readonly longest: Wait | undefined;
    /** Seconds that a call takes now. */
    readonly serviceSeconds: number | undefined;
  };
}

const WAITS = ['gate', 'allowance', 'yield', 'refused'] as const;
type Wait = (typeof WAITS)[number];

const FOR: Readonly<Record<Wait, string>> = {
  gate: 'for a free place in their process',
  allowance: 'for the shared allowance',
  yield: 'for callers that are not Glimpse’s',
  refused: 'after refusals and failures of the provider',
};

/** Milliseconds a row: a shorter wait is not why an import is slow. */
const FELT_MS = 50;
/** Of a call's time: rows that wait so long in a place keep others from it. */
const HOLDS_UP = 0.25;

/** @param now epoch milliseconds */
export function explainImport(told: ImportTold, fleet: FleetTold, now: number): Explanation {
  const { name, mode, state, rows, waits } = told;
  const ended = rows.done + rows.failed;
  const aRow = (ms: number) => ms / Math.max(1, ended);
  const waitsARow = {
    gate: aRow(waits.gateMs),
    allowance: aRow(waits.allowanceMs),
    yield: aRow(waits.yieldMs),
    refused: aRow(waits.refusedMs),
  };
  const measured = {
    rowsPerSecond: paceOf(told, now),
    waitsARow,
    longest: longestOf(waitsARow),
    serviceSeconds: fleet.measured[mode].serviceSeconds,
  };
  const title = `“${name}” (${mode})`;
  const progress = `${count(ended)} of ${count(rows.total)} rows${rows.failed > 0 ? `, ${count(rows.failed)} of them failed` : ''}`;

  switch (state) {
    case 'awaiting-upload':
      return {
        code: state,
        words: [`${title} waits for its file.`],
        help: ['Upload it, or create the import again if its form has ended.'],
        measured,
      };
    case 'reading':
      return { code: state, words: [`${title} is being read.`], help: [], measured };
    case 'paused':
    case 'failed':
      return {
        code: told.failure?.code ?? state,
        words: [
          `${title} ${state === 'paused' ? 'is paused' : 'has failed'} after ${progress}.`,
          ...(told.failure === undefined ? [] : [sentence(told.failure.message)]),
        ],
        help: state === 'paused' ? [howToGoOn(told)] : [],
        measured,
      };
    case 'running':
      return running(told, fleet, measured, title, progress, now);
    default:
      return {
        code: state,
        words: [
          `${title} ${state === 'cancelled' ? 'was cancelled' : 'is at its end'}: ${progress}.`,
          waitsInWords(waitsARow),
        ],
        help: [],
        measured,
      };
  }
}

/** What Glimpse has paused says why; a person knows. */
const howToGoOn = ({ failure }: ImportTold): string =>
  failure === undefined ? 'Resume it when it should go on.' : 'Resume it once that is done.';

function running(
  { mode, rows, still, stalled, etaSeconds }: ImportTold,
  fleet: FleetTold,
  measured: Explanation['measured'],
  title: string,
  progress: string,
  now: number,
): Explanation {
  const { rowsPerSecond, waitsARow } = measured;
  const pace = rowsPerSecond === undefined ? '' : `, ${amount(rowsPerSecond)} a second`;
  const left = etaSeconds === undefined ? '' : `, about ${amount(etaSeconds)} s left`;
  const line = fleet.plan.lines.find(({ modes }) => modes.includes(mode));
  const diagnosis = fleet.lines.find((each) => each.line === line?.line)?.diagnosis;
  const planned = line?.measured.serviceSeconds;
  const held =
    rows.done + rows.failed === 0 ? NOTHING_YET : heldBy(measured, planned, diagnosis?.code);
  return {
    code: stalled === undefined ? held.code : 'stalled',
    words: [
      `${title} is running: ${progress}${pace}${left}.`,
      ...(still === undefined ? [] : standstill(still, now)),
      ...(stalled === undefined ? [] : [`It is stalled. ${sentence(stalled.reason)}`]),
      held.words,
      ...(held === NOTHING_YET ? [] : [waitsInWords(waitsARow)]),
      ...(diagnosis === undefined ? [] : [`The fleet: ${diagnosis.words}`]),
    ],
    help: diagnosis?.help ?? [],
    measured,
  };
}

/** For how long, and of whom nothing is heard. */
function standstill(
  { since, unheard, sentAgainAt }: NonNullable<ImportTold['still']>,
  now: number,
): string[] {
  const words = [`No row was written for ${seconds(Math.max(0, now - Date.parse(since)))}.`];
  if (unheard !== undefined) {
    const { chunks, againBy } = unheard;
    const whose =
      chunks === 1 ? 'The worker of one chunk has' : `The workers of ${count(chunks)} chunks have`;
    const leftMs = Date.parse(againBy) - now;
    const when = leftMs > 0 ? `within ${Math.ceil(leftMs / 1000)} s` : 'any moment now';
    words.push(`${whose} not been heard of: what they had begun is sent again by itself, ${when}.`);
  } else if (sentAgainAt !== undefined) {
    const ago = seconds(Math.max(0, now - Date.parse(sentAgainAt)));
    words.push(`What a worker had begun when it ended was sent again ${ago} ago.`);
  }
  return words;
}

const NOTHING_YET = {
  code: 'starting',
  words: 'No row has ended yet, so that nothing is measured.',
};

/** The longest wait, and what is behind it where that is for a place. */
function heldBy(
  { waitsARow, longest, serviceSeconds }: Explanation['measured'],
  plannedSeconds: number | undefined,
  fleetCode: string | undefined,
): { code: string; words: string } {
  if (longest === undefined) {
    const calls = serviceSeconds === undefined ? '' : `, ${amount(serviceSeconds)} s each`;
    return {
      code: 'service',
      words: `Its rows wait for nothing that is felt: the time is that of the calls${calls}.`,
    };
  }
  const words = `Its rows wait longest ${FOR[longest]}, ${seconds(waitsARow[longest])} each`;
  if (longest !== 'gate') return { code: longest, words: `${words}.` };
  const serviceMs = (serviceSeconds ?? plannedSeconds ?? 0) * 1000;
  const [most = 'allowance'] = HOLDERS.toSorted((one, other) => waitsARow[other] - waitsARow[one]);
  const isHeld = waitsARow[most] >= Math.max(FELT_MS, HOLDS_UP * serviceMs);
  const cause =
    fleetCode === 'quota' && waitsARow.allowance >= FELT_MS
      ? 'allowance'
      : isHeld
        ? most
        : undefined;
  return cause === undefined
    ? {
        code: 'gate',
        words: `${words}, behind the calls that are under way${serviceMs === 0 ? '' : `, ${seconds(serviceMs)} each`}.`,
      }
    : {
        code: cause,
        words: `${words}, behind rows that wait ${FOR[cause]}, ${seconds(waitsARow[cause])} each: that is the cause.`,
      };
}

/** A row keeps its place while it waits for these. */
const HOLDERS = ['allowance', 'yield', 'refused'] as const;

function longestOf(waitsARow: Readonly<Record<Wait, number>>): Wait | undefined {
  const [most] = WAITS.toSorted((one, other) => waitsARow[other] - waitsARow[one]);
  return most !== undefined && waitsARow[most] >= FELT_MS ? most : undefined;
}

function waitsInWords(waitsARow: Readonly<Record<Wait, number>>): string {
  const each = WAITS.map((wait) => `${seconds(waitsARow[wait])} ${FOR[wait]}`);
  return `A row waited ${each.join(', ')} on average.`;
}

/** Rows a second: since it was started or resumed where that is known, of all of them where not. */
function paceOf(
  { state, startedAt, completedAt, etaSeconds, rows }: ImportTold,
  now: number,
): number | undefined {
  const ended = rows.done + rows.failed;
  if (state === 'running' && etaSeconds !== undefined && etaSeconds > 0) {
    return (rows.total - ended) / etaSeconds;
  }
  if (startedAt === undefined) return undefined;
  const end = completedAt === undefined ? now : Date.parse(completedAt);
  const ms = end - Date.parse(startedAt);
  return ms > 0 ? (ended * 1000) / ms : undefined;
}

function sentence(text: string): string {
  const begun = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

const NUMBER = new Intl.NumberFormat('en', { maximumSignificantDigits: 3 });

function amount(value: number): string {
  return value >= 1000 ? count(value) : NUMBER.format(value);
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en');
}

function seconds(ms: number): string {
  return ms < 1000 ? `${count(ms)} ms` : `${amount(ms / 1000)} s`;
}
