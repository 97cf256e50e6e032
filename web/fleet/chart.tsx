import type uPlot from 'uplot';
import { amount } from '../shell/amounts.ts';
import { axes, bound, type Color, usePlot } from '../shell/use-plot.ts';

/** One line of a chart; how it looks is its class's, in fleet.css. */
export interface ChartLine {
  readonly look: 'interactive' | 'bulk' | 'bound';
  readonly label: string;
  /** Null where it is not known. */
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  title: string;
  /** Epoch seconds. */
  times: readonly number[];
  lines: readonly ChartLine[];
}

const HEIGHT = 180;

/** Lines over the last minutes. Whoever cannot see them is told the last and the largest of each. */
export function Chart({ title, times, lines }: ChartProps) {
  const { figure, place, failed } = usePlot({
    height: HEIGHT,
    data: [[...times], ...lines.map(({ values }) => [...values])],
    // What is before the last step is never changed.
    news: [times.at(-1), lines.map(({ values }) => values.at(-1)).join()],
    lines: lines.map(({ look }) => look).join(),
    options: (color) => optionsFor(lines, color),
  });
  return (
    <figure class="chart" ref={figure}>
      <figcaption>
        <h3>{title}</h3>
        <ul class="keys">
          {lines.map(({ look, label }) => (
            <li key={look} class={`key ${look}`}>
              <span>{label}</span>
            </li>
          ))}
        </ul>
        <span class="axis" hidden />
        <span class="axis grid" hidden />
      </figcaption>
      {failed ? (
        <p class="quiet">
          The chart could not be loaded. The figures above are right all the same.
        </p>
      ) : (
        <div class="plot" ref={place} role="img" aria-label={inWords(title, lines)} />
      )}
    </figure>
  );
}

function inWords(title: string, lines: readonly ChartLine[]): string {
  const told = lines.map(({ look, label, values }) => {
    const now = amount(values.at(-1) ?? 0);
    return look === 'bound'
      ? `${label} ${now}`
      : `${label} ${now} now, ${amount(Math.max(0, ...values.filter((value) => value !== null)))} at most`;
  });
  return `${title} over the last ten minutes: ${told.join('; ')}.`;
}

function optionsFor(lines: readonly ChartLine[], color: Color) {
  return {
    scales: {
      // From nothing, and with room above the highest: a line at the top would be an edge.
      y: {
        range: (_chart: uPlot, _least: number, most: number): uPlot.Range.MinMax => [
          0,
          most > 0 ? most * 1.1 : 1,
        ],
      },
    },
    axes: axes(color, 56),
    series: [
      {},
      ...lines.map(({ look }): uPlot.Series => {
        const stroke = color(`.key.${look}`);
        return look === 'bound' ? bound(stroke) : { stroke, points: { show: false }, width: 2 };
      }),
    ],
  };
}
