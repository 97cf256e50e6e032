import type { Usage } from './provider.ts';

export interface Prices {
  readonly inputUsdPerMillion: number;
  readonly outputUsdPerMillion: number;
}

/** Tokens a character, by the Unicode ranges where it begins. */
const LATIN = 1 / 4;
const OTHER = 1 / 2;
const CJK = 1;
const BEYOND = 2;

/**
 * How many tokens a text is likely to be, without the model's tokenizer.
 *
 * Four characters a token is the providers' own rule of thumb for English. Published figures for
 * Chinese, Japanese and Korean lie between half a token and somewhat more than one a character, those
 * for other scripts between a quarter and one, and an emoji is two or more. Where they differ, the
 * higher is taken: a reservation that is too small overshoots the allowance, one that is too large is
 * settled after the call.
 */
export function estimateTokens(text: string): number {
  let tokens = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x0250) tokens += LATIN;
    else if (isCjk(unit)) tokens += CJK;
    // Each half of a surrogate pair counts for half of the character.
    else if (unit >= 0xd800 && unit <= 0xdfff) tokens += BEYOND / 2;
    else tokens += OTHER;
  }
  return Math.ceil(tokens);
}

/** Radicals to Yi, Hangul syllables, compatibility ideographs, full-width forms. */
function isCjk(unit: number): boolean {
  return (
    (unit >= 0x2e80 && unit <= 0xa4cf) ||
    (unit >= 0xac00 && unit <= 0xd7af) ||
    (unit >= 0xf900 && unit <= 0xfaff) ||
    (unit >= 0xff00 && unit <= 0xffef)
  );
}

export function costUsd(usage: Usage, prices: Prices): number {
  const { inputTokens, outputTokens } = usage;
  return (
    (inputTokens * prices.inputUsdPerMillion + outputTokens * prices.outputUsdPerMillion) /
    1_000_000
  );
}

/** An amount in words: of less than a dollar, the digits that tell something. */
export function usd(amount: number): string {
  return `${amount >= 1 ? amount.toFixed(2) : Number(amount.toPrecision(2))} USD`;
}

/** Rounded up: a bound of as much is one that is kept. */
export function atMostUsd(amount: number): string {
  const digits = new Intl.NumberFormat('en', {
    useGrouping: false,
    roundingMode: 'ceil',
    ...(amount >= 1
      ? { maximumFractionDigits: 2, minimumFractionDigits: 2 }
      : { maximumSignificantDigits: 2 }),
  });
  return `${digits.format(amount)} USD`;
}
