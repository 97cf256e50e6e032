import type { ComponentChildren } from 'preact';
import { type FleetView, MODES, type Mode, type Wait } from './fleet-view.ts';
import { amount, MODE_TITLES, WAITS } from './in-words.ts';

/** What each mode does, in the mean of the last minute. */
export function ModesTable({ view }: { view: FleetView }) {
  const { plan, measured } = view;
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
            of(Math.round(measured[mode].processes), plan.modes[mode].processes),
          )}
          {row('Calls in flight', (mode) =>
            of(measured[mode].inFlight, plan.modes[mode].processes * plan.modes[mode].gate),
          )}
          {row('Calls a second', (mode) => amount(measured[mode].callsPerSecond))}
          {row('Seconds a call', (mode) => known(measured[mode].serviceSeconds))}
          {row('Tokens a call', (mode) => known(measured[mode].tokensPerCall))}
          {row('Calls of the fleet table for each', (mode) =>
            amount(measured[mode].storeOpsPerCall),
          )}
          {row('Failed a second', (mode) => amount(measured[mode].failedPerSecond))}
          {waits.map((wait) =>
            row(`Rows that wait ${WAITS[wait]}`, (mode) => amount(measured[mode].waiting[wait])),
          )}
        </tbody>
      </table>
    </section>
  );
}

function of(value: number, most: number): string {
  return `${amount(value)} of ${amount(most)}`;
}

function known(value: number | undefined): string {
  return value === undefined ? '–' : amount(value);
}
