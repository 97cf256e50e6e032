import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { synthesise } from '../../../local/synthesis.ts';

// An application that notes each of its runs, in place of the real one, which takes seconds.
const NOTING = `
import { appendFileSync, mkdirSync } from 'node:fs';
mkdirSync(process.env.CDK_OUTDIR, { recursive: true });
appendFileSync(process.env.CDK_OUTDIR + '/runs', process.env.CDK_CONTEXT_JSON);
`;

let root: string;
const app = (code: string) => writeFileSync(join(root, 'cdk', 'app.ts'), code);

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'glimpse-synthesis-'));
  mkdirSync(join(root, 'cdk'));
  mkdirSync(join(root, 'functions', 'one'), { recursive: true });
  app(NOTING);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test('is done again only if something that goes in has changed', async () => {
  const cdkOut = await synthesise(root);
  const runs = () => readFileSync(join(cdkOut, 'runs'), 'utf8');
  expect(runs()).toBe('{"local":"true"}');
  expect(await synthesise(root)).toBe(cdkOut);
  expect(runs()).toBe('{"local":"true"}');
  writeFileSync(join(root, 'functions', 'one', 'handler.ts'), 'changed');
  await synthesise(root);
  expect(runs()).toBe('{"local":"true"}{"local":"true"}');
});

test("says a mistake in the configuration in the configuration's own sentence", async () => {
  app(`throw new Error('cdk/config.ts: variants[0].width: expected a number, got "1".');`);
  await expect(synthesise(root)).rejects.toThrow(
    /^cdk\/config\.ts: variants\[0\]\.width: expected a number, got "1"\.$/,
  );
  // And does not take what it left for a finished one.
  app(NOTING);
  expect(readFileSync(join(await synthesise(root), 'runs'), 'utf8')).toBe('{"local":"true"}');
});

test('shows all of a mistake in the code', async () => {
  app('undefined.property;');
  await expect(synthesise(root)).rejects.toThrow(
    /could not be synthesised:[\s\S]*TypeError[\s\S]*app\.ts/,
  );
});
