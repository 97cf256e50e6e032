import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { checkAssembly } from '../../../cli/deploy/check-assembly.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** An ELF header, as far as the processor's number. */
function library(machine: number): Buffer {
  const header = Buffer.alloc(64);
  header.write('\x7fELF', 'latin1');
  header.writeUInt16LE(machine, 18);
  return header;
}

const X86 = 62;
const ARM = 183;

interface Assets {
  architectures?: string[];
  path?: string;
  index?: boolean;
  machine?: number;
}

/** What a synthesis of one function with a native library writes. */
function assembly({ architectures = ['arm64'], path, index = true, machine = ARM }: Assets) {
  const folder = mkdtempSync(join(tmpdir(), 'glimpse-assembly-'));
  folders.push(folder);
  const asset = path ?? 'asset.1';
  mkdirSync(join(folder, 'asset.1/node_modules'), { recursive: true });
  if (index) writeFileSync(join(folder, 'asset.1/index.js'), '');
  writeFileSync(join(folder, 'asset.1/node_modules/libvips-cpp.so.42'), library(machine));
  const Resources = Object.fromEntries(
    architectures.map((name, at) => [
      `F${at}`,
      { Type: 'AWS::Lambda::Function', Properties: { Architectures: [name] } },
    ]),
  );
  writeFileSync(
    join(folder, 'Glimpse.template.json'),
    JSON.stringify({ Resources: { ...Resources, Q: { Type: 'AWS::SQS::Queue' } } }),
  );
  const file = { displayName: 'Worker/Code', source: { path: asset, packaging: 'zip' } };
  writeFileSync(join(folder, 'Glimpse.assets.json'), JSON.stringify({ files: { 1: file } }));
  return folder;
}

test('what is whole is counted', () => {
  expect(checkAssembly(assembly({}))).toEqual({
    assets: 1,
    bytes: 64 + ''.length,
    architecture: 'arm64',
  });
  const other = assembly({ architectures: ['x86_64', 'x86_64'], machine: X86 });
  expect(checkAssembly(other).architecture).toBe('x86_64');
});

test('the wrong architecture, a library of the builder’s processor, is not deployed', () => {
  expect(() => checkAssembly(assembly({ machine: X86 }))).toThrow(
    /^The asset of Worker\/Code holds a library for another processor than arm64: .*libvips-cpp.so.42\.$/,
  );
});

test('a synthesis that bundled nothing would upload the whole project, and is not deployed', () => {
  expect(() => checkAssembly(assembly({ path: tmpdir() }))).toThrow(
    /^The asset of Worker\/Code is the folder .* got from a synthesis without bundling: remove /,
  );
  expect(() => checkAssembly(assembly({ index: false }))).toThrow(/has no index\.js/);
});

test('functions of several architectures, or none, are no assembly of ours', () => {
  const mixed = assembly({ architectures: ['arm64', 'x86_64'] });
  expect(() => checkAssembly(mixed)).toThrow(
    'Expected functions of one architecture, got arm64, x86_64.',
  );
  expect(() => checkAssembly(assembly({ architectures: [] }))).toThrow('got none.');
});
