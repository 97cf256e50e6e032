import { bytesInWords, timeLeftInWords } from '../shell/amounts.ts';
import {
  type ImportInList,
  type ImportState,
  isBegun,
  isOver,
  type Still,
  type Waits,
  written,
} from './import-view.ts';

// Amounts and states as a person reads them. Numbers, money and dates are the reader's locale's.

type Locale = string | undefined;

export function count(value: number, locale?: Locale): string {
  return Math.round(value).toLocaleString(locale);
}

export function rowsInWords(value: number, locale?: Locale): string {
  return `${count(value, locale)} ${value === 1 ? 'row' : 'rows'}`;
}

/** `98,400`, and `1.62M` where nobody reads the last digits. */
export function tokens(value: number, locale?: Locale): string {
  if (value < 100_000) return count(value, locale);
  return new Intl.NumberFormat(locale, {
    notation: 'compact',
    maximumSignificantDigits: 3,
  }).format(value);
}

/** US dollars, rounded up: a bound of as much is one that is kept. */
export function atMost(usd: number, locale?: Locale): string {
  return money(usd, locale, { roundingMode: 'ceil' });
}

/** US dollars; what is less than a cent is not nothing. */
export function money(usd: number, locale?: Locale, rounding?: Intl.NumberFormatOptions): string {
  const cents = usd === 0 || usd >= 0.01;
  return new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    currencyDisplay: 'narrowSymbol',
    ...(cents ? {} : { maximumSignificantDigits: 2 }),
    ...rounding,
  }).format(usd);
}

/** Rounded down: what is not all is not 100 %. */
export function percent(part: number, whole: number, locale?: Locale): string {
  const share = whole === 0 ? 0 : Math.min(1, part / whole);
  return new Intl.NumberFormat(locale, { style: 'percent' }).format(Math.floor(share * 100) / 100);
}

const AGES = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;
const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
/** Days after which a date says more. */
const LONG_AGO = 30;

export function ago(at: number, now: number, locale?: Locale): string {
  const past = Math.max(0, now - at);
  if (past > LONG_AGO * 86_400_000) {
    return new Date(at).toLocaleDateString(locale, { dateStyle: 'medium' });
  }
  const [unit, length] = AGES.find(([, each]) => past >= each) ?? [];
  return unit === undefined ? 'just now' : RELATIVE.format(-Math.floor(past / length), unit);
}

export function moment(at: number, locale?: Locale): string {
  return new Date(at).toLocaleString(locale, { dateStyle: 'medium', timeStyle: 'short' });
}

/** `0.4 s`, `12 s`, `3 min`, `1 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const rest = minutes % 60;
  return `${Math.floor(minutes / 60)} h${rest === 0 ? '' : ` ${rest} min`}`;
}

/** `35 s`: what goes on as one looks is told in whole seconds. */
function secondsInWords(ms: number): string {
  return duration(Math.max(10_000, ms));
}

/** Why nothing comes, and what becomes of it by itself. */
export function stillInWords({ unheard, sentAgainAt }: Still, now: number): string {
  if (unheard === undefined && sentAgainAt !== undefined) {
    return 'What a worker had begun when it ended is sent again, and goes on in a moment. Nothing is lost, and no row that is written is asked for again.';
  }
  if (unheard === undefined) {
    return 'Its rows wait for their turn, or the model takes long to answer. It goes on by itself; what no worker takes is sent again after some minutes.';
  }
  const { chunks, againBy } = unheard;
  const left = againBy - now;
  const when = left < 5_000 ? 'any moment now' : `within ${Math.ceil(left / 5_000) * 5} seconds`;
  const whose =
    chunks === 1
      ? 'The worker of one chunk of rows has'
      : `The workers of ${count(chunks)} chunks of rows have`;
  return `${whose} not been heard of. What they had begun is sent again by itself, ${when}. Nothing is lost, and no row that is written is asked for again.`;
}

/** A file on its way. That all of it is sent does not say that anybody has it. */
export function transferInWords(
  { state, sent, bytes }: { state: string; sent: number; bytes: number },
  locale?: Locale,
): { title: string; detail: string } {
  if (state === 'sent') return { title: 'The file is there', detail: 'It is about to be read.' };
  const all = `${bytesInWords(sent)} of ${bytesInWords(bytes)}, ${percent(sent, bytes, locale)}`;
  if (sent < bytes) return { title: 'Sending the file', detail: all };
  return { title: 'Being stored…', detail: 'All of it is sent; the storage has yet to say so.' };
}

/** What follows the reading of its file. */
export function holdInWords({ hold }: Pick<ImportInList, 'hold'>): string {
  return hold
    ? 'Once it is read it waits for you to start it: nothing is spent before.'
    : 'Once it is read it begins by itself.';
}

/** `paused` is two things to a person: before the first row, and in the midst of them. */
export function stateInWords(view: ImportInList): string {
  switch (view.state) {
    case 'awaiting-upload':
      return 'Waiting for its file';
    case 'reading':
      return 'Reading';
    case 'running':
      return view.stalled === undefined ? 'Running' : 'Stalled';
    case 'paused':
      return isBegun(view) ? 'Paused' : 'Ready to start';
    case 'completed':
      return 'Done';
    case 'completed-with-failures':
      return 'Done, with failures';
    case 'failed':
      return isBegun(view) ? 'Failed' : 'Not imported';
    case 'cancelled':
      return 'Cancelled';
  }
}

