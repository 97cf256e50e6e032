import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';

const manifestSchema = z.looseObject({
  files: z.record(z.string(), z.looseObject({ source: z.looseObject({ path: z.string() }) })),
});

/** Folders of the functions' bundles, by the key under which CDK would upload them. */
export type Assets = (s3Key: string) => string;

export async function readAssets(cdkOut: string, stack: string): Promise<Assets> {
  const text = await readFile(join(cdkOut, `${stack}.assets.json`), 'utf8');
  const { files } = manifestSchema.parse(JSON.parse(text));
  return (s3Key) => {
    const file = files[s3Key.replace(/\.zip$/, '')];
    if (file === undefined) throw new Error(`${stack}.assets.json has no asset ${s3Key}.`);
    return resolve(cdkOut, file.source.path);
  };
}
