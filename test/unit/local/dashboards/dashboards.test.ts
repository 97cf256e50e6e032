import { describe, expect, test } from 'vitest';
import { createDashboards } from '../../../../local/dashboards/dashboards.ts';
import { createMetricStore } from '../../../../local/metrics/metric-store.ts';

const NOW = 1_800_000_030_000;
const place = { x: 0, y: 0, width: 8, height: 7 };
const HITS = ['Glimpse', 'Hits', 'service', 'thumbnail-api'];
const MISSES = ['Glimpse', 'Misses', 'service', 'thumbnail-api'];

const chart = (properties: object = {}) => ({
  type: 'metric',
  ...place,
  properties: {
    title: 'Warm',
    view: 'timeSeries',
    stacked: false,
    region: 'us-east-1',
    period: 60,
    metrics: [[...HITS, { stat: 'Sum' }]],
    yAxis: { left: { label: '%', min: 0, showUnits: false } },
    legend: { position: 'bottom' },
    ...properties,
  },
});
const store = createMetricStore(() => NOW);
const of = (...widgets: object[]) =>
  createDashboards(
    [{ name: 'thumbnails', body: JSON.stringify({ start: '-PT1H', widgets }) }],
    store,
    () => NOW,
  );

test('a chart has what was measured, what is worked out of it, its bounds, and the minute that goes on', () => {
  const at = NOW - 60_000;
  store.put({
    namespace: 'Glimpse',
    name: 'Hits',
    dimensions: { service: 'thumbnail-api' },
    at,
    values: [3],
  });
  store.put({
    namespace: 'Glimpse',
    name: 'Misses',
    dimensions: { service: 'thumbnail-api' },
    at: NOW,
    values: [1],
  });
  const metrics = [
    [
      {
        label: 'warm',
        expression: '100 * FILL(hits, 0) / (FILL(hits, 0) + FILL(misses, 0))',
        period: 60,
      },
    ],
    [...HITS, { id: 'hits', visible: false, stat: 'Sum', period: 60 }],
    [...MISSES, { id: 'misses', label: 'cold', stat: 'Sum', period: 60 }],
  ];
  const annotations = { horizontal: [{ value: 90, label: 'good', yAxis: 'left' }] };
  const [dashboard] = of(chart({ metrics, annotations }), {
    type: 'text',
    ...place,
    properties: { markdown: '# Words' },
  }).draw(3);
  const minute = Math.floor(NOW / 60_000) * 60;
  expect(dashboard?.widgets).toEqual([
    {
      kind: 'chart',
      ...place,
      title: 'Warm',
      unit: '%',
      stacked: false,
      max: undefined,
      bounds: [{ value: 90, label: 'good', yAxis: 'left' }],
      times: [minute - 120, minute - 60, minute],
      lines: [
        { label: 'warm', values: [null, 100, 0] },
        { label: 'cold', values: [null, null, 1] },
      ],
    },
    { kind: 'text', ...place, markdown: '# Words' },
  ]);
});

describe('what would be drawn otherwise on AWS stops the start, by name', () => {
  test.each([
    ['a widget', { type: 'log', ...place, properties: {} }, 'widgets.0'],
    ['a view', chart({ view: 'gauge' }), 'widgets.0.properties.view'],
    ['a property', chart({ liveData: true }), 'properties: Unrecognized key: "liveData"'],
    ['a period', chart({ period: 10 }), 'got a period of 10 seconds'],
    [
      'a period of its own',
      chart({ metrics: [[...HITS, { stat: 'Sum', period: 300 }]] }),
      'got 300',
    ],
    ['a statistic', chart({ metrics: [[...HITS, { stat: 'tm90' }]] }), 'the statistic tm90'],
    ['an abbreviation', chart({ metrics: [['.', 'Hits', { stat: 'Sum' }]] }), 'a metric in full'],
    [
      'an option',
      chart({ metrics: [[...HITS, { stat: 'Sum', yAxis: 'right' }]] }),
      'a metric in full',
    ],
    [
      'an expression',
      chart({ metrics: [[{ expression: 'ANOMALY_DETECTION_BAND(m1)' }]] }),
      'ANOMALY_DETECTION_BAND of 1',
    ],
    ['an id', chart({ metrics: [[{ expression: 'm1 * 2' }]] }), 'expected m1 of m1 * 2'],
  ])('%s', (_what, widget, named) => {
    expect(() => of(widget)).toThrow(named);
  });
});
