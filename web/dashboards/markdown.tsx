import type { ComponentChild } from 'preact';

/** As much of Markdown as dashboards use: a heading, paragraphs, `**bold**`, `*stressed*` and code. */
export function Markdown({ text }: { text: string }) {
  return (
    <>
      {text
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => {
          const heading = /^#+ (.*)$/.exec(line)?.[1];
          return heading === undefined ? (
            <p key={line}>{spans(line)}</p>
          ) : (
            <h2 key={line}>{spans(heading)}</h2>
          );
        })}
    </>
  );
}

function spans(line: string): ComponentChild[] {
  return line.split(/(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`)/).map((part) => {
    if (part.startsWith('**')) return <strong>{part.slice(2, -2)}</strong>;
    if (part.length > 1 && part.startsWith('*')) return <em>{part.slice(1, -1)}</em>;
    if (part.startsWith('`')) return <code>{part.slice(1, -1)}</code>;
    return part;
  });
}
