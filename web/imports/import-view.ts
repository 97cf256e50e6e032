import { fields, list, number, optional, text } from '../shell/read-json.ts';

// An import as the API tells of it.

export const STATES = [
  'awaiting-upload',
  'reading',
  'running',
  'paused',
  'completed',
  'completed-with-failures',
  'failed',
  'cancelled',
] as const;

export type ImportState = (typeof STATES)[number];

export type Mode = 'interactive' | 'bulk';

export interface Counts {
  readonly total: number;
  readonly done: number;
  readonly failed: number;
}

export interface Waits {
  readonly gateMs: number;
  readonly allowanceMs: number;
  readonly yieldMs: number;
  readonly refusedMs: number;
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costUsd: number;
}

export interface Problem {
  readonly line: number | undefined;
  readonly message: string;
}

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly problems: readonly Problem[];
}

export interface Stalled {
  readonly reason: string;
  readonly resent: number;
  /** Epoch milliseconds. */
  readonly at: number | undefined;
}

/** Nothing comes, for longer than its pace lets expect. Times in epoch milliseconds. */
export interface Still {
  readonly since: number;
  /** Chunks of workers that have not been heard of, and by when those are sent again. */
  readonly unheard: { readonly chunks: number; readonly againBy: number } | undefined;
  /** When what a worker had left was sent again. */
  readonly sentAgainAt: number | undefined;
}

/** What the list holds of an import. */
export interface ImportInList {
  readonly importId: string;
  readonly name: string;
  readonly mode: Mode;
  readonly state: ImportState;
  readonly rows: Counts;
  readonly usage: Usage;
  readonly waits: Waits;
  /** Before it is begun: whether it waits for somebody, once its file has been read. */
  readonly hold: boolean;
  /** While it runs: the row up to which nearly all are written. */
  readonly front: number | undefined;
  /** Epoch milliseconds, as are all times here. */
  readonly createdAt: number;
  readonly startedAt: number | undefined;
  readonly completedAt: number | undefined;
  readonly etaSeconds: number | undefined;
  readonly still: Still | undefined;
  readonly stalled: Stalled | undefined;
  readonly failure: Failure | undefined;
}

export interface Column {
  readonly name: string;
  readonly filled: number;
  readonly meanCharacters: number;
  readonly maxCharacters: number;
  readonly samples: readonly string[];
}

export interface Report {
  readonly encoding: string;
  readonly delimiter: string;
  readonly warnings: readonly Problem[];
  readonly warningsTotal: number;
  readonly rows: number;
  readonly blankLines: number;
  readonly columns: readonly Column[];
  /** The first rows, with each cell's beginning. */
  readonly preview: readonly PreviewRow[];
}

export interface PreviewRow {
  readonly line: number;
  readonly cells: readonly string[];
}

export interface Settings {
  readonly instructions: string;
  /** Empty stands for all. */
  readonly columns: readonly string[];
  readonly idColumn: string | undefined;
  readonly maxCostUsd: number | undefined;
  readonly model: string | undefined;
}

export interface Estimate extends Usage {
  readonly calls: number;
}

export interface ImportView extends ImportInList {
  readonly report: Report | undefined;
  readonly settings: Settings;
  readonly estimate: Estimate | undefined;
}

export interface RowView {
  readonly row: number;
  readonly id: string;
  readonly state: 'done' | 'failed';
  readonly summary: string;
  readonly reason: string;
}

/** Nothing more happens to these by themselves. */
export function isOver(state: ImportState): boolean {
  return (
    state === 'completed' ||
    state === 'completed-with-failures' ||
    state === 'failed' ||
    state === 'cancelled'
  );
}

/** Whether its rows were begun: before that, one looks at the report and decides. */
export function isBegun({ state, rows, startedAt }: ImportInList): boolean {
  if (state === 'awaiting-upload' || state === 'reading') return false;
  return state === 'running' || startedAt !== undefined || rows.done + rows.failed > 0;
}

/** Rows that have come to an end, of either kind. */
export function written({ done, failed }: Counts): number {
  return done + failed;
}

export function readImportInList(told: unknown): ImportInList {
  const given = fields(told);
  return {
    importId: text(given.importId),
    name: text(given.name),
    mode: given.mode === 'bulk' ? 'bulk' : 'interactive',
    state: readState(given.state),
    rows: readCounts(given.rows),
    usage: readUsage(given.usage),
    waits: readWaits(given.waits),
    hold: given.hold === true,
    front: optional(given.front, number),
    createdAt: time(given.createdAt),
    startedAt: optional(given.startedAt, time),
    completedAt: optional(given.completedAt, time),
    etaSeconds: optional(given.etaSeconds, number),
    still: optional(given.still, readStill),
    stalled: optional(given.stalled, readStalled),
    failure: optional(given.failure, readFailure),
  };
}

