import * as z from 'zod';

/** What the model is asked, for each row. */
export const promptSettingsSchema = z.strictObject({
  /** Those of an import that brings none of its own. */
  instructions: z.string().trim().min(1).max(4000),
  /** UTF-16 units of a row that the model is shown; the longest values are cut first. */
  maxInputCharacters: z.int().min(500).max(100_000),
  maxOutputTokens: z.int().min(16).max(10_000),
});

export type PromptSettings = z.infer<typeof promptSettingsSchema>;
