import { isUtf8 } from 'node:buffer';
import { CorruptError, UnsupportedError } from '../errors.ts';

/** The kinds of picture that Glimpse reads. */
export type Kind = 'jpeg' | 'png' | 'webp' | 'avif' | 'gif' | 'tiff' | 'svg';

const READS = 'JPEG, PNG, WebP, AVIF, GIF, TIFF or SVG';

/**
 * What the bytes are, from what they start with: names and content types are the uploader's word.
 *
 * @throws UnsupportedError naming the kind, when it is one that Glimpse does not read
 * @throws CorruptError when there are no bytes at all: that is an upload gone wrong, not a kind
 */
export function sniff(bytes: Uint8Array): Kind {
  if (bytes.length === 0) throw new CorruptError(`expected a ${READS} and the object is empty`);
  const kind = accepted(bytes);
  if (kind !== undefined) return kind;
  throw new UnsupportedError(
    REASONS.get(foreign(bytes)) ?? `expected a ${READS} and the bytes are ${foreign(bytes)}`,
  );
}

/** Kinds that people upload in good faith, and so deserve the reason. */
const REASONS = new Map([
  ['HEIC', 'HEIC is not supported: convert the photo to JPEG or AVIF'],
  ['gzip', 'gzip is not supported: a compressed SVG (.svgz) must be stored uncompressed'],
  ['camera raw', 'camera raw is not supported: develop the photo to JPEG, AVIF or TIFF'],
  ...['UTF-16', 'UTF-32', 'UTF-7'].map((encoding): [string, string] => [
    `text in ${encoding}`,
    `text in ${encoding} is not supported: an SVG must be saved as UTF-8`,
  ]),
]);

function accepted(bytes: Uint8Array): Kind | undefined {
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'jpeg';
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'png';
  if (ascii(bytes, 0, 4) === 'RIFF' && ascii(bytes, 8, 12) === 'WEBP') return 'webp';
  if (['GIF87a', 'GIF89a'].includes(ascii(bytes, 0, 6))) return 'gif';
  if (isTiff(bytes) && !isCameraRaw(bytes)) return 'tiff';
  if (mediaBrand(bytes) === 'AVIF') return 'avif';
  if (rootElement(bytes) === 'svg') return 'svg';
  return undefined;
}

/** [the words for it, where its mark stands, the mark as bytes or ASCII]; the first that fits wins. */
const MARKS: readonly (readonly [string, number, string | readonly number[]])[] = [
  ['gzip', 0, [0x1f, 0x8b]],
  ['a ZIP archive', 0, 'PK'],
  ['a PDF', 0, '%PDF'],
  ['PostScript', 0, '%!PS'],
  ['a Photoshop file', 0, '8BPS'],
  ['a Windows icon', 0, [0, 0, 1, 0]],
  ['JPEG XL', 0, [0xff, 0x0a]],
  ['JPEG XL', 4, 'JXL '],
  ['JPEG 2000', 4, 'jP  '],
  ['JPEG 2000', 0, [0xff, 0x4f, 0xff, 0x51]],
  ['camera raw', 0, 'FUJIFILMCCD-RAW'],
  ['camera raw', 0, 'IIU\0'],
  ['camera raw', 0, 'IIRO'],
  ['camera raw', 0, 'IIRS'],
  ['OpenEXR', 0, [0x76, 0x2f, 0x31, 0x01]],
  ['Radiance HDR', 0, '#?RADIANCE'],
  ['Matroska or WebM video', 0, [0x1a, 0x45, 0xdf, 0xa3]],
  ['a RIFF file other than WebP', 0, 'RIFF'],
  ['BMP', 0, 'BM'],
  // By the marks that text begins with, the longer ones first.
  ['text in UTF-32', 0, [0xff, 0xfe, 0, 0]],
  ['text in UTF-32', 0, [0, 0, 0xfe, 0xff]],
  ['text in UTF-16', 0, [0xff, 0xfe]],
  ['text in UTF-16', 0, [0xfe, 0xff]],
  ['text in UTF-7', 0, '+/v8'],
  ['text in UTF-7', 0, '+/v9'],
];

function foreign(bytes: Uint8Array): string {
  const brand = mediaBrand(bytes);
  if (brand !== undefined) return brand;
  if (isTiff(bytes)) return 'camera raw';
  for (const [name, at, mark] of MARKS) {
    const expected = typeof mark === 'string' ? [...Buffer.from(mark, 'latin1')] : mark;
    if (startsWith(bytes.subarray(at), expected)) return name;
  }
  return text(bytes);
}