export function readImport(told: unknown): ImportView {
  const { report, settings, estimate } = fields(told);
  return {
    ...readImportInList(told),
    report: optional(report, readReport),
    settings: readSettings(settings),
    estimate: optional(estimate, readEstimate),
  };
}

export function readEstimate(told: unknown): Estimate {
  return { ...readUsage(told), calls: number(fields(told).calls) };
}

export function readRow(told: unknown): RowView {
  const { row, id, state, summary, reason } = fields(told);
  if (state !== 'done' && state !== 'failed') throw new TypeError('expected a state of a row');
  return {
    row: number(row),
    id: typeof id === 'number' ? String(id) : (optional(id, text) ?? ''),
    state,
    summary: optional(summary, text) ?? '',
    reason: optional(reason, text) ?? '',
  };
}

function readState(told: unknown): ImportState {
  const state = STATES.find((each) => each === told);
  if (state === undefined) throw new TypeError('expected a state of an import');
  return state;
}

function readCounts(told: unknown): Counts {
  const { total, done, failed } = fields(told);
  return { total: number(total), done: number(done), failed: number(failed) };
}

function readUsage(told: unknown): Usage {
  const { inputTokens, outputTokens, costUsd } = fields(told);
  return {
    inputTokens: number(inputTokens),
    outputTokens: number(outputTokens),
    costUsd: number(costUsd),
  };
}

function readWaits(told: unknown): Waits {
  const { gateMs, allowanceMs, yieldMs, refusedMs } = fields(told);
  return {
    gateMs: number(gateMs),
    allowanceMs: number(allowanceMs),
    yieldMs: number(yieldMs),
    refusedMs: number(refusedMs),
  };
}

function readStill(told: unknown): Still {
  const { since, unheard, sentAgainAt } = fields(told);
  return {
    since: time(since),
    unheard: optional(unheard, readUnheard),
    sentAgainAt: optional(sentAgainAt, time),
  };
}

function readUnheard(told: unknown): NonNullable<Still['unheard']> {
  const { chunks, againBy } = fields(told);
  return { chunks: number(chunks), againBy: time(againBy) };
}

function readStalled(told: unknown): Stalled {
  const { reason, resent, at } = fields(told);
  return { reason: text(reason), resent: optional(resent, number) ?? 0, at: optional(at, time) };
}

function readFailure(told: unknown): Failure {
  const { code, message, problems } = fields(told);
  return {
    code: text(code),
    message: text(message),
    problems: (optional(problems, list) ?? []).map(readProblem),
  };
}

function readProblem(told: unknown): Problem {
  const { line, message } = fields(told);
  return { line: optional(line, number), message: text(message) };
}

function readReport(told: unknown): Report {
  const report = fields(told);
  const warnings = list(report.warnings).map(readProblem);
  return {
    encoding: text(report.encoding),
    delimiter: text(report.delimiter),
    warnings,
    warningsTotal: optional(report.warningsTotal, number) ?? warnings.length,
    rows: number(report.rows),
    blankLines: optional(report.blankLines, number) ?? 0,
    columns: list(report.columns).map(readColumn),
    preview: (optional(report.preview, list) ?? []).map(readPreviewRow),
  };
}

function readPreviewRow(told: unknown): PreviewRow {
  const { line, cells } = fields(told);
  return { line: number(line), cells: list(cells).map(text) };
}

function readColumn(told: unknown): Column {
  const { name, filled, meanCharacters, maxCharacters, samples } = fields(told);
  return {
    name: text(name),
    filled: number(filled),
    meanCharacters: number(meanCharacters),
    maxCharacters: number(maxCharacters),
    samples: list(samples).map(text),
  };
}

function readSettings(told: unknown): Settings {
  const { instructions, columns, idColumn, maxCostUsd, model } = fields(told);
  return {
    instructions: text(instructions),
    columns: (optional(columns, list) ?? []).map(text),
    idColumn: optional(idColumn, text),
    maxCostUsd: optional(maxCostUsd, number),
    model: optional(model, text),
  };
}

/** ISO 8601 or epoch milliseconds, as the latter. */
function time(told: unknown): number {
  const at = typeof told === 'number' ? told : Date.parse(text(told));
  if (Number.isFinite(at)) return at;
  throw new TypeError('expected a time');
}
