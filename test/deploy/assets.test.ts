import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';
import { z } from 'zod';

// What is uploaded, for this machine's processor and for the other one.

const root = resolve(import.meta.dirname, '../..');
/** An ELF file's processor is a number of two bytes, at this place. */
const MACHINE_AT = 18;
const MACHINES = { x86_64: 62, arm64: 183 };

const manifestSchema = z.object({
  files: z.record(
    z.string(),
    z.object({
      displayName: z.string(),
      source: z.object({ path: z.string(), packaging: z.enum(['zip', 'file']) }),
    }),
  ),
});

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));

const isNative = (file: string) => /\.(node|so)(\.\d+)*$/.test(file);

describe.each([inject('here'), inject('other')])(
  'for $architecture',
  ({ folder, architecture }) => {
    const text = readFileSync(join(folder, 'Glimpse.assets.json'), 'utf8');
    const assets = Object.values(manifestSchema.parse(JSON.parse(text)).files);
    const zips = assets.filter(({ source }) => source.packaging === 'zip');

    test('the library that decodes is the one for this processor, and nothing else is native', () => {
      const native = zips.map(({ displayName, source }) => ({
        displayName,
        machines: filesIn(join(folder, source.path))
          .filter(isNative)
          .map((file) => readFileSync(file).readUInt16LE(MACHINE_AT)),
      }));
      const machine = MACHINES[architecture];
      const found = native.filter(({ machines }) => machines.length > 0);
      // sharp itself, and libvips.
      expect(found).toEqual([
        { displayName: 'Thumbnails/Worker/Code', machines: [machine, machine] },
      ]);
    });

    test('cfn-lint has nothing to say of the template', async () => {
      // CDK has a function wait for its role's policies and, beside them, for the role that it names.
      const options = ['--ignore-checks', 'W3005', '--'];
      const template = join(folder, 'Glimpse.template.json');
      const said = await promisify(execFile)('cfn-lint', [...options, template]).catch(
        (error: { stdout?: string; message: string }) => ({
          stdout: error.stdout || `${error.message}: pip install cfn-lint`,
        }),
      );
      expect(said.stdout).toBe('');
    });

    test('no path of the machine that built it is in what is uploaded', () => {
      expect(zips.length).toBeGreaterThan(5);
      for (const { displayName, source } of assets) {
        expect([displayName, isAbsolute(source.path)]).toEqual([displayName, false]);
        const path = join(folder, source.path);
        const files = source.packaging === 'zip' ? filesIn(path) : [path];
        for (const file of files.filter((name) => !isNative(name))) {
          const holds = [root, folder].filter((each) => readFileSync(file, 'utf8').includes(each));
          expect([file, holds]).toEqual([file, []]);
        }
      }
    });
  },
);