/** ISO base media files (HEIC, AVIF, MP4) start with a box that lists the brands they conform to. */
function mediaBrand(bytes: Uint8Array): string | undefined {
  if (ascii(bytes, 4, 8) !== 'ftyp') return undefined;
  const end = Math.min(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0), 256);
  const brands = [ascii(bytes, 8, 12)];
  // The minor version stands between the major brand and the compatible ones.
  for (let at = 16; at + 4 <= end; at += 4) brands.push(ascii(bytes, at, at + 4));
  const major = brands[0] ?? '';
  if (major === 'crx ') return 'camera raw';
  // `mif1` and `msf1` say only "a picture": the codec is among the compatible brands.
  if (brands.some((brand) => /^avi[fs]$/.test(brand))) return 'AVIF';
  if (brands.some((brand) => /^he[iv][cmsx]$/.test(brand))) return 'HEIC';
  if (/^(mif|msf|mia)\d$/i.test(major)) return 'a HEIF picture of an unknown codec';
  return major === 'qt  ' ? 'QuickTime video' : 'MP4 video';
}

function isTiff(bytes: Uint8Array): boolean {
  const little = startsWith(bytes, [0x49, 0x49]) && [0x2a, 0x2b].includes(bytes[2] ?? 0);
  const big = startsWith(bytes, [0x4d, 0x4d, 0x00]) && [0x2a, 0x2b].includes(bytes[3] ?? 0);
  return (little && bytes[3] === 0) || big;
}

const NEW_SUBFILE_TYPE = 0x00fe;
const SUB_IFDS = 0x014a;

/**
 * DNG, NEF and ARW are TIFF files whose first picture is a stamp-sized preview (a "reduced
 * resolution" subfile) and whose photo lies in a sub-directory; CR2 has its own mark. Rendered as
 * TIFF they would yield the preview, blurred and in silence.
 */
function isCameraRaw(bytes: Uint8Array): boolean {
  if (ascii(bytes, 8, 10) === 'CR') return true;
  const little = bytes[0] === 0x49;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8) return false;
  const directory = view.getUint32(4, little);
  if (directory + 2 > bytes.length) return false;
  let reduced = false;
  let subdirectories = false;
  const entries = view.getUint16(directory, little);
  for (let index = 0; index < entries; index += 1) {
    const entry = directory + 2 + index * 12;
    if (entry + 12 > bytes.length) break;
    const tag = view.getUint16(entry, little);
    if (tag === NEW_SUBFILE_TYPE) reduced = (view.getUint32(entry + 8, little) & 1) === 1;
    if (tag === SUB_IFDS) subdirectories = true;
  }
  return reduced && subdirectories;
}

/** The first element's name, prefix and all, in lower case, past the XML declaration, comments and doctype. */
function rootElement(bytes: Uint8Array): string | undefined {
  // 64 KB: drawing programs write long comments and entity lists before the root.
  let rest = Buffer.from(bytes.subarray(0, 65_536)).toString('utf8');
  if (rest.startsWith('\uFEFF')) rest = rest.slice(1);
  for (;;) {
    rest = rest.trimStart();
    const end = rest.startsWith('<!--') ? after(rest, '-->') : prologueEnd(rest);
    if (end === undefined) break;
    rest = rest.slice(end);
  }
  return /^<([a-z][\w.:-]*)/i.exec(rest)?.[1]?.toLowerCase();
}

function prologueEnd(rest: string): number | undefined {
  if (rest.startsWith('<?')) return after(rest, '?>');
  if (!/^<!doctype/i.test(rest)) return undefined;
  const bracket = rest.indexOf('[');
  const close = rest.indexOf('>');
  return bracket !== -1 && bracket < close ? after(rest, ']', '>') : after(rest, '>');
}

/** Just past the given marks, in that order; undefined when one is missing. */
function after(rest: string, ...marks: string[]): number | undefined {
  let at = 0;
  for (const mark of marks) {
    const found = rest.indexOf(mark, at);
    if (found === -1) return undefined;
    at = found + mark.length;
  }
  return at;
}

function text(bytes: Uint8Array): string {
  const head = bytes.subarray(0, 512);
  const root = rootElement(bytes);
  if (root === 'html' || /^\s*<!doctype html/i.test(Buffer.from(head).toString('utf8')))
    return 'HTML';
  if (root !== undefined) return `XML or HTML that starts with <${root.slice(0, 20)}>`;
  return isText(bytes) ? 'text' : 'of no kind that it knows';
}

/** UTF-8, with its mark or without it, and nothing that no editor shows. */
function isText(bytes: Uint8Array): boolean {
  // Whole characters: what a cut leaves of the last one is up to three bytes.
  const head = [0, 1, 2, 3]
    .map((less) => bytes.subarray(0, 512 - less))
    .find((each) => isUtf8(each));
  return (
    head?.every((byte) => (byte >= 0x20 && byte !== 0x7f) || [0x09, 0x0a, 0x0d].includes(byte)) ??
    false
  );
}

function startsWith(bytes: Uint8Array, mark: readonly number[]): boolean {
  return mark.every((byte, index) => bytes[index] === byte);
}

function ascii(bytes: Uint8Array, from: number, to: number): string {
  return Buffer.from(bytes.subarray(from, to)).toString('latin1');
}
