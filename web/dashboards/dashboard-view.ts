import { fields, list, number, optional, text } from '../shell/read-json.ts';

// The dashboards as this machine draws them of the template, at /dashboards/drawn.json.

interface Place {
  readonly x: number;
  readonly y: number;
  /** Of 24 columns. */
  readonly width: number;
  readonly height: number;
}

export interface TextView extends Place {
  readonly kind: 'text';
  readonly markdown: string;
}

export interface LineView {
  readonly label: string;
  /** One a time; null where nothing was measured. */
  readonly values: readonly (number | null)[];
}

export interface ChartView extends Place {
  readonly kind: 'chart';
  readonly title: string;
  readonly unit: string;
  readonly stacked: boolean;
  /** Where the axis ends; above the highest value unless stated. */
  readonly max: number | undefined;
  /** Epoch seconds. */
  readonly times: readonly number[];
  readonly lines: readonly LineView[];
  readonly bounds: readonly { readonly label: string; readonly value: number }[];
}

export interface DashboardView {
  readonly name: string;
  readonly widgets: readonly (TextView | ChartView)[];
}

export function readDashboards(told: Record<string, unknown>): DashboardView[] {
  return list(told.dashboards).map((each) => {
    const { name, widgets } = fields(each);
    return { name: text(name), widgets: list(widgets).map((widget) => readWidget(fields(widget))) };
  });
}

function readWidget(widget: Record<string, unknown>): TextView | ChartView {
  const place = {
    x: number(widget.x),
    y: number(widget.y),
    width: number(widget.width),
    height: number(widget.height),
  };
  if (widget.kind === 'text') return { kind: 'text', ...place, markdown: text(widget.markdown) };
  return {
    kind: 'chart',
    ...place,
    title: text(widget.title),
    unit: text(widget.unit),
    stacked: widget.stacked === true,
    max: optional(widget.max, number),
    times: list(widget.times).map(number),
    lines: list(widget.lines).map((line) => {
      const { label, values } = fields(line);
      return {
        label: text(label),
        values: list(values).map((value) => (value === null ? null : number(value))),
      };
    }),
    bounds: list(widget.bounds).map((bound) => {
      const { label, value } = fields(bound);
      return { label: text(label), value: number(value) };
    }),
  };
}

/** The newest that was measured. */
export function latest({ values }: LineView): number | undefined {
  return values.findLast((value) => value !== null) ?? undefined;
}

/** The layers of a stack: each on those before it. */
export function stackOf(lines: readonly LineView[]): (number | null)[][] {
  const [first] = lines;
  if (first === undefined) return [];
  const sums = first.values.map(() => 0);
  return lines.map(({ values }) =>
    values.map((value, at) => {
      sums[at] = (sums[at] ?? 0) + (value ?? 0);
      const isKnown = lines.some((line) => (line.values[at] ?? null) !== null);
      return isKnown ? (sums[at] ?? 0) : null;
    }),
  );
}

/** Whether a value has no other beside it to draw a line to. */
export function isAlone(values: ArrayLike<number | null | undefined>, at: number): boolean {
  const isThere = (index: number) => (values[index] ?? null) !== null;
  return isThere(at) && !isThere(at - 1) && !isThere(at + 1);
}
