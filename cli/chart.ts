export interface Series {
  name: string;
  color: string;
  points: readonly (readonly [x: number, y: number])[];
}

export interface Chart {
  title: string;
  x: string;
  y: string;
  series: readonly Series[];
  /** A level to hold the series against. */
  line?: { name: string; y: number };
  /** A place that is what the chart is for. */
  mark?: { name: string; x: number };
}

const WIDTH = 900;
const HEIGHT = 420;
const LEFT = 70;
const RIGHT = 20;
const TOP = 60;
const BOTTOM = 50;
/** More points than these are a line by themselves. */
const MOST_DOTS = 25;

/** A chart as an SVG of its own, readable on light and dark pages. */
export function drawChart({ title, x, y, series, line, mark }: Chart): string {
  const points = series.flatMap(({ points }) => points);
  const xs = points.map(([value]) => value);
  // A single point is a chart, too.
  const from = Math.min(...xs) === Math.max(...xs) ? 0 : Math.min(...xs);
  const to = Math.max(...xs);
  const top = Math.max(...points.map(([, value]) => value), line?.y ?? 0) * 1.08 || 1;
  const atX = (value: number) =>
    LEFT + ((value - from) / (to - from || 1)) * (WIDTH - LEFT - RIGHT);
  const atY = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - TOP - BOTTOM);
  const text = (atX: number, atY: number, words: string, more = '') =>
    `<text x="${round(atX)}" y="${round(atY)}" ${more}>${escaped(words)}</text>`;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13" fill="#333" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    text(LEFT, 24, title, 'font-size="16" font-weight="600"'),
    ...ticks(0, top, 6).flatMap((value) => [
      `<path d="M${LEFT} ${round(atY(value))}H${WIDTH - RIGHT}" stroke="#e4e4e4"/>`,
      text(LEFT - 8, atY(value) + 4, value.toLocaleString('en'), 'text-anchor="end"'),
    ]),
    ...ticks(from, to, 10).map((value) =>
      text(atX(value), HEIGHT - BOTTOM + 18, String(value), 'text-anchor="middle"'),
    ),
    text((LEFT + WIDTH) / 2, HEIGHT - 10, x, 'text-anchor="middle"'),
    text(16, TOP - 14, y),
  ];
  if (line !== undefined) {
    parts.push(
      `<path d="M${LEFT} ${round(atY(line.y))}H${WIDTH - RIGHT}" stroke="#888" stroke-dasharray="6 4"/>`,
      text(WIDTH - RIGHT, atY(line.y) - 6, line.name, 'text-anchor="end"'),
    );
  }
  if (mark !== undefined) {
    const isRight = atX(mark.x) > (LEFT + WIDTH) / 2;
    parts.push(
      `<path d="M${round(atX(mark.x))} ${TOP}V${HEIGHT - BOTTOM}" stroke="#888"/>`,
      text(
        atX(mark.x) + (isRight ? -6 : 6),
        HEIGHT - BOTTOM - 22,
        mark.name,
        `text-anchor="${isRight ? 'end' : 'start'}"`,
      ),
    );
  }
  let legend = WIDTH - RIGHT;
  for (const { name, color, points } of [...series].reverse()) {
    const path = points.map(([px, py]) => `${round(atX(px))} ${round(atY(py))}`).join('L');
    parts.push(`<path d="M${path}" fill="none" stroke="${color}" stroke-width="2"/>`);
    if (points.length <= MOST_DOTS) {
      for (const [px, py] of points) {
        parts.push(`<circle cx="${round(atX(px))}" cy="${round(atY(py))}" r="3" fill="${color}"/>`);
      }
    }
    parts.push(text(legend, 44, name, `text-anchor="end" fill="${color}" font-weight="600"`));
    legend -= 24 + name.length * 7.5;
  }
  return `${parts.join('\n')}\n</svg>\n`;
}

function ticks(from: number, to: number, about: number): number[] {
  const rough = (to - from || 1) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const values: number[] = [];
  for (let value = Math.ceil(from / step) * step; value <= to; value += step) {
    values.push(Number(value.toPrecision(12)));
  }
  return values;
}

const round = (value: number) => Math.round(value * 10) / 10;

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
