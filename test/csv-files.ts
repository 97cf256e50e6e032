import type { Encoding } from '../shared/imports/csv/encoding.ts';
import type { CsvLimits } from '../shared/imports/csv/limits.ts';
import {
  type CsvFile,
  type CsvOptions,
  type CsvReport,
  type CsvRow,
  openCsv,
} from '../shared/imports/csv/read-csv.ts';
import { CsvRefused } from '../shared/imports/csv/refused.ts';

export const LIMITS: CsvLimits = {
  maxBytes: 100_000_000,
  maxRows: 100_000,
  maxColumns: 100,
  maxFieldCharacters: 10_000,
};

/** The text's bytes. Code pages are turned around from what they decode to. */
export function encode(text: string, encoding: Encoding): Buffer {
  switch (encoding) {
    case 'utf-8':
      return Buffer.from(text);
    case 'utf-16le':
      return Buffer.from(text, 'utf16le');
    case 'utf-16be':
      return Buffer.from(text, 'utf16le').swap16();
    default: {
      const page = repertoire(encoding);
      return Buffer.from(Array.from(text, (character) => page.indexOf(character)));
    }
  }
}

/** The characters of a code page of one byte, by their bytes. */
export function repertoire(encoding: Encoding): string[] {
  const decoder = new TextDecoder(encoding);
  return Array.from({ length: 256 }, (_, byte) => decoder.decode(Uint8Array.of(byte)));
}

/** The bytes in chunks of these sizes, over and over. */
async function* chunked(
  bytes: Uint8Array,
  sizes: readonly number[] = [bytes.length],
): AsyncGenerator<Uint8Array> {
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

export interface Outcome {
  rows: CsvRow[];
  file: CsvFile | undefined;
  report: CsvReport | undefined;
  refusal: CsvRefused | undefined;
}

/** All rows of a file, or those before its refusal. Any other error is thrown. */
export async function read(
  content: string | Uint8Array,
  options: Partial<CsvOptions> & { sizes?: readonly number[] } = {},
): Promise<Outcome> {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const { sizes, ...others } = options;
  const outcome: Outcome = { rows: [], file: undefined, report: undefined, refusal: undefined };
  try {
    outcome.file = await openCsv(chunked(bytes, sizes), { limits: LIMITS, ...others });
    for await (const batch of outcome.file.batches) outcome.rows.push(...batch);
  } catch (error) {
    if (!(error instanceof CsvRefused)) throw error;
    outcome.refusal = error;
  }
  outcome.report = outcome.file?.report();
  return outcome;
}
