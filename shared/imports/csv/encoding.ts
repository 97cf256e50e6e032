import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { refusedFile } from './refused.ts';
import { cutOff } from './utf8.ts';

/**
 * Those that catalogues are met in: Unicode's, the code pages that Excel and old shop systems write
 * for Western, Central European, Cyrillic and Turkish text, and the East Asian ones.
 */
export const ENCODINGS = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'windows-1250',
  'windows-1251',
  'windows-1254',
  'iso-8859-2',
  'iso-8859-15',
  'macintosh',
  'shift_jis',
  'gb18030',
  'big5',
  'euc-kr',
] as const;

export type Encoding = (typeof ENCODINGS)[number];

export const encodingSchema = z.enum(ENCODINGS);

/** What the first bytes tell of the encoding. */
export interface Opening {
  /** Undefined while nothing tells UTF-8 from a code page: the first byte beyond ASCII will. */
  readonly encoding: Encoding | undefined;
  /** Bytes that say the encoding and are no text. */
  readonly markBytes: number;
}

const MARKS = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
  ['gb18030', [0x84, 0x31, 0x95, 0x33]],
] as const satisfies readonly (readonly [Encoding, readonly number[]])[];

/** Marks of what is not read: the names that editors have for them. */
const UNREAD_MARKS: readonly (readonly [string, readonly number[]])[] = [
  // Before UTF-16, whose mark this one's starts with.
  ['UTF-32', [0xff, 0xfe, 0, 0]],
  ['UTF-32', [0, 0, 0xfe, 0xff]],
  // The last bits of its fourth byte are the next character's.
  ...[0x38, 0x39, 0x2b, 0x2f].map((last) => ['UTF-7', [0x2b, 0x2f, 0x76, last]] as const),
  ['UTF-1', [0xf7, 0x64, 0x4c]],
  ['UTF-EBCDIC', [0xdd, 0x73, 0x66, 0x73]],
  ['SCSU', [0x0e, 0xfe, 0xff]],
  ['BOCU-1', [0xfb, 0xee, 0x28]],
];

/**
 * The encoding by the mark at the start, by the pattern of NULs, or as stated.
 *
 * @param head the first bytes, some thousands of them if there are so many.
 * @throws CsvRefused when what is stated and what the bytes show contradict each other: reading on
 * would fill the catalogue with wrong characters.
 */
export function openingOf(head: Uint8Array, stated?: Encoding): Opening {
  refuseUnread(head);
  const mark = MARKS.find(([, bytes]) => startsWith(head, bytes));
  const shown = mark?.[0] ?? utf16ByItsNuls(head);
  if (stated === undefined) return { encoding: shown, markBytes: mark?.[1].length ?? 0 };
  if (shown !== undefined && shown !== stated) {
    throw refusedFile(
      'csv-encoding',
      `expected ${stated}, as stated, and the file ${mark ? 'is marked as' : 'looks like'} ${shown}`,
    );
  }
  if (isUtf16(stated) && shown === undefined && head.length > 0 && !head.includes(0)) {
    throw refusedFile(
      'csv-encoding',
      `expected ${stated}, as stated, and the file is ${isUtf8(head) ? 'utf-8' : 'of a code page, windows-1252 before others'}: it has none of the NUL bytes that line breaks have in ${stated}`,
    );
  }
  return { encoding: stated, markBytes: mark?.[1].length ?? 0 };
}

/** A code page may begin with such bytes, too, but with no header that anyone would write. */
function refuseUnread(head: Uint8Array): void {
  const marked = UNREAD_MARKS.find(([, bytes]) => startsWith(head, bytes))?.[0];
  const shown = marked ?? (isUtf32(head) ? 'UTF-32' : undefined);
  if (shown === undefined) return;
  throw refusedFile(
    'csv-encoding',
    `expected UTF-8 or UTF-16 text and the file ${marked === undefined ? 'looks like' : 'is marked as'} ${shown}: save it as UTF-8`,
  );
}

/** UTF-32 without a mark: every four bytes are a character, which of other text next to none are. */
function isUtf32(head: Uint8Array): boolean {
  const bytes = Buffer.from(head.buffer, head.byteOffset, head.length - (head.length % 4));
  const places = Array.from({ length: bytes.length / 4 }, (_, index) => index * 4);
  if (places.length < 4) return false;
  return (
    places.every((at) => isCharacter(bytes.readUInt32LE(at))) ||
    places.every((at) => isCharacter(bytes.readUInt32BE(at)))
  );
}

function isCharacter(point: number): boolean {
  return (point >= 0x20 && point <= 0x10ffff) || point === 0x09 || isLineBreak(point);
}

export function isUtf16(encoding: Encoding | undefined): boolean {
  return encoding === 'utf-16le' || encoding === 'utf-16be';
}

/**
 * UTF-16 without a mark. Its ASCII characters, delimiters and digits in any script, have a NUL for
 * one byte of two, always the same one, and its lines end in a line break two bytes wide. In other text
 * a few NULs may happen to stand so, between pairs of plain bytes: in UTF-16 such pairs are East Asian
 * characters, which come with as many whose bytes are not plain.
 */
function utf16ByItsNuls(head: Uint8Array): Encoding | undefined {
  const isPlain = plainIn(head);
  if (isUtf16By(head, 1, isPlain)) return 'utf-16le';
  if (isUtf16By(head, 0, isPlain)) return 'utf-16be';
  return undefined;
}

/** @param high which byte of two is the one that ASCII characters have a NUL for. */
function isUtf16By(head: Uint8Array, high: 0 | 1, isPlain: (byte: number) => boolean): boolean {
  let nuls = 0;
  let nulsBelow = 0;
  let breaks = 0;
  // Pairs that are plain in other text, and those that it has not.
  let plain = 0;
  let strange = 0;
  for (let at = 0; at + 1 < head.length; at += 2) {
    const above = head[at + high] ?? 0;
    const below = head[at + 1 - high] ?? 0;
    if (above === 0) {
      nuls += 1;
      if (isLineBreak(below)) breaks += 1;
    }
    if (below === 0 && !hasCommonFirst(above)) nulsBelow += 1;
    if (above === 0 || below === 0 || isEitherWay(above, below)) continue;
    if (isPrivateUse(above) || (isPlain(above) && isPlain(below))) plain += 1;
    else strange += 1;
  }
  const enough = head.length / 2 / 20;
  return nuls >= enough && nuls > nulsBelow * 10 && breaks > 0 && plain * 2 <= nuls + strange * 2;
}

/** Whether a byte is plain in text that is not UTF-16; one beyond ASCII is where all of it is UTF-8. */
function plainIn(head: Uint8Array): (byte: number) => boolean {
  const isUnicode = isUtf8(head.subarray(0, head.length - cutOff(head)));
  return (byte) => (byte >= 0x80 ? isUnicode : byte >= 0x20 || byte === 0x09 || isLineBreak(byte));
}

/** Has a first character that texts are full of: the ideographic space, the Chinese one, the Korean ga. */
function hasCommonFirst(block: number): boolean {
  return block === 0x30 || block === 0x4e || block === 0xac;
}

/** Indian scripts, whose blocks have the numbers of tabs and line breaks, and hiragana, which has that of a zero. */
function isEitherWay(above: number, below: number): boolean {
  return above === 0x09 || isLineBreak(above) || (above === 0x30 && below > 0x40);
}

/** No text has these; they are what accented and Cyrillic letters of code pages look like. */
function isPrivateUse(block: number): boolean {
  return block >= 0xe0 && block <= 0xf8;
}

function isLineBreak(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d;
}

export function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, index) => bytes[index] === byte);
}
