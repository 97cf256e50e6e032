import * as z from 'zod';

/** What a file may hold before it is refused, without a cent spent. */
export const fileLimitsSchema = z.strictObject({
  /** Bytes. S3 takes no more than 5 GB by one form. */
  maxBytes: z.int().min(1).max(5_000_000_000),
  /** Without the header. */
  maxRows: z.int().min(1).max(10_000_000),
  maxColumns: z.int().min(1).max(10_000),
  /** UTF-16 units of one cell. */
  maxFieldCharacters: z.int().min(1).max(1_000_000),
});

/** Rows a message. */
export const chunkRowsSchema = z.int().min(1).max(1000);

export const retentionSchema = z.strictObject({
  /** Days that S3 keeps a source and its chunks: the rows that failed can be tried again so long. */
  sourceDays: z.int().min(1).max(3650),
  /** Days that the table keeps an import and its rows. */
  importDays: z.int().min(1).max(3650),
});

export const importLimitsSchema = z.strictObject({
  ...fileLimitsSchema.shape,
  chunkRows: chunkRowsSchema,
  ...retentionSchema.shape,
});

export type ImportLimits = z.infer<typeof importLimitsSchema>;
