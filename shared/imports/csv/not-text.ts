import { isUtf8 } from 'node:buffer';
import { startsWith } from './encoding.ts';
import { refusedFile } from './refused.ts';
import { cutOff } from './utf8.ts';

/** [the words for it, the mark it starts with] */
const MARKS: readonly (readonly [string, string | readonly number[]])[] = [
  ['an Excel workbook of the old kind: save it as CSV', [0xd0, 0xcf, 0x11, 0xe0]],
  ['a PDF', '%PDF-'],
  ['a gzip archive: upload the file inside it', [0x1f, 0x8b]],
  ['a 7-Zip archive: upload the file inside it', [0x37, 0x7a, 0xbc, 0xaf]],
  ['a Zstandard archive: upload the file inside it', [0x28, 0xb5, 0x2f, 0xfd]],
  ['a JPEG picture', [0xff, 0xd8, 0xff]],
  ['a PNG picture', [0x89, 0x50, 0x4e, 0x47]],
  ['a GIF picture', 'GIF89a'],
  ['an SQLite database', 'SQLite format 3\0'],
  ['a Parquet file: export it as CSV', 'PAR1\x15'],
  ['a Rich Text document: save it as CSV', '{\\rtf'],
];

/** @throws CsvRefused saying what the bytes seem to be, when that is not a table in text. */
export function assertText(head: Uint8Array): void {
  const foreign = markedAs(head) ?? markup(head) ?? binary(head);
  if (foreign === undefined) return;
  throw refusedFile(
    'csv-not-text',
    `expected CSV, which is text, and the file seems to be ${foreign}`,
  );
}

function markedAs(head: Uint8Array): string | undefined {
  if (startsWith(head, [0x50, 0x4b, 0x03, 0x04])) return archive(head);
  const mark = MARKS.find(([, bytes]) =>
    startsWith(head, typeof bytes === 'string' ? [...Buffer.from(bytes, 'latin1')] : bytes),
  );
  return mark?.[0];
}

/** Workbooks are ZIP archives, told from others by the names of the first files in them. */
function archive(head: Uint8Array): string {
  const names = Buffer.from(head).toString('latin1');
  if (names.includes('opendocument.spreadsheet'))
    return 'a LibreOffice spreadsheet: save it as CSV';
  if (names.includes('Index/') && names.includes('.iwa'))
    return 'a Numbers spreadsheet: export it as CSV';
  if (names.includes('word/')) return 'a Word document: save its table as CSV';
  if (/xl\/|\[Content_Types\]\.xml/.test(names)) return 'an Excel workbook: save it as CSV';
  return 'a ZIP archive: upload the file inside it';
}

/** Text, and not a table: mostly an error or sign-in page that was saved under the file's name. */
function markup(head: Uint8Array): string | undefined {
  const text = Buffer.from(head.subarray(0, 1024)).toString('latin1');
  const start = text.replace(/^ï»¿/, '').trimStart();
  if (/^<(!doctype html|html)\b/i.test(start)) return 'a web page';
  if (/^<\?xml\b/i.test(start)) return 'XML';
  if (/^(\{\s*"[^"]*"\s*:|\[\s*\{\s*")/.test(start)) return 'JSON';
  return undefined;
}

/**
 * Control characters in numbers that no catalogue has: a fiftieth of bytes that are not UTF-8
 * (chance alone makes it a tenth), or a third of bytes that are. A NUL here and there is a cell's.
 */
function binary(head: Uint8Array): string | undefined {
  let controls = 0;
  for (const byte of head) if (isControl(byte)) controls += 1;
  const whole = head.subarray(0, head.length - cutOff(head));
  const many = isUtf8(whole)
    ? controls * 3 > head.length
    : controls > 3 && controls * 50 > head.length;
  return many ? 'binary data' : undefined;
}

/** All but tab, line feed, vertical tab, form feed, carriage return and DOS's end of file. */
function isControl(byte: number): boolean {
  return byte < 0x20 && !(byte >= 0x09 && byte <= 0x0d) && byte !== 0x1a;
}
