import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readDashboard } from '../../local/dashboards/dashboard-body.ts';
import type { MetricDefinition } from '../../shared/metrics/definition.ts';
import { SUMMARY_METRICS } from '../../shared/metrics/summaries.ts';
import { THUMBNAIL_METRICS } from '../../shared/metrics/thumbnails.ts';
import { templateOf } from './synth.ts';

const template = templateOf();
const TABLES: Readonly<Record<string, MetricDefinition>> = {
  ...THUMBNAIL_METRICS,
  ...SUMMARY_METRICS,
};
const root = resolve(import.meta.dirname, '../..');

interface Shown {
  where: string;
  namespace: string;
  name: string;
  dimensions: Record<string, string>;
}

const resourcesOf = (type: string) =>
  Object.entries(template.findResources(type)).map(
    ([id, resource]) =>
      [id, z.object({ Properties: z.record(z.string(), z.unknown()) }).parse(resource)] as const,
  );

/** A reference as the logical id that it is of. */
const referred = (value: unknown): string => {
  const found = z
    .union([
      z.string(),
      z.object({ Ref: z.string() }).transform(({ Ref }) => Ref),
      z
        .object({ 'Fn::GetAtt': z.tuple([z.string(), z.string()]) })
        .transform((to) => to['Fn::GetAtt'][0]),
    ])
    .parse(value);
  return found;
};

const bodies = resourcesOf('AWS::CloudWatch::Dashboard').map(([id, { Properties }]) => {
  const joined = z
    .object({ 'Fn::Join': z.tuple([z.literal(''), z.array(z.unknown())]) })
    .parse(Properties.DashboardBody);
  return [id, joined['Fn::Join'][1].map(referred).join('')] as const;
});

const onDashboards: Shown[] = bodies.flatMap(([id, body]) =>
  readDashboard(id, body).flatMap((widget) =>
    widget.kind === 'text'
      ? []
      : widget.lines.flatMap((line) =>
          line.kind === 'expression' ? [] : [{ where: `${id}, ${widget.title}`, ...line }],
        ),
  ),
);

const dimensionsSchema = z
  .array(z.object({ Name: z.string(), Value: z.unknown().transform(referred) }))
  .transform((all) => Object.fromEntries(all.map(({ Name, Value }) => [Name, Value])));
/** Each stage's own. */
const NAMESPACE = 'AWS::StackName';
const metricSchema = z.object({
  Namespace: z.unknown().transform(referred),
  MetricName: z.string(),
  Dimensions: dimensionsSchema,
});

const watched: Shown[] = resourcesOf('AWS::CloudWatch::Alarm').flatMap(
  ([where, { Properties }]) => {
    const worked = z
      .array(z.object({ MetricStat: z.object({ Metric: metricSchema }).optional() }))
      .optional()
      .parse(Properties.Metrics);
    const metrics =
      worked === undefined
        ? [metricSchema.parse(Properties)]
        : worked.flatMap(({ MetricStat }) => MetricStat?.Metric ?? []);
    return metrics.map(({ Namespace: namespace, MetricName: name, Dimensions: dimensions }) => ({
      where,
      namespace,
      name,
      dimensions,
    }));
  },
);

describe('every metric that is shown or watched', () => {
  const all = [...onDashboards, ...watched];

  test('is one that a function emits with these dimensions, or an AWS service of a resource of the stack', () => {
    expect(all.length).toBeGreaterThan(100);
    const { Resources } = z
      .object({ Resources: z.record(z.string(), z.object({ Type: z.string() })) })
      .parse(template.toJSON());
    const SERVICES: Readonly<Record<string, { dimension: string; type: string; names: string[] }>> =
      {
        'AWS/Lambda': {
          dimension: 'FunctionName',
          type: 'AWS::Lambda::Function',
          names: ['Invocations', 'Errors', 'Throttles', 'Duration', 'ConcurrentExecutions'],
        },
        'AWS/SQS': {
          dimension: 'QueueName',
          type: 'AWS::SQS::Queue',
          names: ['ApproximateAgeOfOldestMessage', 'ApproximateNumberOfMessagesVisible'],
        },
        'AWS/ApiGateway': {
          dimension: 'ApiId',
          type: 'AWS::ApiGatewayV2::Api',
          names: ['Count', '5xx'],
        },
      };
    const unknown = all.filter(({ namespace, name, dimensions }) => {
      if (namespace === NAMESPACE) {
        const { service = '', ...others } = dimensions;
        const { services = [], dimensions: values = {} } = TABLES[name] ?? {};
        return !(
          services.includes(service) &&
          Object.keys(others).sort().join() === Object.keys(values).sort().join() &&
          Object.entries(others).every(([each, value]) => values[each]?.includes(value))
        );
      }
      const service = SERVICES[namespace];
      const [[dimension, id] = []] = Object.entries(dimensions);
      return !(
        service !== undefined &&
        service.dimension === dimension &&
        service.names.includes(name) &&
        Resources[id ?? '']?.Type === service.type
      );
    });
    expect(unknown).toEqual([]);
  });

  test('is named in the source of each function that is said to emit it', () => {
    const missing = Object.entries(TABLES).flatMap(([name, { services }]) =>
      services.filter((folder) => {
        const files = ['handler.ts', 'warm-up.ts'].flatMap((file) => {
          try {
            return [readFileSync(resolve(root, 'functions', folder, file), 'utf8')];
          } catch {
            return [];
          }
        });
        return !files.some((source) => new RegExp(`'${name}'|\\b${name}: usage`).test(source));
      }),
    );
    expect(missing).toEqual([]);
  });

  test('and every metric that is emitted is shown or watched', () => {
    const shown = new Set(all.map(({ name }) => name));
    // Of files, which are read in a moment: for whoever asks.
    const FOR_QUERIES = ['RowsRead', 'ChunksSent'];
    expect(Object.keys(TABLES).filter((name) => !shown.has(name))).toEqual(FOR_QUERIES);
  });
});

