import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import * as z from 'zod';

// What is about to be uploaded, looked at before it is: a synthesis that bundled nothing, or for
// another processor, deploys without a complaint and fails in every call afterwards.

/** An ELF file's processor is a number of two bytes, at this place. */
const MACHINE_AT = 18;
const MACHINES: Record<string, number> = { x86_64: 62, arm64: 183 };

/** Zipped it is about a third of this: what Lambda takes unzipped. */
const MOST_BYTES = 250 * 1024 * 1024;

const manifestSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      displayName: z.string(),
      source: z.object({ path: z.string(), packaging: z.enum(['zip', 'file']) }),
    }),
  ),
});

const functionSchema = z.object({
  Type: z.literal('AWS::Lambda::Function'),
  Properties: z.object({ Architectures: z.tuple([z.string()]) }),
});

const templateSchema = z.object({ Resources: z.record(z.string(), z.unknown()) });

export interface Assembly {
  assets: number;
  bytes: number;
  architecture: string;
}

/** @throws one sentence that names the first asset that must not be deployed. */
export function checkAssembly(folder: string): Assembly {
  const read = (name: string): unknown => JSON.parse(readFileSync(join(folder, name), 'utf8'));
  const architecture = architectureOf(
    templateSchema.parse(read('Glimpse.template.json')).Resources,
  );
  const { files } = manifestSchema.parse(read('Glimpse.assets.json'));
  const zips = Object.values(files).filter(({ source }) => source.packaging === 'zip');
  let bytes = 0;
  for (const { displayName, source } of zips) {
    const refuse = (what: string) => new Error(`The asset of ${displayName} ${what}.`);
    if (isAbsolute(source.path)) {
      throw refuse(
        `is the folder ${source.path} itself, got from a synthesis without bundling: remove ${folder} and begin again`,
      );
    }
    const path = join(folder, source.path);
    if (!existsSync(join(path, 'index.js'))) {
      throw refuse(`has no index.js: remove ${folder} and begin again`);
    }
    const contents = filesIn(path).map((file) => ({ file, content: readFileSync(file) }));
    const size = contents.reduce((sum, { content }) => sum + content.length, 0);
    if (size > MOST_BYTES) {
      throw refuse(`has ${size} bytes: expected at most ${MOST_BYTES}, what Lambda takes`);
    }
    const strange = contents.find(
      ({ file, content }) =>
        isNative(file) && content.readUInt16LE(MACHINE_AT) !== MACHINES[architecture],
    );
    if (strange !== undefined) {
      throw refuse(`holds a library for another processor than ${architecture}: ${strange.file}`);
    }
    bytes += size;
  }
  return { assets: zips.length, bytes, architecture };
}

function architectureOf(resources: Record<string, unknown>): string {
  const found = Object.values(resources).flatMap((resource) => {
    const parsed = functionSchema.safeParse(resource);
    return parsed.success ? parsed.data.Properties.Architectures : [];
  });
  const [architecture, ...others] = new Set(found);
  if (architecture === undefined || others.length > 0) {
    throw new Error(`Expected functions of one architecture, got ${found.join(', ') || 'none'}.`);
  }
  return architecture;
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

const isNative = (file: string) => /\.(node|so)(\.\d+)*$/.test(file);
