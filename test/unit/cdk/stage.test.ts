import { expect, test } from 'vitest';
import { stages } from '../../../cdk/config.ts';
import { parseConfig } from '../../../cdk/config-schema.ts';
import { stageOf } from '../../../cdk/stage.ts';

test('the first stage has the plain name, and every other its own', () => {
  expect(stageOf(stages, 'production').stackName).toBe('Glimpse');
  expect(stageOf(stages, 'staging').stackName).toBe('Glimpse-staging');
});

test('every stage’s configuration is right', () => {
  for (const config of Object.values(stages)) expect(() => parseConfig(config)).not.toThrow();
});

test('a stage that there is not, or that no stack can be named after, is refused', () => {
  expect(() => stageOf(stages, 'prod')).toThrow(
    'cdk/config.ts: stages: expected one of production, staging, got "prod".',
  );
  expect(() => stageOf(stages, 'toString')).toThrow('got "toString"');
  expect(() => stageOf({ 'A b': {} }, 'A b')).toThrow(
    'expected names of up to 40 lower-case letters, digits and hyphens, got "A b".',
  );
});
