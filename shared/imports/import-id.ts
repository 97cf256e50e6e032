import { randomBytes } from 'node:crypto';

// Crockford's alphabet: no letter that is mistaken for another, and it sorts as its values do.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Base 32: good until the year 10889. */
const TIME_DIGITS = 10;
const RANDOM_DIGITS = 16;

/** An import's name: ids sort by the millisecond of their creation, and cannot be guessed. */
export function createImportId(
  now: number,
  random: (bytes: number) => Buffer = randomBytes,
): string {
  let time = '';
  for (let rest = now; time.length < TIME_DIGITS; rest = Math.floor(rest / 32)) {
    time = `${ALPHABET[rest % 32]}${time}`;
  }
  return time + [...random(RANDOM_DIGITS)].map((byte) => ALPHABET[byte % 32]).join('');
}

export const IMPORT_ID = new RegExp(`^[${ALPHABET}]{${TIME_DIGITS + RANDOM_DIGITS}}$`);
