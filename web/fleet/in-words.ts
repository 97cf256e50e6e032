import { amount } from '../shell/amounts.ts';
import type { DiagnosisCode, Wait } from './fleet-view.ts';

type Locale = Intl.LocalesArgument;

export function percent(part: number, locale?: Locale): string {
  return new Intl.NumberFormat(locale, { style: 'percent' }).format(part);
}

/** Rounded up: what is left of it has not passed. */
export function secondsLeft(until: number, now: number, locale?: Locale): string {
  return `${amount(Math.ceil((until - now) / 1000), locale)} s`;
}

export type Tone = 'good' | 'bad' | 'warning' | 'quiet';

export const DIAGNOSES: Readonly<Record<DiagnosisCode, { title: string; tone: Tone }>> = {
  stopped: { title: 'Stopped', tone: 'bad' },
  refused: { title: 'Refused by the provider', tone: 'bad' },
  failing: { title: 'The provider fails', tone: 'bad' },
  inside: { title: 'Held up inside', tone: 'warning' },
  yielding: { title: 'Giving way', tone: 'warning' },
  gate: { title: 'Few processes, all full', tone: 'warning' },
  slow: { title: 'Calls take longer than planned', tone: 'warning' },
  ceiling: { title: 'The bound is too low', tone: 'warning' },
  quota: { title: 'The account is used', tone: 'good' },
  starting: { title: 'Starting', tone: 'quiet' },
  producer: { title: 'Keeping up', tone: 'good' },
  idle: { title: 'Idle', tone: 'quiet' },
};

export const WAITS: Readonly<Record<Wait, string>> = {
  gate: 'for a place in their process',
  allowance: 'for the allowance',
  yield: 'for other callers',
  refused: 'after refusals',
};

export const MODE_TITLES = { interactive: 'Interactive', bulk: 'Bulk' } as const;

export const LINE_TITLES: Readonly<Record<string, string>> = {
  shared: 'The account',
  interactive: 'The account of interactive work',
  bulk: 'The account of bulk work',
};
