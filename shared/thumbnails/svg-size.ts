import type { Size } from './geometry.ts';

/** The root element of an SVG: where its tag begins in the document, and its attributes. */
export interface Root {
  start: number;
  attributes: Readonly<Record<string, string>>;
}

/** What browsers give a picture that states no size (CSS 2.2, 10.3.2). */
const DEFAULT: Size = { width: 300, height: 150 };

/** Pixels in a unit at the 72 dots an inch at which libvips draws; fonts are of 12 by default. */
const PIXELS: Readonly<Record<string, number>> = {
  '': 1,
  px: 1,
  pt: 1,
  pc: 12,
  in: 72,
  cm: 72 / 2.54,
  mm: 72 / 25.4,
  q: 72 / 101.6,
  em: 12,
  rem: 12,
  ex: 6,
  ch: 6,
};

/**
 * The size that an SVG states, by its width and height or by its viewBox.
 *
 * @returns nothing when it states none that can be used, or states it in a style
 */
export function statedSize({ attributes }: Root): Size | undefined {
  const width = pixelsOf(attributes.width);
  const height = pixelsOf(attributes.height);
  if (width !== undefined && height !== undefined) return { width, height };
  const view = viewOf(attributes.viewBox);
  // Of no width or height it has no proportions, and nothing of it is drawn.
  if (view === undefined || view.width * view.height === 0) return view;
  if (width !== undefined) return { width, height: (width * view.height) / view.width };
  if (height !== undefined) return { width: (height * view.width) / view.height, height };
  return view;
}

/**
 * Gives an SVG without a usable size the one that browsers would, from outside: librsvg would draw it
 * at one size, however large the picture, and libvips takes the size of the ink wherever that is.
 */
export function withSize(document: string, root: Root): string {
  const { attributes } = root;
  if (statedSize(root) !== undefined || /\b(width|height)\s*:/.test(attributes.style ?? '')) {
    return document;
  }
  const width = pixelsOf(attributes.width) ?? DEFAULT.width;
  const height = pixelsOf(attributes.height) ?? DEFAULT.height;
  const frame = `<frame:svg xmlns:frame="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`;
  return `${document.slice(0, root.start)}${frame}${document.slice(root.start)}</frame:svg>`;
}

/** A share of what is around it, as 100 %, is no size. */
function pixelsOf(length = ''): number | undefined {
  const [, number, unit = ''] = /^\s*([-+]?[\d.]+(?:e[-+]?\d+)?)([a-z]*)\s*$/i.exec(length) ?? [];
  const pixels = Number(number) * (PIXELS[unit.toLowerCase()] ?? Number.NaN);
  return Number.isFinite(pixels) && pixels >= 0 ? pixels : undefined;
}

function viewOf(viewBox = ''): Size | undefined {
  const numbers = viewBox
    .trim()
    .split(/[\s,]+/)
    .map(Number);
  const [, , width = -1, height = -1] = numbers;
  const usable =
    numbers.length === 4 && numbers.every(Number.isFinite) && width >= 0 && height >= 0;
  return usable ? { width, height } : undefined;
}
