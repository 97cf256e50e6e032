import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, inject, test } from 'vitest';

test('placeholder', () => {
  expect(readdirSync(inject('here').folder).length).toBeGreaterThan(5);
  expect(readFileSync(join(inject('other').folder, 'manifest.json')).length).toBeGreaterThan(5);
});
