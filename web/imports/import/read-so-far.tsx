import type { Report } from '../import-view.ts';
import { count } from '../in-words.ts';
import { Understood } from './understood.tsx';

/** Of a file that was refused: what was understood of it until then, for whoever looks for the fault. */
export function ReadSoFar({ report }: { report: Report }) {
  const { columns, preview } = report;
  return (
    <section class="read-so-far" aria-label="What was read before that">
      <h2>What was read before that</h2>
      <Understood report={report} refused />
      {preview.length > 0 && (
        // A wide table scrolls by itself, also by the keyboard.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must have the focus for that
        <section class="preview" aria-label="The first rows" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">line</th>
                {columns.map(({ name }) => (
                  <th key={name} scope="col" dir="auto">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {preview.map(({ line, cells }) => (
                <tr key={line}>
                  <th scope="row">{count(line)}</th>
                  {columns.map(({ name }, index) => (
                    <td key={name} dir="auto">
                      {cells[index]}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}
