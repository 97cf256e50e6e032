/** Galleries that somebody may reach: all, or those named and whatever is below them. */
export type Prefixes = 'all' | readonly string[];

/**
 * What a claim says: galleries parted by spaces, each percent-encoded, or `*` for all. What is not
 * well encoded covers nothing, and neither does a claim that is not there.
 *
 * API Gateway writes a list as `[a b]`, and encoded there are no brackets in a gallery.
 */
export function parsePrefixes(claim: string | undefined): Prefixes {
  const words = (claim ?? '').replace(/^\[(.*)\]$/s, '$1').split(' ');
  const named = words.filter((word) => word !== '');
  if (named.includes('*')) return 'all';
  const decoded = named.map(decode).filter((gallery) => gallery !== undefined);
  // One that is below another adds nothing.
  return [...new Set(decoded)]
    .filter((gallery) => !decoded.some((other) => other !== gallery && isWithin(other, gallery)))
    .sort();
}

function decode(word: string): string | undefined {
  try {
    return decodeURIComponent(word);
  } catch {
    return undefined;
  }
}

/** `a/b` covers the galleries `a/b` and `a/b/c`, and not `a/bc`. */
export function mayReach(prefixes: Prefixes, gallery: string): boolean {
  return prefixes === 'all' || prefixes.some((prefix) => isWithin(prefix, gallery));
}

function isWithin(prefix: string, gallery: string): boolean {
  return gallery === prefix || gallery.startsWith(`${prefix}/`);
}
