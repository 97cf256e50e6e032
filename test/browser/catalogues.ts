// Catalogues such as a shop's system exports: made up, and the same each time.

const THINGS = [
  ['Enamel mug', 'A mug of enamelled steel that survives the campfire and the dishwasher'],
  ['Linen apron', 'A cross-back apron of washed linen with two deep pockets'],
  ['Oak serving board', 'A board of oiled oak with a groove for the knife and a leather loop'],
  ['Wool throw', 'A heavy throw of undyed wool, woven in a small mill and felted once'],
  ['Pocket torch', 'A torch for the coat pocket with a warm light and a battery that lasts a week'],
  ['Café tumbler', 'A tumbler of thick pressed glass that stacks and does not mind being dropped'],
  ['Beeswax candle', 'A hand-rolled candle that burns for nine hours and smells of honey'],
  ['Travel kettle', 'A kettle of half a litre whose handle folds flat against its side'],
] as const;
const MATERIALS = ['steel', 'linen', 'oak', 'wool', 'brass', 'glass', 'beeswax', 'aluminium'];
const COLOURS = ['ivory', 'slate', 'moss', 'rust', 'night blue'];
const NOTES = [
  'It suits a small kitchen and makes a present for those who have everything.',
  'Customers praise the weight of it, and ask for a larger one.',
  'Each is a little different, which the photograph should show.',
  '',
];

const of = <T>(list: readonly T[], index: number): T => {
  const found = list[index % list.length];
  if (found === undefined) throw new Error('The list is empty.');
  return found;
};

export const HEADER = ['sku', 'name', 'description', 'material', 'colour', 'price', 'notes'];

export const skuOf = (row: number) => `GL-${String(10_000 + row * 7)}`;

/** The cells of a row, from 1. */
function product(row: number): string[] {
  const [name, description] = of(THINGS, row * 5);
  const colour = of(COLOURS, row * 3);
  return [
    skuOf(row),
    `${name}, ${colour}`,
    `${description}. No. ${row} of its series.`,
    of(MATERIALS, row * 5),
    colour,
    (4 + ((row * 37) % 900) / 10).toFixed(2),
    of(NOTES, row),
  ];
}

/** A file of so many rows. Semicolons, as where a comma is in every price. */
export function catalogue(rows: number, separator = ';'): string {
  const lines = [HEADER, ...Array.from({ length: rows }, (_, index) => product(index + 1))];
  return `${lines.map((cells) => cells.map((cell) => quoted(cell, separator)).join(separator)).join('\n')}\n`;
}

/** One that people made by hand: blank lines, and lines that lack a cell. */
export function untidyCatalogue(rows: number): string {
  const lines = catalogue(rows).split('\n');
  lines.splice(40, 0, '', '');
  for (const line of [17, 203, 204, 377, 640, 701]) {
    const cells = lines[line]?.split(';');
    if (cells !== undefined) lines[line] = cells.slice(0, -1).join(';');
  }
  return lines.join('\n');
}

function quoted(cell: string, separator: string): string {
  return cell.includes(separator) || cell.includes('"') ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/** A quote that is opened and never closed. */
export const BROKEN = `${catalogue(30)}GL-1;"An open end;of steel\n${catalogue(20)}`;
