import { isUtf8 } from 'node:buffer';
import * as z from 'zod';
import { refusedFile } from './refused.ts';

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
] as const satisfies readonly (readonly [Encoding, readonly number[]])[];

/**
 * The encoding by the mark at the start, by the pattern of NULs, or as stated.
 *
 * @param head the first bytes, some thousands of them if there are so many.
 * @throws CsvRefused when what is stated and what the bytes show contradict each other: reading on
 * would fill the catalogue with wrong characters.
 */
export function openingOf(head: Uint8Array, stated?: Encoding): Opening {
  if (startsWith(head, [0xff, 0xfe, 0, 0]) || startsWith(head, [0, 0, 0xfe, 0xff])) {
    throw refusedFile('csv-encoding', 'expected UTF-8 or UTF-16 text and the file is UTF-32');
  }
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

export function isUtf16(encoding: Encoding | undefined): boolean {
  return encoding === 'utf-16le' || encoding === 'utf-16be';
}

/**
 * UTF-16 without a mark. Its ASCII characters, delimiters and digits in any script, have a NUL for
 * one byte of two, always the same one, and its lines end in a line break two bytes wide.
 */
function utf16ByItsNuls(head: Uint8Array): Encoding | undefined {
  const nuls: [even: number, odd: number] = [0, 0];
  const breaks: [even: number, odd: number] = [0, 0];
  for (let at = 0; at + 1 < head.length; at += 2) {
    const [first, second] = [head[at] ?? 0, head[at + 1] ?? 0];
    if (first === 0) nuls[0] += 1;
    if (second === 0) nuls[1] += 1;
    if (first === 0 && isLineBreak(second)) breaks[0] += 1;
    if (second === 0 && isLineBreak(first)) breaks[1] += 1;
  }
  const enough = head.length / 2 / 20;
  if (nuls[1] >= enough && nuls[1] > nuls[0] * 10 && breaks[1] > 0) return 'utf-16le';
  if (nuls[0] >= enough && nuls[0] > nuls[1] * 10 && breaks[0] > 0) return 'utf-16be';
  return undefined;
}

function isLineBreak(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d;
}

export function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, index) => bytes[index] === byte);
}