/** What colour a state has. */
export function toneOf({ state, failure, stalled }: ImportInList): Tone {
  if (state === 'failed') return 'bad';
  if (isOver(state)) return state === 'completed' ? 'good' : TONES[state];
  return failure !== undefined || stalled !== undefined ? 'warning' : TONES[state];
}

export type Tone = 'good' | 'bad' | 'warning' | 'lively' | 'quiet';

const TONES: Readonly<Record<ImportState, Tone>> = {
  'awaiting-upload': 'quiet',
  reading: 'lively',
  running: 'lively',
  paused: 'quiet',
  completed: 'good',
  'completed-with-failures': 'warning',
  failed: 'bad',
  cancelled: 'quiet',
};

/** How long it will take, for how long nothing has come, or when it ended. */
export function timeInWords(view: ImportInList, now: number): string {
  const { state, etaSeconds, still, stalled, completedAt } = view;
  if (state === 'running') {
    // What does not move has no end.
    if (still !== undefined) return `No new row for ${secondsInWords(now - still.since)}`;
    return etaSeconds === undefined || stalled !== undefined ? '' : timeLeftInWords(etaSeconds);
  }
  // Not how long it took: pauses and retries are in between.
  return isOver(state) && completedAt !== undefined ? `Ended ${moment(completedAt)}` : '';
}

const LANGUAGES: Readonly<Record<string, string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 (little-endian)',
  'utf-16be': 'UTF-16 (big-endian)',
  'windows-1252': 'Windows-1252 (Western European)',
  'windows-1250': 'Windows-1250 (Central European)',
  'windows-1251': 'Windows-1251 (Cyrillic)',
  'windows-1254': 'Windows-1254 (Turkish)',
  'iso-8859-2': 'ISO 8859-2 (Central European)',
  'iso-8859-15': 'ISO 8859-15 (Western European)',
  macintosh: 'Mac Roman',
  shift_jis: 'Shift JIS (Japanese)',
  gb18030: 'GB 18030 (Chinese)',
  big5: 'Big5 (Chinese)',
  'euc-kr': 'EUC-KR (Korean)',
};

/** Those that the API reads, and what people call them. */
export const ENCODINGS = Object.entries(LANGUAGES);

export function encodingInWords(encoding: string): string {
  return LANGUAGES[encoding] ?? encoding;
}

const SEPARATORS: Readonly<Record<string, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'vertical bar',
};

export const DELIMITERS = Object.entries(SEPARATORS);

export function delimiterInWords(delimiter: string): string {
  return SEPARATORS[delimiter] ?? `“${delimiter}”`;
}

/** A message of the API as a sentence of its own. */
export function sentence(message: string): string {
  const trimmed = message.trim();
  const begun = trimmed.slice(0, 1).toLocaleUpperCase('en') + trimmed.slice(1);
  return /[.!?…]$/.test(begun) || begun === '' ? begun : `${begun}.`;
}

export interface Wait {
  readonly kind: keyof Waits;
  /** A row's mean, in milliseconds. */
  readonly perRowMs: number;
  readonly title: string;
  /** What it means, and what would shorten it. */
  readonly meaning: string;
}

const KINDS: Readonly<Record<keyof Waits, { title: string; meaning: string }>> = {
  gateMs: {
    title: 'For a free place in a worker',
    meaning:
      'Each worker has as many calls in flight as it may, and rows wait behind them, also behind those that wait for something else. More workers or a wider gate help only while the provider takes more.',
  },
  allowanceMs: {
    title: 'For the account’s allowance',
    meaning:
      'The provider permits so many requests and tokens a minute, and they are in use, first by the imports that somebody watches. A larger quota, a shorter prompt or fewer columns shorten it.',
  },
  yieldMs: {
    title: 'For others who use the account',
    meaning:
      'The provider says that little of the account remains, and it is not Glimpse that uses it: work in the background gives way. It goes on by itself.',
  },
  refusedMs: {
    title: 'After refusals by the provider',
    meaning:
      'The provider refused calls for their rate, or failed, and rows rested until they are tried again. If this goes on, ask for a larger quota, or see its status page.',
  },
};

/** Less is not felt. Milliseconds a row. */
const FELT_MS = 50;

/** What rows wait for, the longest first; none that nobody would feel. */
export function waitsInWords({ waits, rows }: Pick<ImportInList, 'waits' | 'rows'>): Wait[] {
  const ended = Math.max(1, written(rows));
  const kinds = ['gateMs', 'allowanceMs', 'yieldMs', 'refusedMs'] as const;
  return kinds
    .map((kind) => ({ kind, perRowMs: waits[kind] / ended, ...KINDS[kind] }))
    .filter(({ perRowMs }) => perRowMs >= FELT_MS)
    .sort((one, other) => other.perRowMs - one.perRowMs);
}

/** For screen readers: changes of state and each quarter, and not each row. */
export function newsOf(view: ImportInList): string {
  const { state, rows, still, stalled, failure } = view;
  const said = stateInWords(view);
  if (failure !== undefined) return `${said}. ${sentence(failure.message)}`;
  if (stalled !== undefined) return `${said}. ${sentence(stalled.reason)}`;
  if (still !== undefined) return `${said}, and no row comes just now`;
  if (state === 'running') {
    const quarter = rows.total === 0 ? 0 : Math.floor((written(rows) / rows.total) * 4) * 25;
    return quarter === 0 ? said : `${said}, ${quarter} percent of ${rowsInWords(rows.total)}`;
  }
  if (state === 'completed-with-failures') {
    return `${said}: ${rowsInWords(rows.failed)} of ${count(rows.total)} failed`;
  }
  return state === 'completed' ? `${said}: ${rowsInWords(rows.done)}` : said;
}
