/** What the page's address shows: all imports, or one of them, and which of its rows. */
export interface Route {
  readonly importId: string | undefined;
  readonly rows: 'all' | 'failed';
}

const PATH = '/imports.html';

export function parseRoute(search: string): Route {
  const query = new URLSearchParams(search);
  return {
    importId: query.get('import') || undefined,
    rows: query.get('rows') === 'failed' ? 'failed' : 'all',
  };
}

export function hrefOf({ importId, rows }: Partial<Route>): string {
  if (importId === undefined) return PATH;
  return `${PATH}?${new URLSearchParams({
    import: importId,
    ...(rows === 'failed' ? { rows } : {}),
  })}`;
}
