import { parseExpression } from '../metrics/expression.ts';
import type { Grid, MetricStore, Series } from '../metrics/metric-store.ts';
import { statisticOf } from '../metrics/statistic.ts';
import type { DashboardPlan } from '../template/stack.ts';
import { type ChartWidget, readDashboard, type TextWidget } from './dashboard-body.ts';

// The template's dashboards, with what the functions and engines here have measured.

export interface DrawnChart extends Omit<ChartWidget, 'lines' | 'period'> {
  /** Epoch seconds, of each step's begin. */
  readonly times: readonly number[];
  readonly lines: readonly { readonly label: string; readonly values: Series }[];
}

export interface DrawnDashboard {
  readonly name: string;
  readonly widgets: readonly (TextWidget | DrawnChart)[];
}

export interface Dashboards {
  /** The last minutes, this one included. */
  draw(minutes: number): DrawnDashboard[];
}

/** @throws an error that names what of a dashboard is not known */
export function createDashboards(
  plans: readonly DashboardPlan[],
  store: Pick<MetricStore, 'read'>,
  now: () => number,
): Dashboards {
  const dashboards = plans.map(({ name, body }) => ({ name, widgets: readDashboard(name, body) }));
  return {
    draw: (minutes) =>
      dashboards.map(({ name, widgets }) => ({
        name,
        widgets: widgets.map((widget) =>
          widget.kind === 'text' ? widget : drawChart(widget, store, minutes, now() / 1000),
        ),
      })),
  };
}

function drawChart(
  { lines, period, ...chart }: ChartWidget,
  store: Pick<MetricStore, 'read'>,
  minutes: number,
  seconds: number,
): DrawnChart {
  const end = (Math.floor(seconds / period) + 1) * period;
  const steps = Math.ceil((minutes * 60) / period);
  const grid: Grid = { from: end - steps * period, steps, period };
  const metrics = new Map<string, Series>();
  const values = new Map(
    lines.flatMap((line) => {
      if (line.kind !== 'metric') return [];
      const series = store.read(line, statisticOf(line.statistic), grid);
      if (line.id !== undefined) metrics.set(line.id, series);
      return [[line, series] as const];
    }),
  );
  const scope = { series: metrics, period };
  return {
    ...chart,
    times: Array.from({ length: steps }, (_, step) => grid.from + step * period),
    lines: lines
      .filter(({ visible }) => visible)
      .map((line) => ({
        label: line.label,
        values:
          line.kind === 'metric'
            ? (values.get(line) ?? [])
            : seriesOf(parseExpression(line.expression).evaluate(scope), steps),
      })),
  };
}

const seriesOf = (value: number | Series, steps: number): Series =>
  typeof value === 'number' ? Array.from({ length: steps }, () => value) : value;
