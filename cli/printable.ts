/** Control characters, line breaks of every kind, and what turns the direction of the text after it. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * A text that somebody else has written, as one line that a terminal shows and does not obey: `a\u001b[2J.jpg`
 * for a key that would clear the screen.
 */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, escaped);
}

/** As `printable`, for a text whose lines are meant, such as what a function logs. */
export function printableLines(text: string): string {
  return text.replaceAll(UNPRINTABLE, (each) => (/[\n\t]/.test(each) ? each : escaped(each)));
}

function escaped(character: string): string {
  const code = character.charCodeAt(0).toString(16).padStart(4, '0');
  return SHORT[character] ?? `\\u${code}`;
}
