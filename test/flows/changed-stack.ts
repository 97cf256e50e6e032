import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A synthesised stack with another template and the same bundles. Below the project's folder, where
 * the bundles find sharp.
 */
export async function changedStack(
  root: string,
  cdkOut: string,
  change: (template: string) => string,
): Promise<string> {
  const folder = await mkdtemp(join(root, '.glimpse/changed-'));
  for (const name of await readdir(cdkOut)) await symlink(join(cdkOut, name), join(folder, name));
  const file = join(folder, 'Glimpse.template.json');
  const template = change(await readFile(file, 'utf8'));
  await rm(file);
  await writeFile(file, template);
  return folder;
}
