const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const NAMED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(ENTITIES).map(([character, entity]) => [entity, character]),
);

export function escapeXml(text: string): string {
  return text
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character)
    .replace(/\p{Cc}/gu, (control) => `&#x${control.charCodeAt(0).toString(16).toUpperCase()};`);
}

function unescapeXml(text: string): string {
  return text.replace(
    /&(?:#x([0-9a-f]+)|#(\d+)|\w+);/gi,
    (entity, hex?: string, decimal?: string) => {
      if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
      if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
      return NAMED[entity] ?? entity;
    },
  );
}

/** The text of each element of that name, in order; enough for the flat documents of S3. */
export function textsOf(xml: string, element: string): string[] {
  const pattern = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`, 'g');
  return [...xml.matchAll(pattern)].map((match) => unescapeXml(match[1] ?? ''));
}
