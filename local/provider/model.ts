import type { Ask } from './dialect.ts';
import { ENDINGS, type Ending, type FaultName } from './settings.ts';
import { summarise } from './summarise.ts';
import { countTokens, firstTokens } from './tokens.ts';

export interface Written {
  readonly text: string;
  readonly ending: Ending | 'done';
  readonly outputTokens: number;
}

/** What the model says, and why it stopped: cut where its tokens end, or as the fault wants it. */
export function write(ask: Ask, fault: FaultName | undefined): Written {
  const whole = summarise(ask.input);
  const fitting = firstTokens(whole, ask.maxTokens);
  const wanted = ENDINGS.find((ending) => ending === fault);
  const ending = wanted ?? endingOf(whole, fitting);
  const text = textOf(ending, fitting, wanted !== undefined);
  return { ending, text, outputTokens: countTokens(text) };
}

function endingOf(whole: string, fitting: string): Ending | 'done' {
  if (whole === '') return 'empty';
  return fitting === whole ? 'done' : 'truncated';
}

function textOf(ending: Ending | 'done', text: string, forced: boolean): string {
  switch (ending) {
    case 'done':
      return text;
    case 'truncated':
      return forced ? firstTokens(text, Math.ceil(countTokens(text) / 2)) : text;
    case 'truncated-null':
    case 'refusal':
    case 'filtered':
    case 'empty':
      return '';
  }
}
