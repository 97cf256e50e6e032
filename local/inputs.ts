import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A digest of all files that something is made from, so that it is made again only if one changes. */
export function hashInputs(root: string, inputs: readonly string[]): string {
  const hash = createHash('sha256').update(process.version).update(process.arch);
  for (const input of inputs) {
    const path = join(root, input);
    if (!existsSync(path)) continue;
    const files = input.includes('.')
      ? [path]
      : readdirSync(path, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name))
          .sort();
    for (const file of files) hash.update(`\0${file}\0`).update(readFileSync(file));
  }
  return hash.digest('hex');
}
