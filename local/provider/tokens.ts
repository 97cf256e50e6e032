/** The simulator's rule: a token is four bytes of UTF-8, begun ones counted. */
const BYTES = 4;

export function countTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES);
}

/** As much of the text as so many tokens hold, ending between two code points. */
export function firstTokens(text: string, tokens: number): string {
  if (countTokens(text) <= tokens) return text;
  const bytes = Buffer.from(text);
  let end = tokens * BYTES;
  // 10xxxxxx continues a code point.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
