import {
  GraphWidget,
  type HorizontalAnnotation,
  type IMetric,
  LegendPosition,
  MathExpression,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { EACH_MINUTE } from '../alarm.ts';

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
}

export function graph({
  title,
  metrics,
  unit,
  stacked = false,
  lines = [],
  max,
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
    ...EACH_MINUTE,
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
): MathExpression {
  return new MathExpression({ label, expression, usingMetrics, ...EACH_MINUTE });
}

/** A mean over the period of how many there were at once, from the sum of their milliseconds. */
export function atOnce(label: string, id: string, milliseconds: IMetric): MathExpression {
  return worked(label, `${id} / 1000 / PERIOD(${id})`, { [id]: milliseconds });
}