test('both dashboards have what an operator asks for', () => {
  const titles = bodies.map(([id, body]) =>
    readDashboard(id, body).flatMap((widget) => (widget.kind === 'text' ? [] : [widget.title])),
  );
  expect(titles).toEqual([
    [
      'Warm and cold: share of the images that were asked for',
      'Answer time',
      'API: answers, and those that are our fault',
      'Miss to ready: share of waits',
      'Miss to ready',
      'Generations ÷ misses, of five minutes: 1 is one of each',
      'Oldest message',
      'Concurrency of the worker, measured',
      'Cost of a thousand images (list prices of us-east-1)',
      'Images that failed, by class',
      'Trouble',
      'Time to make an image',
    ],
    [
      'Calls in flight: throughput × service time',
      'Requests a minute',
      'Tokens a minute',
      'What limits it: 1 where it is so',
      'Depth against the ceiling',
      'Workers at once, measured',
      'Rows that wait at once, by what for',
      'Refusals and failures of the provider',
      'Service time of a call',
      'Imports',
      'Rows',
      'Cost of a thousand rows, by the configured prices',
      'Oldest message',
      'Time of a chunk',
      'Trouble',
    ],
  ]);
});

test('the bounds of the plan are lines across the dashboard of summaries', () => {
  const [, [id = '', body = ''] = []] = bodies;
  const bounds = readDashboard(id, body).flatMap((widget) =>
    widget.kind === 'text' ? [] : widget.bounds.map(({ label, value }) => [label, value]),
  );
  expect(bounds).toEqual([
    ['fleet bound', 134],
    ['allowance', 5000],
    ['allowance', 2_000_000],
    ['interactive: taken at once, at most', 4],
    ['bulk: taken at once, at most', 36],
    ['interactive: ceiling', 4],
    ['bulk: ceiling', 9],
    ['alarm: interactive', 60],
  ]);
});

test('each alarm has its section in the runbook, which it names, and no section is without its alarm', () => {
  const sections = readFileSync(resolve(root, 'docs/runbook.md'), 'utf8')
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.split('\n', 1)[0] ?? '', section] as const);
  const alarms = resourcesOf('AWS::CloudWatch::Alarm').map(([id, { Properties }]) => ({
    name: id.replace(/[0-9A-F]{8}$/, ''),
    description: z.string().parse(Properties.AlarmDescription),
  }));
  expect(sections.map(([name]) => name).sort()).toEqual(alarms.map(({ name }) => name).sort());
  for (const { name, description } of alarms) {
    expect(description).toMatch(/^[A-Z].{20,}\. What to do: docs\/runbook\.md#\w+$/);
    expect(description).toMatch(new RegExp(`#${name.toLowerCase()}$`));
  }
  for (const [name, section] of sections) {
    for (const part of ['**Means.**', '**Look.**', '**Do.**']) {
      expect([name, section.includes(part)]).toEqual([name, true]);
    }
  }
});

test('alarms tell the topic that is configured, when they begin and when they are over', () => {
  expect(JSON.stringify(template.toJSON())).not.toContain('AlarmActions');
  const alarmTopic = 'arn:aws:sns:eu-west-1:123456789012:alarms';
  const told = templateOf({ changes: { watching: { tracing: false, alarmTopic } } });
  told.allResourcesProperties('AWS::CloudWatch::Alarm', {
    AlarmActions: [alarmTopic],
    OKActions: [alarmTopic],
  });
});

test('functions are traced where that is configured, and may then write traces', () => {
  template.allResourcesProperties('AWS::Lambda::Function', { TracingConfig: Match.absent() });
  const traced = templateOf({ changes: { watching: { tracing: true } } });
  traced.allResourcesProperties('AWS::Lambda::Function', { TracingConfig: { Mode: 'Active' } });
  const roles = Object.values(traced.findResources('AWS::IAM::Policy')).filter((policy) =>
    JSON.stringify(policy).includes('xray:PutTraceSegments'),
  );
  expect(roles).toHaveLength(Object.keys(traced.findResources('AWS::Lambda::Function')).length);
});

test('saved queries read the logs of functions of the stack, by properties that these write', () => {
  const groups = Object.keys(template.findResources('AWS::Logs::LogGroup'));
  const queries = resourcesOf('AWS::Logs::QueryDefinition');
  expect(queries).toHaveLength(6);
  for (const [, { Properties }] of queries) {
    const names = z.array(z.unknown().transform(referred)).parse(Properties.LogGroupNames);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(groups).toContain(name);
  }
});
