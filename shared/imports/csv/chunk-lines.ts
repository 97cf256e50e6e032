import * as z from 'zod';
import { GlimpseError } from '../../errors.ts';
import { isBlank } from './columns.ts';
import type { CsvRow } from './read-csv.ts';

/** A chunk's text is not what an import writes: no retry makes it readable. */
export class MalformedChunkError extends GlimpseError {
  override readonly name = 'MalformedChunkError';
  readonly code = 'malformed-chunk';
  readonly blame = 'permanent';
}

const chunkRowSchema = z.strictObject({
  row: z.int().min(1),
  line: z.int().min(1),
  /** The merchandiser's own, not always distinct; the row's number where there is none. */
  id: z.string().min(1),
  cells: z.array(z.string()),
  /** Some cells were cut: they are whole in an object of their own. */
  isCut: z.literal(true).optional(),
  problem: z.string().optional(),
});

/** A row as a chunk holds it. */
export type ChunkRow = z.infer<typeof chunkRowSchema>;

/** @param idColumn its place, from 0, if the import has one. */
export function toChunkRow(
  { row, line, cells, whole, problem }: CsvRow,
  idColumn?: number,
): ChunkRow {
  const own = idColumn === undefined ? '' : (cells[idColumn] ?? '');
  return {
    row,
    line,
    id: isBlank(own) ? String(row) : own,
    cells,
    ...(whole === undefined ? {} : { isCut: true }),
    ...(problem === undefined ? {} : { problem }),
  };
}

/** JSON lines. JSON escapes NULs and line ends, so that every row is one line whatever its cells hold. */
export function formatChunk(rows: readonly ChunkRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** @throws MalformedChunkError naming the line that is no row. */
export function parseChunk(text: string): ChunkRow[] {
  // Not `readline`: U+2028 ends a line for some, and cells have it as it is.
  const lines = text.split('\n');
  if (lines.pop() !== '') throw new MalformedChunkError('expected a chunk that ends in a line end');
  return lines.map((line, index) => {
    const row = chunkRowSchema.safeParse(parseJson(line));
    if (row.success) return row.data;
    throw new MalformedChunkError(
      `expected {row, line, id, cells, isCut?, problem?} in line ${index + 1} of a chunk, got ${line.slice(0, 200)}`,
      { cause: row.error },
    );
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
