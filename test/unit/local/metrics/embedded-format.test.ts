import { expect, test } from 'vitest';
import { embeddedReader, readEmbedded } from '../../../../local/metrics/embedded-format.ts';
import type { Sample } from '../../../../local/metrics/metric-store.ts';

const LINE = JSON.stringify({
  _aws: {
    Timestamp: 1000,
    CloudWatchMetrics: [
      {
        Namespace: 'Glimpse',
        Dimensions: [['service', 'mode'], ['service']],
        Metrics: [
          { Name: 'Calls', Unit: 'Count' },
          { Name: 'Waits', Unit: 'Milliseconds' },
        ],
      },
    ],
  },
  service: 'chunk-worker',
  mode: 'bulk',
  Calls: 3,
  Waits: [1.5, 2],
});

test('a line gives each metric with each of its sets of dimensions', () => {
  expect(readEmbedded(LINE)).toHaveLength(4);
  expect(readEmbedded(LINE)[0]).toEqual({
    namespace: 'Glimpse',
    name: 'Calls',
    unit: 'Count',
    dimensions: { service: 'chunk-worker', mode: 'bulk' },
    at: 1000,
    values: [3],
  });
  expect(readEmbedded(LINE)[3]).toMatchObject({
    dimensions: { service: 'chunk-worker' },
    values: [1.5, 2],
  });
});

test.each([
  '',
  'START RequestId: 1',
  '{"message": "_aws"}',
  '{"_aws": {"Timestamp": "now"}}',
  '{"_aws"',
])('%j gives none', (line) => {
  expect(readEmbedded(line)).toEqual([]);
});

test('text is read in whatever pieces it comes', () => {
  const text = `START\n${LINE}\n${LINE}\nEND\n`;
  for (const size of [1, 7, 100, text.length]) {
    const found: Sample[] = [];
    const read = embeddedReader((samples) => found.push(...samples));
    for (let at = 0; at < text.length; at += size) read(text.slice(at, at + size));
    expect(found).toHaveLength(8);
  }
});
