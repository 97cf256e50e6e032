import { decodeKey, encodeKey } from './object-key.ts';
import { escapeXml } from './xml.ts';

const TRANSLATED = ['prefix', 'delimiter', 'marker', 'start-after'];
const PASSED = ['list-type', 'max-keys', 'continuation-token'];

/** A listing's parameters as fauxqs must get them, with keys encoded. */
export function listingQuery(
  query: readonly (readonly [string, string])[],
): Record<string, string> {
  const pairs = query.flatMap(([name, value]) => {
    if (TRANSLATED.includes(name)) return [[name, encodeKey(value)] as const];
    return PASSED.includes(name) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(pairs);
}

/** fauxqs' listing as S3 would have given it. */
export function translateListing(xml: string, encodingType: string | undefined): string {
  const asUrl = encodingType === 'url';
  const written = (encoded: string) => {
    const key = decodeKey(encoded);
    return asUrl ? encodeListedKey(key) : escapeXml(key);
  };
  return withNextPage(xml)
    .replace(
      /<(Key|Prefix|Delimiter|Marker|NextMarker|StartAfter)>([0-9a-v]*)<\/\1>/g,
      (_element, name: string, encoded: string) => `<${name}>${written(encoded)}</${name}>`,
    )
    .replace(
      '</ListBucketResult>',
      asUrl ? '<EncodingType>url</EncodingType></ListBucketResult>' : '</ListBucketResult>',
    );
}

/**
 * fauxqs goes on after the last key although folders that come later were listed, and so would list
 * these again.
 */
function withNextPage(xml: string): string {
  const found = xml.matchAll(/<(?:Key|CommonPrefixes><Prefix)>([0-9a-v]*)</g);
  const listed = [...found].map((match) => match[1] ?? '');
  const last = listed.sort().at(-1);
  if (last === undefined) return xml;
  const token = Buffer.from(last).toString('base64');
  return xml
    .replace(
      /<NextContinuationToken>.*?<\/NextContinuationToken>/,
      `<NextContinuationToken>${token}</NextContinuationToken>`,
    )
    .replace(/<NextMarker>.*?<\/NextMarker>/, `<NextMarker>${last}</NextMarker>`);
}

/** With `encoding-type=url`: what XML cannot carry. */
function encodeListedKey(key: string): string {
  return encodeURIComponent(key).replaceAll('%2F', '/').replaceAll('%20', '+');
}
