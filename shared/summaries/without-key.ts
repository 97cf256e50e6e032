/** Providers quote the key that they refuse. @param key nothing to hide if absent. */
export function withoutKey(text: string, key: string | undefined): string {
  return key === undefined || key === '' ? text : text.replaceAll(key, '[key]');
}
