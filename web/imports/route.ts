/** What the page's address shows: imports, and whose, or one of them, and which of its rows. */
export interface Route {
  readonly importId: string | undefined;
  readonly rows: 'all' | 'failed';
  readonly of: 'everyone' | undefined;
}

const PATH = '/imports.html';

export function parseRoute(search: string): Route {
  const query = new URLSearchParams(search);
  return {
    importId: query.get('import') || undefined,
    rows: query.get('rows') === 'failed' ? 'failed' : 'all',
    of: query.get('of') === 'everyone' ? 'everyone' : undefined,
  };
}

export function hrefOf({ importId, rows, of }: Partial<Route>): string {
  if (importId === undefined)
    return of === undefined ? PATH : `${PATH}?${new URLSearchParams({ of })}`;
  return `${PATH}?${new URLSearchParams({
    import: importId,
    ...(rows === 'failed' ? { rows } : {}),
  })}`;
}
