import { Dashboard, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { THUMBNAIL_METRICS } from '../../../shared/metrics/thumbnails.ts';
import type { Config } from '../../config-schema.ts';
import { EACH_MINUTE } from '../alarm.ts';
import type { Api } from '../api.ts';
import { SLOW_MS, type Thumbnails, WAIT_SECONDS } from '../thumbnails.ts';
import { dashboardName } from './dashboard-name.ts';
import { thumbnailMetric as own } from './own-metric.ts';
import * as prices from './prices.ts';
import { atOnce, graph, words, worked } from './widgets.ts';

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

/** Milliseconds that part the answers to "how long did the viewer wait?". */
const BUCKETS = [
  { range: 'PR(:500)', label: 'under 0.5 s' },
  { range: 'PR(500:2000)', label: '0.5 to 2 s' },
  { range: 'PR(2000:10000)', label: '2 to 10 s' },
  { range: 'PR(10000:)', label: 'over 10 s' },
];

export interface ThumbnailsDashboardProps {
  config: Config;
  thumbnails: Thumbnails;
  api: Api;
}

/** Whether viewers wait, for what, and what that costs. */
export function thumbnailsDashboard(scope: Construct, props: ThumbnailsDashboardProps): Dashboard {
  return new Dashboard(scope, 'Thumbnails', {
    dashboardName: dashboardName('thumbnails'),
    start: '-PT1H',
    widgets: [
      [
        words(
          [
            '# Thumbnails',
            '**Warm** answers cost one read. A **cold** image is claimed once and made once: watch *miss to ready*, then *oldest message*, then *concurrency*. At its bound with messages that age, raise `concurrency`; below it with messages that age, look at errors and throttles. What each alarm means is in docs/runbook.md.',
          ].join('\n'),
          3,
        ),
      ],
      answers(props),
      ready(),
      work(props),
      trouble(props),
    ],
  });
}

function answers({ api }: ThumbnailsDashboardProps): IWidget[] {
  const met = {
    hits: own('Hits', {}),
    misses: own('Misses', {}),
    pending: own('Pending', {}),
    failing: own('Failing', {}),
  };
  const share = (label: string, id: keyof typeof met) =>
    worked(label, `100 * ${id} / (hits + misses + pending + failing)`, met);
  const times = (answer: 'warm' | 'cold') =>
    PERCENTILES.map((statistic) =>
      own('AnswerTime', { statistic, label: `${answer} ${statistic}` }, { answer }),
    );
  return [
    graph({
      title: 'Warm and cold: share of the images that were asked for',
      unit: '%',
      stacked: true,
      max: 100,
      metrics: [
        share('warm', 'hits'),
        share('cold', 'misses'),
        share('being made', 'pending'),
        share('failed', 'failing'),
      ],
    }),
    graph({ title: 'Answer time', unit: 'ms', metrics: [...times('warm'), ...times('cold')] }),
    graph({
      title: 'API: answers, and those that are our fault',
      unit: 'a minute',
      metrics: [
        api.metric('Count', { statistic: 'Sum', label: 'answers' }),
        api.metric('5xx', { statistic: 'Sum', label: '5xx' }),
      ],
    }),
  ];
}

function ready(): IWidget[] {
  const jobs = own('Jobs', {});
  const misses = own('Misses', {});
  const made = own('ImagesMade', {}, { work: 'wanted' });
  return [
    graph({
      title: 'Miss to ready: share of waits',
      unit: '%',
      stacked: true,
      max: 100,
      metrics: BUCKETS.map(({ range, label }) => own('MissToReady', { statistic: range, label })),
    }),
    graph({
      title: 'Miss to ready',
      unit: 'ms',
      metrics: PERCENTILES.map((statistic) => own('MissToReady', { statistic, label: statistic })),
      lines: [{ value: SLOW_MS, label: 'alarm: p95' }],
    }),
    graph({
      title: 'Generations ÷ misses: 1 is one of each',
      unit: 'ratio',
      metrics: [
        worked('generations ÷ claims', 'made / jobs', { made, jobs }),
        worked('claims ÷ misses', 'jobs / misses', { jobs, misses }),
      ],
      lines: [{ value: 1, label: 'made once' }],
    }),
  ];
}

function work({ config, thumbnails }: ThumbnailsDashboardProps): IWidget[] {
  const { worker, queues } = thumbnails;
  const { onDemand, eager } = config.concurrency;
  return [
    graph({
      title: 'Oldest message',
      unit: 's',
      metrics: [
        queues.onDemand.metricApproximateAgeOfOldestMessage({
          ...EACH_MINUTE,
          statistic: 'Maximum',
          label: 'on demand',
        }),
        queues.eager.metricApproximateAgeOfOldestMessage({
          ...EACH_MINUTE,
          statistic: 'Maximum',
          label: 'uploads and backfills',
        }),
      ],
      lines: [{ value: WAIT_SECONDS, label: 'alarm: on demand' }],
    }),
    graph({
      title: 'Concurrency of the worker, measured',
      unit: 'at once',
      metrics: [
        worker.metric('ConcurrentExecutions', {
          ...EACH_MINUTE,
          statistic: 'Maximum',
          label: 'most at once',
        }),
        atOnce(
          'mean: time worked ÷ time',
          'busy',
          worker.metricDuration({ ...EACH_MINUTE, statistic: 'Sum' }),
        ),
      ],
      lines: [{ value: onDemand + eager, label: 'bound' }],
    }),
    graph({
      title: 'Cost of a thousand images (list prices of us-east-1)',
      unit: 'US dollars',
      metrics: [costPerThousand({ config, thumbnails })],
    }),
  ];
}

/** Without the API, which answers warm images too, and without what is stored and what is sent to browsers. */
function costPerThousand({
  config,
  thumbnails,
}: Pick<ThumbnailsDashboardProps, 'config' | 'thumbnails'>): IMetric {
  const { worker } = thumbnails;
  const gb = config.memoryMb.worker / 1024;
  const perMs = (gb * prices.LAMBDA_GB_SECOND[config.architecture]) / 1000;
  // A claim, a record and, for the first of a gallery, its place in the list.
  const anImage = 3 * prices.DYNAMODB_WRITE + prices.S3_GET;
  // Sent, received and deleted.
  const anInvocation = prices.LAMBDA_REQUEST + 3 * prices.SQS_REQUEST;
  const images = '(FILL(wanted, 0) + FILL(created, 0))';
  return worked(
    'worker, S3 requests, DynamoDB, SQS',
    `1000 * (busy * ${exact(perMs)} + calls * ${exact(anInvocation)} + made * ${exact(prices.S3_PUT)} + ${images} * ${exact(anImage)}) / ${images}`,
    {
      busy: worker.metricDuration({ ...EACH_MINUTE, statistic: 'Sum' }),
      calls: worker.metricInvocations({ ...EACH_MINUTE, statistic: 'Sum' }),
      made: own('ThumbnailsMade', {}),
      wanted: own('ImagesMade', {}, { work: 'wanted' }),
      created: own('ImagesMade', {}, { work: 'created' }),
    },
  );
}

/** Metric math knows no exponents. */
const exact = (price: number): string => price.toFixed(12);

function trouble({ thumbnails, api }: ThumbnailsDashboardProps): IWidget[] {
  const { worker } = thumbnails;
  const sum = { ...EACH_MINUTE, statistic: 'Sum' };
  return [
    graph({
      title: 'Images that failed, by class',
      unit: 'a minute',
      stacked: true,
      metrics: THUMBNAIL_METRICS.ImagesFailed.dimensions.class.map((each) =>
        own('ImagesFailed', { label: each }, { class: each }),
      ),
    }),
    graph({
      title: 'Trouble',
      unit: 'a minute',
      metrics: [
        worker.metricErrors({ ...sum, label: 'worker: errors' }),
        worker.metricThrottles({ ...sum, label: 'worker: throttles' }),
        own('Retries', { label: 'messages that come again' }),
        own('ImagesGivenUp', { label: 'given up' }),
        own('JobsUnsent', { label: 'messages not taken' }),
        api.handler.metricErrors({ ...sum, label: 'API: errors' }),
      ],
    }),
    graph({
      title: 'Time to make an image',
      unit: 'ms',
      metrics: PERCENTILES.map((statistic) => own('MakeDuration', { statistic, label: statistic })),
    }),
  ];
}
