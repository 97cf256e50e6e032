import { Dashboard, type IMetric, type IWidget } from 'aws-cdk-lib/aws-cloudwatch';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import type { Construct } from 'constructs';
import { type LinePlan, MODES, type Numbers } from '../../../shared/fleet/numbers.ts';
import { SUMMARY_METRICS } from '../../../shared/metrics/summaries.ts';
import type { Config } from '../../config-schema.ts';
import { EACH_MINUTE } from '../alarm.ts';
import { type Summaries, WAIT_SECONDS } from '../summaries.ts';
import { dashboardName } from './dashboard-name.ts';
import { summaryMetric as own } from './own-metric.ts';
import * as prices from './prices.ts';
import { atOnce, graph, words, worked } from './widgets.ts';

type Mode = (typeof MODES)[number];

/** The part of an account from which on it counts as used. */
const USED = 0.9;

const PERCENTILES = ['p50', 'p95', 'p99'] as const;

export interface SummariesDashboardProps {
  config: Config;
  summaries: Summaries;
}

/** Whether the account is used, and if not, what stands in the way. */
export function summariesDashboard(scope: Construct, props: SummariesDashboardProps): Dashboard {
  return new Dashboard(scope, 'Summaries', {
    dashboardName: dashboardName('summaries'),
    start: '-PT1H',
    widgets: [
      [
        words(
          [
            '# Summaries',
            'Read *what limits it* with *depth*: chunks wait and the account is used: **quota** (ask for more, shorten the prompt). Nothing waits and workers are idle: the **producer** (there is no more to do). Chunks wait and the account is not used: the gap is **inside** (the waits say where: gate, allowance, yield, refusal). Throughput × service time must come to the calls in flight that the plan allows. What each alarm means is in docs/runbook.md.',
          ].join('\n'),
          3,
        ),
      ],
      used(props),
      limits(props),
      calls(),
      imports(props),
      trouble(props),
    ],
  });
}

type OfWorker =
  | 'GateWait'
  | 'AllowanceWait'
  | 'YieldWait'
  | 'RefusedWait'
  | 'CallsRefused'
  | 'CallsFailed'
  | 'RowsDone'
  | 'RowsFailed'
  | 'ChunksHandedBack';

/** Of both modes. A metric has one name in a graph. */
function ofBoth(label: string, name: OfWorker): IMetric {
  const [watched, bulk] = [`interactive_${name}`, `bulk_${name}`];
  return worked(label, `FILL(${watched}, 0) + FILL(${bulk}, 0)`, {
    [watched]: own(name, {}, { mode: 'interactive' }),
    [bulk]: own(name, {}, { mode: 'bulk' }),
  });
}

/** How many rows of both modes waited at once, on average. */
function waitingFor(label: string, name: OfWorker): IMetric {
  const [watched, bulk] = [`interactive_${name}`, `bulk_${name}`];
  return worked(label, `(FILL(${watched}, 0) + FILL(${bulk}, 0)) / 1000 / PERIOD(${bulk})`, {
    [watched]: own(name, {}, { mode: 'interactive' }),
    [bulk]: own(name, {}, { mode: 'bulk' }),
  });
}

const accountLines = (plan: Numbers, of: (line: LinePlan) => number | null) =>
  plan.lines.flatMap((line) => {
    const value = of(line);
    const whose = line.line === 'shared' ? 'allowance' : `allowance, ${line.line}`;
    return value === null ? [] : [{ value, label: whose }];
  });

function used({ summaries: { plan } }: SummariesDashboardProps): IWidget[] {
  return [
    graph({
      title: 'Calls in flight: throughput × service time',
      unit: 'at once',
      metrics: MODES.map((mode) => atOnce(mode, mode, own('CallTime', {}, { mode }))),
      stacked: true,
      lines: [{ value: plan.fleetBound, label: 'fleet bound' }],
    }),
    graph({
      title: 'Requests a minute',
      unit: 'a minute',
      stacked: true,
      metrics: MODES.map((mode) => own('Calls', { label: mode }, { mode })),
      lines: accountLines(plan, ({ account }) => account.requestsPerMinute),
    }),
    graph({
      title: 'Tokens a minute',
      unit: 'a minute',
      stacked: true,
      metrics: MODES.flatMap((mode) => [
        own('InputTokens', { label: `${mode}, input` }, { mode }),
        own('OutputTokens', { label: `${mode}, output` }, { mode }),
      ]),
      lines: accountLines(plan, ({ account }) => account.tokensPerMinute),
    }),
  ];
}

