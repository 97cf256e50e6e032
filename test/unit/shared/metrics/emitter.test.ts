import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readEmbedded } from '../../../../local/metrics/embedded-format.ts';
import { createEmitter } from '../../../../shared/metrics/emitter.ts';

const TABLE = {
  Hits: { unit: 'Count', services: ['api'] },
  AnswerTime: { unit: 'Milliseconds', services: ['api'], dimensions: { answer: ['warm', 'cold'] } },
} as const;

const lines: string[] = [];
beforeEach(() => {
  lines.length = 0;
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'api');
  vi.stubEnv('POWERTOOLS_METRICS_NAMESPACE', 'Glimpse');
  // Its own console writes past everything.
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'false');
  vi.spyOn(console, 'log').mockImplementation((line) => lines.push(String(line)));
});
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const emitted = () => lines.flatMap(readEmbedded);

test('what a table defines is emitted with its unit and its dimensions, a line a set of them', () => {
  const metrics = createEmitter(TABLE);
  metrics.add('Hits', 2);
  metrics.add('Hits', 3);
  metrics.add('AnswerTime', 10, { answer: 'warm' });
  metrics.add('AnswerTime', 20, { answer: 'cold' });
  expect(lines).toEqual([]);
  metrics.publishStoredMetrics();
  expect(lines).toHaveLength(3);
  expect(emitted()).toMatchObject([
    {
      namespace: 'Glimpse',
      name: 'Hits',
      unit: 'Count',
      dimensions: { service: 'api' },
      values: [2, 3],
    },
    {
      name: 'AnswerTime',
      unit: 'Milliseconds',
      dimensions: { service: 'api', answer: 'warm' },
      values: [10],
    },
    { name: 'AnswerTime', dimensions: { service: 'api', answer: 'cold' }, values: [20] },
  ]);
  expect(metrics.hasStoredMetrics()).toBe(false);
  metrics.add('Hits', 1);
  metrics.publishStoredMetrics();
  expect(lines).toHaveLength(4);
});

test('what is past is told at once, as of its time', () => {
  const at = Date.now() - 20_000;
  createEmitter(TABLE).addAt(at, { Hits: 4 });
  expect(emitted()).toMatchObject([{ name: 'Hits', at, values: [4] }]);
});
