// Amounts as a person reads them.

const UNITS = ['bytes', 'KB', 'MB', 'GB'] as const;

/** Decimal units, as in operating systems' file lists: `4.8 MB`, `50 MB`. */
export function bytesInWords(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  // 999.5 would be rounded to "1000".
  while (amount >= 999.5 && unit < UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  const digits = unit < 2 || amount >= 9.95 ? 0 : 1;
  return `${amount.toFixed(digits).replace(/\.0$/, '')} ${UNITS[unit]}`;
}

/** Coarse, so that it does not jump with every measurement. */
export function timeLeftInWords(seconds: number): string {
  if (seconds < 55) return `${Math.ceil(seconds / 5) * 5} seconds left`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 2) return 'About a minute left';
  if (minutes < 60) return `About ${minutes} minutes left`;
  const hours = Math.round(minutes / 60);
  return hours < 2 ? 'About an hour left' : `About ${hours} hours left`;
}

/** Three digits say enough; whole numbers in full: `83.3`, `0.05`, `33,333`. */
export function amount(value: number, locale?: Intl.LocalesArgument): string {
  const whole = Number.isInteger(value) || value >= 1000;
  return new Intl.NumberFormat(
    locale,
    whole ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 },
  ).format(value);
}