function limits({ summaries: { plan, queues, workers } }: SummariesDashboardProps): IWidget[] {
  const ceiling = MODES.map((mode) => plan[mode].processes * plan[mode].batchChunks);
  return [
    graph({
      title: 'What limits it: 1 where it is so',
      unit: 'yes or no',
      max: 1,
      metrics: plan.lines.flatMap((line) => diagnoses(line, { queues, workers })),
    }),
    graph({
      title: 'Depth against the ceiling',
      unit: 'chunks',
      metrics: MODES.map((mode) => depthOf(queues[mode], mode)),
      lines: MODES.map((mode, index) => ({
        value: ceiling[index] ?? 0,
        label: `${mode}: taken at once, at most`,
      })),
    }),
    graph({
      title: 'Workers at once, measured',
      unit: 'at once',
      metrics: MODES.map((mode) =>
        workers[mode].metric('ConcurrentExecutions', {
          ...EACH_MINUTE,
          statistic: 'Maximum',
          label: mode,
        }),
      ),
      lines: MODES.map((mode) => ({ value: plan[mode].processes, label: `${mode}: ceiling` })),
    }),
  ];
}

const depthOf = (queue: Queue, label: string): IMetric =>
  queue.metricApproximateNumberOfMessagesVisible({
    ...EACH_MINUTE,
    statistic: 'Maximum',
    label,
  });

function diagnoses(
  line: LinePlan,
  { queues, workers }: Pick<Summaries, 'queues' | 'workers'>,
): IMetric[] {
  const { modes, account, decidedBy, processes } = line;
  const whose = line.line === 'shared' ? '' : ` (${line.line})`;
  const id = (what: string, mode: Mode) => `${what}_${mode}`;
  const all = (what: string) => modes.map((mode) => `FILL(${id(what, mode)}, 0)`).join(' + ');
  const bound =
    decidedBy === 'requests' ? account.requestsPerMinute : (account.tokensPerMinute ?? 0);
  const spent = decidedBy === 'requests' ? all('calls') : `${all('input')} + ${all('output')}`;
  // Where there is more than one account, each has its own names, and a metric has one name in a graph.
  const of = new Map(
    modes.flatMap((mode): [string, IMetric][] => [
      [id('depth', mode), depthOf(queues[mode], `${mode} depth`)],
      [
        id('busy', mode),
        workers[mode].metric('ConcurrentExecutions', { ...EACH_MINUTE, statistic: 'Maximum' }),
      ],
      ...(decidedBy === 'requests'
        ? [[id('calls', mode), own('Calls', {}, { mode })] satisfies [string, IMetric]]
        : [
            [id('input', mode), own('InputTokens', {}, { mode })] satisfies [string, IMetric],
            [id('output', mode), own('OutputTokens', {}, { mode })] satisfies [string, IMetric],
          ]),
    ]),
  );
  const waits = `(${all('depth')}) > 0`;
  const isUsed = `(${spent}) >= ${USED * bound}`;
  const named = (...whats: string[]) =>
    Object.fromEntries(
      [...of].filter(([name]) => whats.some((what) => name.startsWith(`${what}_`))),
    );
  const amounts = decidedBy === 'requests' ? ['calls'] : ['input', 'output'];
  return [
    worked(
      `quota: chunks wait, the account is used${whose}`,
      `IF(${waits} AND ${isUsed}, 1, 0)`,
      named('depth', ...amounts),
    ),
    worked(
      `inside: chunks wait, the account is not used${whose}`,
      `IF(${waits} AND (${spent}) < ${USED * bound}, 1, 0)`,
      named('depth', ...amounts),
    ),
    worked(
      `producer: nothing waits, workers are idle${whose}`,
      `IF((${all('depth')}) == 0 AND (${all('busy')}) < ${processes}, 1, 0)`,
      named('depth', 'busy'),
    ),
  ];
}

function calls(): IWidget[] {
  const waits = [
    ['a place in their process (gate)', 'GateWait'],
    ['the allowance', 'AllowanceWait'],
    ['other callers (yield)', 'YieldWait'],
    ['after refusals', 'RefusedWait'],
  ] as const;
  return [
    graph({
      title: 'Rows that wait at once, by what for',
      unit: 'rows',
      stacked: true,
      metrics: waits.map(([label, name]) => waitingFor(label, name)),
    }),
    graph({
      title: 'Refusals and failures of the provider',
      unit: 'a minute',
      metrics: [
        ofBoth('refused for the rate', 'CallsRefused'),
        ofBoth('failed otherwise', 'CallsFailed'),
      ],
    }),
    graph({
      title: 'Service time of a call',
      unit: 'ms',
      metrics: MODES.flatMap((mode) =>
        PERCENTILES.map((statistic) =>
          own('ServiceTime', { statistic, label: `${mode} ${statistic}` }, { mode }),
        ),
      ),
    }),
  ];
}

