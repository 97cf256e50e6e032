import { SaxesParser } from 'saxes';
import { CorruptError, TooLargeError, UnsupportedError } from '../errors.ts';
import { sharp } from './engine.ts';
import { MAX_SIDE } from './geometry.ts';
import { sniff } from './sniff.ts';
import { type Root, statedSize, withSize } from './svg-size.ts';

/** XML of 8 MiB is checked in a fifth of a second; libxml2's own limit is 10 MB. */
const MAX_SVG_BYTES = 8 * 1024 * 1024;
/** What entities may add to the text. Illustrator's namespaces add a few hundred characters. */
const MAX_EXPANDED = 1024 * 1024;
/** Each primitive of a filter keeps a surface of the drawing's size: 10 MB at 1600×1600. */
const MAX_PRIMITIVES = 32;
/** Embedded pictures are decoded whole, at a measured 11 bytes and 76 ns a pixel. */
const MAX_EMBEDDED_PIXELS = 16_000_000;

export interface CheckedSvg {
  /** The same document in UTF-8 without its XML declaration. */
  svg: Buffer;
  embeddedPixels: number;
}

/**
 * Refuses what could make drawing an SVG unbounded or reach outside of it, before librsvg sees it.
 *
 * Scripts and references to other files or hosts need no check: librsvg runs none and, without a
 * base URL, follows none. `data:` references it does follow, so these must be modest raster
 * pictures; an SVG in an SVG would escape the checks.
 *
 * The document is handed on as UTF-8, so that the parser here and the one in librsvg cannot read
 * two different documents out of an exotic encoding.
 */
export async function checkSvg(source: Uint8Array): Promise<CheckedSvg> {
  if (source.byteLength > MAX_SVG_BYTES) {
    throw new TooLargeError(
      `expected an SVG of at most ${MAX_SVG_BYTES} bytes and it has ${source.byteLength}`,
    );
  }
  const document = decodeText(source);
  const { embedded, root } = parse(document);
  refuseTooLarge(root);
  let embeddedPixels = 0;
  for (const picture of embedded) embeddedPixels += await pixelsOf(picture);
  if (embeddedPixels > MAX_EMBEDDED_PIXELS) {
    throw new TooLargeError(
      `expected at most ${MAX_EMBEDDED_PIXELS} pixels embedded in an SVG and it has ${embeddedPixels}`,
    );
  }
  // libvips looks for the tag in the first 1,000 bytes only, where some drawing programs write
  // comments and entities; a comment that mentions it satisfies the look.
  return { svg: Buffer.from(`<!--<svg-->${withSize(document, root)}`), embeddedPixels };
}

const DECLARATION = /^\s*<\?xml[^>]*?\?>/;

function decodeText(source: Uint8Array): string {
  const declaration = DECLARATION.exec(Buffer.from(source.subarray(0, 256)).toString('latin1'));
  const label = /encoding\s*=\s*["']([\w.:-]+)["']/.exec(declaration?.[0] ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(label, { fatal: true }).decode(source).replace(DECLARATION, '');
  } catch (error) {
    throw new CorruptError(`expected an SVG in the encoding it declares, ${label}, and it is not`, {
      cause: error,
    });
  }
}

/** libvips takes what is a million times as large for a single pixel. */
function refuseTooLarge(root: Root): void {
  const { width, height } = statedSize(root) ?? { width: 0, height: 0 };
  if (Math.max(width, height) <= MAX_SIDE) return;
  throw new TooLargeError(
    `expected an SVG of at most ${MAX_SIDE} pixels a side and it has ${width}×${height}`,
  );
}

/** Parses the whole document under the limits; returns its root and the `data:` references in it. */
function parse(document: string): { embedded: string[]; root: Root } {
  const parser = new SaxesParser({ xmlns: false, position: false });
  const embedded: string[] = [];
  let root: Root | undefined;
  let primitives = 0;
  parser.on('error', (error) => {
    throw new CorruptError('expected an SVG of well-formed XML and it is not', { cause: error });
  });
  parser.on('doctype', (doctype) => {
    const declared = entities(doctype);
    refuseMultiplying(declared, document);
    Object.assign(parser.ENTITIES, declared);
  });
  parser.on('opentag', ({ name, attributes }) => {
    // The position is that after the tag, and no attribute holds a bare `<`.
    root ??= { start: document.lastIndexOf('<', parser.position - 1), attributes };
    const element = name.replace(/^.*:/, '');
    if (element === 'filter') primitives = 0;
    if (element.startsWith('fe')) primitives += 1;
    if (primitives > MAX_PRIMITIVES) {
      throw new TooLargeError(
        `expected an SVG filter of at most ${MAX_PRIMITIVES} steps and it has more`,
      );
    }
    for (const value of Object.values(attributes)) {
      // URL parsers drop tabs and line breaks wherever they are, and leading spaces.
      const reference = value.replaceAll(/[\t\n\r]/g, '').trimStart();
      if (/^data:/i.test(reference)) embedded.push(reference);
    }
  });
  parser.write(document).close();
  if (root === undefined) throw new CorruptError('expected an SVG and it has no element');
  return { embedded, root };
}

/** The internal entities of a document type: plain text only, as drawing programs write them. */
function entities(doctype: string): Record<string, string> {
  const found: Record<string, string> = Object.create(null);
  const rest = doctype.replaceAll(
    /<!ENTITY\s+([\w.:-]+)\s+(?:"([^"]*)"|'([^']*)')\s*>/g,
    (_match, name: string, double: string | undefined, single: string | undefined) => {
      const value = double ?? single ?? '';
      // An entity made of entities is how a kilobyte becomes a gigabyte.
      if (/[&%<]/.test(value)) throw new UnsupportedError(NESTS);
      found[name] = value;
      return '';
    },
  );
  if (/<!ENTITY/i.test(rest)) throw new UnsupportedError(NESTS);
  return found;
}

/** Before anything is expanded: one entity of 50 KB in 50,000 places makes 2.5 GB. */
function refuseMultiplying(declared: Record<string, string>, document: string): void {
  let added = 0;
  for (const [, name = ''] of document.matchAll(/&([\w.:-]+);/g))
    added += (declared[name] ?? '').length;
  if (added <= MAX_EXPANDED) return;
  throw new TooLargeError(
    `expected an SVG whose entities add at most ${MAX_EXPANDED} characters and they add ${added}`,
  );
}

const NESTS =
  'expected an SVG whose entities are plain text and they refer to other entities or files';

async function pixelsOf(reference: string): Promise<number> {
  const [, base64, data] = /^data:[^,]*?(;base64)?,(.*)$/is.exec(reference) ?? [];
  const picture = Buffer.from(
    decodeURIComponent((data ?? '').replaceAll(/%(?![\da-f]{2})/gi, '%25')),
    base64 === undefined ? 'latin1' : 'base64',
  );
  try {
    const kind = sniff(picture);
    if (kind !== 'svg') {
      const { width, height } = await sharp(picture, { limitInputPixels: false }).metadata();
      return width * height;
    }
  } catch (error) {
    throw new UnsupportedError(EMBEDS, { cause: error });
  }
  throw new UnsupportedError(EMBEDS);
}

const EMBEDS =
  'expected an SVG that embeds nothing but raster pictures and it embeds something else';
