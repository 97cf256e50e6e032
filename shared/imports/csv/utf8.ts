// Well-formed UTF-8, byte by byte, for where Node's own decoder says only that something is wrong.

export interface Utf8Survey {
  /** Characters of more than one byte, well formed. */
  readonly characters: number;
  /** Bytes that belong to no character. */
  readonly strays: number;
  /** Where the first stray stands. */
  readonly firstStray: number | undefined;
}

/** Counts what is UTF-8 in the bytes and what is not. A character that is cut off at their end counts as neither. */
export function surveyUtf8(bytes: Uint8Array): Utf8Survey {
  const end = bytes.length - cutOff(bytes);
  let characters = 0;
  let strays = 0;
  let firstStray: number | undefined;
  for (let at = 0; at < end; ) {
    const length = characterAt(bytes, at);
    if (length > 1) characters += 1;
    if (length === 0) {
      strays += 1;
      firstStray ??= at;
    }
    at += Math.max(length, 1);
  }
  return { characters, strays, firstStray };
}

/** How many bytes at the end begin a character that goes on beyond it: 0 to 3. */
export function cutOff(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const wanted = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    const isPossible = byte <= 0xf4 && beginsCharacter(bytes.subarray(bytes.length - back));
    return wanted > back && isPossible ? back : 0;
  }
  return 0;
}

/** The length of the character that begins here, 0 if none does. */
function characterAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0;
  if (byte < 0x80) return 1;
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
  if (byte < 0xc2 || byte > 0xf4 || at + length > bytes.length) return 0;
  return beginsCharacter(bytes.subarray(at, at + length)) ? length : 0;
}

/** Whether the bytes could begin, or be, one character of more than one byte (Unicode, table 3-7). */
function beginsCharacter([first = 0, second, ...rest]: Uint8Array): boolean {
  if (second !== undefined) {
    const lowest = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
    const highest = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
    if (second < lowest || second > highest) return false;
  }
  return rest.every(isContinuation);
}

function isContinuation(byte: number): boolean {
  return byte >= 0x80 && byte <= 0xbf;
}
