import { z } from 'zod';
import { parseExpression } from '../metrics/expression.ts';
import { statisticOf } from '../metrics/statistic.ts';

// What CloudWatch draws of a dashboard's body, as far as the local cloud draws the same. The schemas are
// strict: what would be drawn otherwise there is an error that names it.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/CloudWatch-Dashboard-Body-Structure.html

const place = { x: z.int(), y: z.int(), width: z.int(), height: z.int() };

const textWidget = z.strictObject({
  type: z.literal('text'),
  ...place,
  properties: z.strictObject({
    markdown: z.string(),
    background: z.enum(['transparent', 'solid']).optional(),
  }),
});

const drawn = {
  id: z.string().optional(),
  label: z.string().optional(),
  visible: z.boolean().default(true),
  period: z.int().optional(),
};
const metricOptions = z.strictObject({ ...drawn, stat: z.string() });
const expressionEntry = z.tuple([z.strictObject({ ...drawn, expression: z.string() })]);

const metricWidget = z.strictObject({
  type: z.literal('metric'),
  ...place,
  properties: z.strictObject({
    title: z.string(),
    view: z.literal('timeSeries'),
    stacked: z.boolean(),
    region: z.string(),
    period: z.int(),
    metrics: z.array(z.array(z.unknown())),
    yAxis: z.strictObject({
      left: z.strictObject({
        label: z.string(),
        min: z.literal(0),
        max: z.number().optional(),
        showUnits: z.literal(false),
      }),
    }),
    legend: z.strictObject({ position: z.literal('bottom') }),
    annotations: z
      .strictObject({
        horizontal: z.array(
          z.strictObject({ value: z.number(), label: z.string(), yAxis: z.literal('left') }),
        ),
      })
      .optional(),
  }),
});

const bodySchema = z.strictObject({
  start: z.string(),
  widgets: z.array(z.discriminatedUnion('type', [textWidget, metricWidget])),
});

interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface TextWidget extends Place {
  readonly kind: 'text';
  readonly markdown: string;
}

interface Drawn {
  readonly id: string | undefined;
  readonly label: string;
  readonly visible: boolean;
}

export interface MetricLine extends Drawn {
  readonly kind: 'metric';
  readonly namespace: string;
  readonly name: string;
  readonly dimensions: Readonly<Record<string, string>>;
  readonly statistic: string;
}

export interface ExpressionLine extends Drawn {
  readonly kind: 'expression';
  readonly expression: string;
}

export interface ChartWidget extends Place {
  readonly kind: 'chart';
  readonly title: string;
  readonly unit: string;
  readonly stacked: boolean;
  readonly max: number | undefined;
  /** Seconds. */
  readonly period: number;
  readonly lines: readonly (MetricLine | ExpressionLine)[];
  readonly bounds: readonly { readonly value: number; readonly label: string }[];
}

export type Widget = TextWidget | ChartWidget;

/** @throws an error that names the dashboard and what of it is not known */
export function readDashboard(name: string, body: string): Widget[] {
  const parsed = bodySchema.safeParse(JSON.parse(body));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(
      `The local cloud does not know what the dashboard ${name} has at ${issue?.path.join('.')}: ${issue?.message}.`,
    );
  }
  return parsed.data.widgets.map((widget) => {
    const { x, y, width, height } = widget;
    if (widget.type === 'text') {
      return { kind: 'text', x, y, width, height, markdown: widget.properties.markdown };
    }
    const { title, stacked, period, metrics, yAxis, annotations } = widget.properties;
    const where = `${name}, ${title}`;
    if (period % 60 !== 0) {
      throw new Error(
        `${where}: the local cloud keeps minutes, got a period of ${period} seconds.`,
      );
    }
    const lines = metrics.map((entry) => readLine(where, entry, period));
    for (const line of lines) {
      if (line.kind === 'metric') statisticOf(line.statistic);
      else refuseUnknownIds(where, line, lines);
    }
    return {
      kind: 'chart',
      ...{ x, y, width, height, title, stacked, period, lines },
      unit: yAxis.left.label,
      max: yAxis.left.max,
      bounds: annotations?.horizontal ?? [],
    };
  });
}

function refuseUnknownIds(
  where: string,
  { expression }: ExpressionLine,
  lines: readonly (MetricLine | ExpressionLine)[],
): void {
  for (const id of parseExpression(expression).ids) {
    // An expression over expressions has an order, which none here needs.
    if (lines.some((line) => line.kind === 'metric' && line.id === id)) continue;
    throw new Error(`${where}: expected ${id} of ${expression} to be a metric of the widget.`);
  }
}

function readLine(where: string, entry: unknown[], period: number): MetricLine | ExpressionLine {
  const worked = expressionEntry.safeParse(entry);
  if (worked.success) {
    const [{ expression, id, label = expression, visible, ...rest }] = worked.data;
    refuseOwnPeriod(where, rest.period, period);
    return { kind: 'expression', expression, id, label, visible };
  }
  const parsed = metricOptions.safeParse(entry.at(-1));
  const names = z.array(z.string().regex(/[^.]/)).safeParse(entry.slice(0, -1));
  const [namespace, name, ...pairs] = names.success ? names.data : [];
  if (!parsed.success || namespace === undefined || name === undefined || pairs.length % 2 > 0) {
    throw new Error(`${where}: expected a metric in full, got ${JSON.stringify(entry)}.`);
  }
  const { id, stat: statistic, label = name, visible } = parsed.data;
  refuseOwnPeriod(where, parsed.data.period, period);
  const dimensions = Object.fromEntries(
    Array.from({ length: pairs.length / 2 }, (_, at) => [pairs[2 * at], pairs[2 * at + 1] ?? '']),
  );
  return { kind: 'metric', namespace, name, dimensions, statistic, id, label, visible };
}

function refuseOwnPeriod(where: string, own: number | undefined, period: number): void {
  if (own === undefined || own === period) return;
  throw new Error(`${where}: expected the widget's period of ${period} seconds, got ${own}.`);
}
