import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

/** How far a command has come, kept in a file until it is done. */
export interface Position {
  after?: string;
  save: (after: string) => Promise<void>;
  clear: () => Promise<void>;
}

const FOLDER = '.glimpse/backfill';

const savedSchema = z.object({ after: z.string() });

/** @param identity what makes the command the same one: another bucket or option is another. */
export async function openPosition(identity: unknown, restart: boolean): Promise<Position> {
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 16);
  const file = join(FOLDER, `${digest}.json`);
  const saved = restart ? undefined : await readSaved(file);
  return {
    ...(saved === undefined ? {} : { after: saved }),
    save: async (after) => {
      await mkdir(FOLDER, { recursive: true });
      await writeFile(file, JSON.stringify({ after }));
    },
    clear: () => rm(file, { force: true }),
  };
}

async function readSaved(file: string): Promise<string | undefined> {
  try {
    return savedSchema.parse(JSON.parse(await readFile(file, 'utf8'))).after;
  } catch {
    // None, or one that was being written when its command was killed: begin again, which is safe.
    return undefined;
  }
}
