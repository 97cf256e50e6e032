import type { ComponentChildren } from 'preact';
import { amount } from '../shell/amounts.ts';
import { type FleetView, MODES, type Mode, measuredSeconds, type Wait } from './fleet-view.ts';
import { MODE_TITLES, WAITS } from './in-words.ts';

/** What each mode does, in the mean of the last minute or of what there is of it. */
export function ModesTable({ view }: { view: FleetView }) {
  const { plan, measured } = view;
  const seconds = measuredSeconds(view);
  const mean = (value: number | undefined) =>
    seconds === 0 || value === undefined ? '–' : amount(value);
  const row = (name: string, of: (mode: Mode) => ComponentChildren) => (
    <tr key={name}>
      <th scope="row">{name}</th>
      {MODES.map((mode) => (
        <td key={mode}>{of(mode)}</td>
      ))}
    </tr>
  );
  const waits: Wait[] = ['gate', 'allowance', 'yield', 'refused'];
  return (
    <section class="table modes-table">
      <h2>By mode</h2>
      <p class="quiet">
        {seconds === 0
          ? 'Means are there once work has gone on for a whole ten seconds.'
          : `Means of the last ${amount(seconds)} s.`}
      </p>
      <table>
        <thead>
          <tr>
            <td />
            {MODES.map((mode) => (
              <th key={mode} scope="col">
                {MODE_TITLES[mode]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {row('Chunks that wait', (mode) => amount(measured.queues[mode].depth))}
          {row('Chunks under way or held back', (mode) => amount(measured.queues[mode].inFlight))}
          {row('Processes', (mode) =>
            of(seconds, Math.round(measured[mode].processes), plan.modes[mode].processes),
          )}
          {row('Calls in flight', (mode) =>
            of(
              seconds,
              measured[mode].inFlight,
              plan.modes[mode].processes * plan.modes[mode].gate,
            ),
          )}
          {row('Calls a second', (mode) => mean(measured[mode].callsPerSecond))}
          {row('Seconds a call', (mode) => mean(measured[mode].serviceSeconds))}
          {row('Tokens a call', (mode) => mean(measured[mode].tokensPerCall))}
          {row('Calls of the fleet table for each', (mode) => mean(measured[mode].storeOpsPerCall))}
          {row('Failed a second', (mode) => mean(measured[mode].failedPerSecond))}
          {waits.map((wait) =>
            row(`Rows that wait ${WAITS[wait]}`, (mode) => mean(measured[mode].waiting[wait])),
          )}
        </tbody>
      </table>
    </section>
  );
}

function of(seconds: number, value: number, most: number): string {
  return `${seconds === 0 ? '–' : amount(value)} of ${amount(most)}`;
}
