import { Duration } from 'aws-cdk-lib';
import {
  GraphWidget,
  type HorizontalAnnotation,
  type IMetric,
  LegendPosition,
  MathExpression,
  Metric,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';

/** Three in a row of 24 columns. */
const WIDTH = 8;
const HEIGHT = 7;

export interface Graph {
  title: string;
  metrics: IMetric[];
  /** Of the axis. */
  unit: string;
  stacked?: boolean;
  /** Bounds and thresholds, as lines across. */
  lines?: HorizontalAnnotation[];
  /** Where the axis ends, if not above the highest value. */
  max?: number;
  /** That a point stands for, as in its metrics: one unless stated. */
  minutes?: number;
}

export function graph({
  title,
  metrics,
  unit,
  stacked = false,
  lines = [],
  max,
  minutes = 1,
}: Graph): GraphWidget {
  return new GraphWidget({
    title,
    width: WIDTH,
    height: HEIGHT,
    left: metrics,
    stacked,
    leftAnnotations: lines,
    leftYAxis: { label: unit, min: 0, showUnits: false, ...(max === undefined ? {} : { max }) },
    legendPosition: LegendPosition.BOTTOM,
    period: Duration.minutes(minutes),
  });
}

export function words(markdown: string, height: number): TextWidget {
  return new TextWidget({ markdown, width: 3 * WIDTH, height });
}

/** What CloudWatch, and the local cloud, work out of metrics by their names in `expression`. */
export function worked(
  label: string,
  expression: string,
  usingMetrics: Record<string, IMetric>,
  minutes = 1,
): MathExpression {
  const period = Duration.minutes(minutes);
  // Of another period than what is worked out of them, the CDK would warn at each synthesis.
  const each = Object.entries(usingMetrics).map(
    ([id, metric]) => [id, metric instanceof Metric ? metric.with({ period }) : metric] as const,
  );
  return new MathExpression({
    label,
    expression,
    usingMetrics: Object.fromEntries(each),
    period,
  });
}

/** A mean over the period of how many there were at once, from the sum of their milliseconds. */
export function atOnce(label: string, id: string, milliseconds: IMetric): MathExpression {
  return worked(label, `${id} / 1000 / PERIOD(${id})`, { [id]: milliseconds });
}
