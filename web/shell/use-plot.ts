import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { amount } from './amounts.ts';
import { loadUPlot } from './load-uplot.ts';

/** A color of the style sheet, as it is now: in the dark it is another. */
export type Color = (selector: string) => () => string;

interface Drawing {
  /** Of the plot with its axes, in CSS pixels. */
  readonly height: number;
  readonly data: uPlot.AlignedData;
  /** What tells whether there is anything new to draw. */
  readonly news: readonly unknown[];
  /** What lines there are: where that changes, the plot is made anew. */
  readonly lines: string;
  /** How it is drawn. */
  options(color: Color): Pick<uPlot.Options, 'scales' | 'axes' | 'series' | 'bands'>;
}

interface Plot {
  /** Holds the plot and the keys that the colors are those of. */
  readonly figure: RefObject<HTMLElement | null>;
  readonly place: RefObject<HTMLDivElement | null>;
  /** The library did not come. */
  readonly failed: boolean;
}

/** Beside the last time there is room, as it stands below its own middle: `11:45 PM`. */
const PADDING: uPlot.Padding = [10, 34, 0, 0];

/** Lines over time, as wide as their place is. */
export function usePlot({ height, data, news, lines, options }: Drawing): Plot {
  const figure = useRef<HTMLElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<uPlot>(null);
  const latest = useRef(data);
  const [failed, setFailed] = useState(false);
  latest.current = data;

  useEffect(() => {
    const { current: at } = place;
    const { current: keys } = figure;
    if (at === null || keys === null) return;
    let gone = false;
    const color: Color = (selector) => () => {
      const found = keys.querySelector(selector);
      return found === null ? 'gray' : getComputedStyle(found).color;
    };
    const open = async () => {
      const UPlot = await loadUPlot();
      if (gone) return;
      const size = { width: at.clientWidth, height };
      const bare = { legend: { show: false }, cursor: { show: false }, padding: PADDING };
      drawn.current = new UPlot({ ...size, ...bare, ...options(color) }, latest.current, at);
    };
    open().catch(() => setFailed(true));
    const resized = new ResizeObserver(() =>
      drawn.current?.setSize({ width: at.clientWidth, height }),
    );
    resized.observe(at);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => drawn.current?.redraw(false);
    scheme.addEventListener('change', redraw);
    return () => {
      gone = true;
      resized.disconnect();
      scheme.removeEventListener('change', redraw);
      drawn.current?.destroy();
      drawn.current = null;
    };
  }, [lines]);
  useEffect(() => drawn.current?.setData(latest.current), news);

  return { figure, place, failed };
}

/** Times below, amounts beside. @param beside pixels, for the longest amount that may come */
export function axes(color: Color, beside: number): uPlot.Axis[] {
  const axis = {
    stroke: color('.axis'),
    font: '12px system-ui, sans-serif',
    ticks: { show: false },
  };
  return [
    {
      ...axis,
      grid: { show: false },
      values: (_chart, times) => times.map(clock),
      space: 70,
      size: 28,
    },
    {
      ...axis,
      grid: { stroke: color('.axis.grid'), width: 1 },
      values: (_chart, values) => values.map((value) => amount(value)),
      space: 38,
      size: beside,
    },
  ];
}

/** A line to measure the others by. */
export function bound(stroke: () => string): uPlot.Series {
  return { stroke, points: { show: false }, width: 1.5, dash: [5, 5] };
}

function clock(seconds: number): string {
  return new Date(seconds * 1000).toLocaleTimeString(undefined, { timeStyle: 'short' });
}
