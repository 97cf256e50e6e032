import { resolve } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, test } from 'vitest';

test('an error of a bundle has the name of its class, of which minifying leaves some letters', async () => {
  const { outputFiles } = buildSync({
    entryPoints: [resolve(import.meta.dirname, '../../../shared/errors.ts')],
    minify: true,
    format: 'esm',
    write: false,
  });
  const bundle = `data:text/javascript,${encodeURIComponent(outputFiles[0]?.text ?? '')}`;
  const { GlimpseError, ...classes } = await import(/* @vite-ignore */ bundle);
  expect(Object.keys(classes)).toContain('UnsupportedError');
  for (const [name, Class] of Object.entries<new (message: string) => Error>(classes)) {
    expect(Class.name).not.toBe(name);
    expect(new Class('what it says')).toMatchObject({ name, message: 'what it says' });
  }
});
