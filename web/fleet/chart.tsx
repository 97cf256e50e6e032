import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { amount } from '../shell/amounts.ts';
import { loadUPlot } from '../shell/load-uplot.ts';

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
  const figure = useRef<HTMLElement>(null);
  const plot = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(null);
  const data = useRef<uPlot.AlignedData>([[]]);
  const [failed, setFailed] = useState(false);
  data.current = [[...times], ...lines.map(({ values }) => [...values])];

  // The series stay the same as long as the chart is there; what they are of comes by setData.
  const looks = lines.map(({ look }) => look).join();
  useEffect(() => {
    const place = plot.current;
    const keys = figure.current;
    if (place === null || keys === null) return;
    let gone = false;
    // A color of the style sheet, as it is now: in the dark it is another.
    const color = (selector: string) => () => {
      const found = keys.querySelector(selector);
      return found === null ? 'gray' : getComputedStyle(found).color;
    };
    const open = async () => {
      const UPlot = await loadUPlot();
      if (gone) return;
      chart.current = new UPlot(optionsFor(place, looks.split(','), color), data.current, place);
    };
    open().catch(() => setFailed(true));

    const resized = new ResizeObserver(() =>
      chart.current?.setSize({ width: place.clientWidth, height: HEIGHT }),
    );
    resized.observe(place);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => chart.current?.redraw(false);
    scheme.addEventListener('change', redraw);
    return () => {
      gone = true;
      resized.disconnect();
      scheme.removeEventListener('change', redraw);
      chart.current?.destroy();
      chart.current = null;
    };
  }, [looks]);

  const last = times.at(-1);
  const now = lines.map(({ values }) => values.at(-1)).join();
  // What is before the last step is never changed: without another last one nothing is new.
  useEffect(() => chart.current?.setData(data.current), [last, now]);

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
        <div class="plot" ref={plot} role="img" aria-label={inWords(title, lines)} />
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

function optionsFor(
  place: HTMLElement,
  looks: readonly string[],
  color: (selector: string) => () => string,
): uPlot.Options {
  const axis = {
    stroke: color('.axis'),
    font: '12px system-ui, sans-serif',
    ticks: { show: false },
  };
  const grid = { stroke: color('.axis.grid'), width: 1 };
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    // Beside the last time, which stands below its own middle: `11:45 PM`.
    padding: [10, 34, 0, 0],
    scales: {
      // From nothing, and with room above the highest: a line at the top would be an edge.
      y: { range: (_chart, _least, most) => [0, most > 0 ? most * 1.1 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        values: (_chart, times) => times.map(clock),
        space: 70,
        size: 28,
      },
      {
        ...axis,
        grid,
        size: 56,
        space: 40,
        values: (_chart, values) => values.map((value) => amount(value)),
      },
    ],
    series: [
      {},
      ...looks.map((look): uPlot.Series => {
        const stroke = color(`.key.${look}`);
        const points = { show: false };
        return look === 'bound'
          ? { stroke, points, width: 1.5, dash: [5, 5] }
          : { stroke, points, width: 2 };
      }),
    ],
  };
}

function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString(undefined, { timeStyle: 'short' });
}
