import { useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { amount } from '../shell/amounts.ts';
import { axes, bound, type Color, usePlot } from '../shell/use-plot.ts';
import { type ChartView, isAlone, latest, stackOf } from './dashboard-view.ts';

const HEIGHT = 200;
/** More would be a line of dots. */
const MOST_POINTS = 60;
/** CSS pixels. What has a line to it on no side is larger: it is all that there is to see of a measurement. */
const POINT = 5;
const POINT_ALONE = 9;

/** A graph widget. Whoever cannot see its lines is told the newest value of each. */
export function Chart({ chart }: { chart: ChartView }) {
  const { title, unit, lines, bounds } = chart;
  const current = useRef(chart);
  current.current = chart;
  const { figure, place, failed } = usePlot({
    height: HEIGHT,
    data: dataOf(chart),
    news: [chart],
    // How many there are, and how they are drawn, is the template's and stays.
    lines: '',
    options: (color) => optionsFor(current, color),
  });

  const isEmpty = lines.every((line) => latest(line) === undefined);
  return (
    <figure class="chart" ref={figure}>
      <figcaption>
        <h3>{title}</h3>
        <span class="unit">{unit}</span>
        <span class="axis" hidden />
        <span class="axis grid" hidden />
      </figcaption>
      {failed ? (
        <p class="quiet">The chart could not be loaded; the newest figures are below.</p>
      ) : (
        <div class="plot" ref={place} role="img" aria-label={inWords(chart)} />
      )}
      {isEmpty && <p class="nothing quiet">Nothing was measured in this time</p>}
      <ul class="keys">
        {lines.map((line, index) => {
          const value = latest(line);
          return (
            <li key={line.label} class={`key hue-${index}`}>
              <span>{line.label}</span>
              {value !== undefined && <b>{amount(value)}</b>}
            </li>
          );
        })}
        {bounds.map(({ label, value }) => (
          <li key={label} class="key bound">
            <span>{label}</span>
            <b>{amount(value)}</b>
          </li>
        ))}
      </ul>
    </figure>
  );
}

function inWords({ title, unit, lines, bounds }: ChartView): string {
  const told = lines.flatMap((line) => {
    const value = latest(line);
    return value === undefined ? [] : [`${line.label} ${amount(value)}`];
  });
  const against = bounds.map(({ label, value }) => `${label} ${amount(value)}`);
  const figures = told.length === 0 ? ['nothing was measured'] : told;
  return `${title} (${unit}): ${[...figures, ...against].join('; ')}.`;
}

function dataOf({ times, lines, stacked, bounds }: ChartView): uPlot.AlignedData {
  // The highest layer first, so that a layer of nothing does not hide the one below it.
  const drawn = stacked ? stackOf(lines).toReversed() : lines.map(({ values }) => [...values]);
  return [[...times], ...drawn, ...bounds.map(({ value }) => times.map(() => value))];
}

function optionsFor(chart: { readonly current: ChartView }, color: Color) {
  const { lines, bounds, stacked, max } = chart.current;
  return {
    scales: {
      y: {
        range: (_chart: uPlot, _least: number, most: number): uPlot.Range.MinMax => [
          0,
          max ?? endOf(chart.current, most),
        ],
      },
    },
    axes: axes(color, 60),
    series: [
      {},
      ...lines.map((_line, index): uPlot.Series => {
        const stroke = color(`.key.hue-${stacked ? lines.length - 1 - index : index}`);
        return {
          stroke,
          width: 2,
          points: { show: true, fill: stroke, paths: pointsOf(stacked) },
          // Between a layer and the one below it.
          ...(stacked ? { fill: (): string => translucent(stroke()) } : {}),
        };
      }),
      ...bounds.map(() => bound(color('.key.bound'))),
    ],
    ...(stacked
      ? {
          bands: lines
            .slice(1)
            .map((_line, index): uPlot.Band => ({ series: [index + 1, index + 2] })),
        }
      : {}),
  };
}

/**
 * A dot a measurement, or a bar down to the ground in a stack, whose layers are drawn from the highest to
 * the lowest: a minute that has no other beside it has no line and no area.
 */
function pointsOf(stacked: boolean): uPlot.Series.Points.PathBuilder {
  return (plot, index, first, last) => {
    const { devicePixelRatio: ratio } = globalThis;
    const [times] = plot.data;
    const values = plot.data[index] ?? [];
    const all = times.length <= MOST_POINTS;
    const ground = plot.valToPos(0, 'y', true);
    const fill = new Path2D();
    for (let at = first; at <= last; at += 1) {
      const value = values[at] ?? null;
      const alone = isAlone(values, at);
      if (value === null || !(all || alone)) continue;
      const x = Math.round(plot.valToPos(times[at] ?? 0, 'x', true));
      const y = Math.round(plot.valToPos(value, 'y', true));
      const radius = ((alone ? POINT_ALONE : POINT) / 2) * ratio;
      if (stacked && alone) {
        fill.rect(x - radius, y, radius * 2, ground - y);
      } else {
        fill.moveTo(x + radius, y);
        fill.arc(x, y, radius, 0, Math.PI * 2);
      }
    }
    return { fill };
  };
}

/**
 * Room above the highest. A bound that is far above all would press what there is to the ground, so it
 * counts only where something comes near it; its value is in the legend.
 */
function endOf({ bounds, lines, stacked }: ChartView, most: number): number {
  const all = stacked ? stackOf(lines) : lines.map(({ values }) => values);
  const highest = Math.max(0, ...all.flat().filter((value) => value !== null));
  const near = bounds.map(({ value }) => value).filter((value) => value <= 4 * highest);
  const end = highest === 0 ? most : Math.max(highest, ...near);
  return end > 0 ? end * 1.1 : 1;
}

/** `rgb(1, 2, 3)`, as a browser tells colors, so that what is behind is seen. */
const translucent = (color: string): string => color.replace(/^rgb\((.*)\)$/, 'rgba($1, 0.25)');
