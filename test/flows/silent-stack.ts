import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * A copy of a synthesised stack whose originals bucket tells nobody of uploads, as one that was
 * there before. Below the project's folder, where the bundles find sharp.
 */
export async function silentStack(root: string, cdkOut: string): Promise<string> {
  const folder = await mkdtemp(join(root, '.glimpse/silent-'));
  await cp(cdkOut, folder, { recursive: true });
  const file = join(folder, 'Glimpse.template.json');
  const template = JSON.parse(await readFile(file, 'utf8'));
  const resources = Object.values<{ Properties?: Record<string, unknown> }>(template.Resources);
  for (const { Properties: properties } of resources) delete properties?.NotificationConfiguration;
  await writeFile(file, JSON.stringify(template));
  return folder;
}