function imports({ config, summaries: { workers } }: SummariesDashboardProps): IWidget[] {
  const { inputUsdPerMillion, outputUsdPerMillion } = config.summaries.prices;
  const perMs =
    ((config.summaries.memoryMb.worker / 1024) * prices.LAMBDA_GB_SECOND[config.architecture]) /
    1000;
  const duration = (mode: Mode) =>
    workers[mode].metricDuration({ ...EACH_MINUTE, statistic: 'Sum' });
  const rows = '(FILL(done_i, 0) + FILL(done_b, 0) + FILL(failed_i, 0) + FILL(failed_b, 0))';
  const provider = `((FILL(in_i, 0) + FILL(in_b, 0)) * ${inputUsdPerMillion} + (FILL(out_i, 0) + FILL(out_b, 0)) * ${outputUsdPerMillion}) / 1000000`;
  const ofMode = (name: 'InputTokens' | 'OutputTokens' | 'RowsDone' | 'RowsFailed', mode: Mode) =>
    own(name, {}, { mode });
  const tokens = {
    in_i: ofMode('InputTokens', 'interactive'),
    in_b: ofMode('InputTokens', 'bulk'),
    out_i: ofMode('OutputTokens', 'interactive'),
    out_b: ofMode('OutputTokens', 'bulk'),
  };
  return [
    graph({
      title: 'Imports',
      unit: 'imports',
      metrics: [
        own('ImportsRunning', { statistic: 'Maximum', label: 'running' }),
        own('ImportsStalled', { statistic: 'Maximum', label: 'stalled' }),
        finished(),
        own('ImportsRefused', { label: 'files refused' }),
      ],
    }),
    graph({
      title: 'Rows',
      unit: 'a minute',
      stacked: true,
      metrics: [ofBoth('done', 'RowsDone'), ofBoth('failed', 'RowsFailed')],
    }),
    graph({
      title: 'Cost of a thousand rows, by the configured prices',
      unit: 'US dollars',
      metrics: [
        worked('provider', `1000 * ${provider} / ${rows}`, {
          ...tokens,
          done_i: ofMode('RowsDone', 'interactive'),
          done_b: ofMode('RowsDone', 'bulk'),
          failed_i: ofMode('RowsFailed', 'interactive'),
          failed_b: ofMode('RowsFailed', 'bulk'),
        }),
        worked(
          'workers’ time',
          `1000 * (FILL(busy_i, 0) + FILL(busy_b, 0)) * ${perMs.toFixed(12)} / ${rows}`,
          {
            busy_i: duration('interactive'),
            busy_b: duration('bulk'),
            done_i: ofMode('RowsDone', 'interactive'),
            done_b: ofMode('RowsDone', 'bulk'),
            failed_i: ofMode('RowsFailed', 'interactive'),
            failed_b: ofMode('RowsFailed', 'bulk'),
          },
        ),
      ],
    }),
  ];
}

/** Whoever it is that counts the last chunk. */
function finished(): IMetric {
  const { services } = SUMMARY_METRICS.ImportsCompleted;
  const ids = services.map((_, index) => `by_${index}`);
  return worked(
    'finished',
    ids.map((id) => `FILL(${id}, 0)`).join(' + '),
    Object.fromEntries(
      services.map((service, index) => [`by_${index}`, own('ImportsCompleted', { service })]),
    ),
  );
}

function trouble({ summaries }: SummariesDashboardProps): IWidget[] {
  const { queues, workers, intake, reaper } = summaries;
  const sum = { ...EACH_MINUTE, statistic: 'Sum' };
  const oldest = { ...EACH_MINUTE, statistic: 'Maximum' };
  return [
    graph({
      title: 'Oldest message',
      unit: 's',
      metrics: [
        queues.jobs.metricApproximateAgeOfOldestMessage({ ...oldest, label: 'files and exports' }),
        ...MODES.map((mode) =>
          queues[mode].metricApproximateAgeOfOldestMessage({ ...oldest, label: mode }),
        ),
      ],
      lines: [{ value: WAIT_SECONDS, label: 'alarm: interactive' }],
    }),
    graph({
      title: 'Time of a chunk',
      unit: 'ms',
      metrics: MODES.flatMap((mode) =>
        (['p50', 'p95'] as const).map((statistic) =>
          own('ChunkDuration', { statistic, label: `${mode} ${statistic}` }, { mode }),
        ),
      ),
    }),
    graph({
      title: 'Trouble',
      unit: 'a minute',
      metrics: [
        own('ChunksGivenUp', { label: 'chunks given up' }),
        own('JobsGivenUp', { label: 'jobs given up' }),
        ofBoth('chunks handed back', 'ChunksHandedBack'),
        ...MODES.map((mode) => workers[mode].metricErrors({ ...sum, label: `${mode}: errors` })),
        ...MODES.map((mode) =>
          workers[mode].metricThrottles({ ...sum, label: `${mode}: throttles` }),
        ),
        intake.metricErrors({ ...sum, label: 'intake: errors' }),
        reaper.metricErrors({ ...sum, label: 'reaper: errors' }),
      ],
    }),
  ];
}
