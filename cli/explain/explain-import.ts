import type { FleetTold, ImportTold } from './ask-api.ts';

export interface Explanation {
  /** What holds the import: its state, the wait that dominates, or `service` where none does. */
  readonly code: string;
  /** Sentences, the import's own first and then the fleet's. */
  readonly words: readonly string[];
  /** What would help, the most likely first. */
  readonly help: readonly string[];
  readonly measured: {
    readonly rowsPerSecond: number | undefined;
    /** Milliseconds that a row waited on average, by what for. */
    readonly waitsARow: Readonly<Record<Wait, number>>;
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
          `${title} is ${state === 'paused' ? 'paused' : 'at its end'} after ${progress}.`,
          ...(told.failure === undefined ? [] : [sentence(told.failure.message)]),
        ],
        help: state === 'paused' ? ['Resume it once that is done.'] : [],
        measured,
      };
    case 'running':
      return running(told, fleet, measured, title, progress, now);
    default:
      return {
        code: state,
        words: [`${title} is at its end: ${progress}.`, waitsInWords(waitsARow)],
        help: [],
        measured,
      };
  }
}

function running(
  { mode, still, stalled, etaSeconds }: ImportTold,
  fleet: FleetTold,
  measured: Explanation['measured'],
  title: string,
  progress: string,
  now: number,
): Explanation {
  const { rowsPerSecond, waitsARow, serviceSeconds } = measured;
  const pace = rowsPerSecond === undefined ? '' : `, ${amount(rowsPerSecond)} a second`;
  const left = etaSeconds === undefined ? '' : `, about ${amount(etaSeconds)} s left`;
  const wait = dominant(waitsARow);
  const line = fleet.plan.lines.find(({ modes }) => modes.includes(mode))?.line;
  const diagnosis = fleet.lines.find((each) => each.line === line)?.diagnosis;
  return {
    code: stalled === undefined ? (wait ?? 'service') : 'stalled',
    words: [
      `${title} is running: ${progress}${pace}${left}.`,
      ...(still === undefined
        ? []
        : [`No row was written for ${seconds(Math.max(0, now - Date.parse(still.since)))}.`]),
      ...(stalled === undefined ? [] : [`It is stalled. ${sentence(stalled.reason)}`]),
      wait === undefined
        ? `Its rows wait for nothing that is felt: the time is that of the calls${serviceSeconds === undefined ? '' : `, ${amount(serviceSeconds)} s each`}.`
        : `Its rows wait most ${FOR[wait]}.`,
      waitsInWords(waitsARow),
      ...(diagnosis === undefined ? [] : [`The fleet: ${diagnosis.words}`]),
    ],
    help: diagnosis?.help ?? [],
    measured,
  };
}

/**
 * Rows wait for a place behind whatever those ahead of them wait for, so that the gate counts only
 * where nothing else does.
 */
function dominant(waitsARow: Readonly<Record<Wait, number>>): Wait | undefined {
  const others = WAITS.filter((wait) => wait !== 'gate');
  const [most] = others.toSorted((one, other) => waitsARow[other] - waitsARow[one]);
  if (most !== undefined && waitsARow[most] >= FELT_MS) return most;
  return waitsARow.gate >= FELT_MS ? 'gate' : undefined;
}

function waitsInWords(waitsARow: Readonly<Record<Wait, number>>): string {
  const each = WAITS.map((wait) => `${seconds(waitsARow[wait])} ${FOR[wait]}`);
  return `A row waited ${each.join(', ')} on average.`;
}

/** Rows that ended since it was started, in each second. */
function paceOf({ startedAt, completedAt, rows }: ImportTold, now: number): number | undefined {
  if (startedAt === undefined) return undefined;
  const end = completedAt === undefined ? now : Date.parse(completedAt);
  const ms = end - Date.parse(startedAt);
  return ms > 0 ? ((rows.done + rows.failed) * 1000) / ms : undefined;
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
