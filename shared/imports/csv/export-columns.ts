import { escapeFormula } from './write-csv.ts';

/** What an export has beside the file's own columns. */
const ADDED = ['summary', 'summary state', 'summary reason'] as const;

/**
 * The names of an export's columns: the file's, then what was added. A file that has columns of those
 * names, as one that was exported before, keeps them, and the new ones are numbered: an export can
 * always be imported, which takes no name twice.
 */
export function exportColumns(header: readonly string[]): string[] {
  // Names that differ only by case are one name to many who read the file.
  const taken = new Set(header.map(folded));
  let number = 1;
  while (ADDED.some((name) => taken.has(folded(numbered(name, number))))) number += 1;
  const columns = [...header, ...ADDED.map((name) => numbered(name, number))];
  const written = new Set<string>();
  return columns.map((name) => {
    let own = escapeFormula(name);
    // `=a` and `'=a` would be written alike.
    while (written.has(own)) own = `'${own}`;
    written.add(own);
    return own;
  });
}

const folded = (name: string) => name.toLowerCase();

const numbered = (name: string, number: number) => (number === 1 ? name : `${name} ${number}`);
