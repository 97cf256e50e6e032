import type { FleetView, Rates } from './fleet-view.ts';
import { MODES } from './fleet-view.ts';
import { amount } from './in-words.ts';

/** The figures that say how much of everything is used. */
export function Now({ view }: { view: FleetView }) {
  const { plan, measured } = view;
  const of = (read: (rates: Rates) => number) =>
    MODES.reduce((all, mode) => all + read(measured[mode]), 0);
  const ceiling = MODES.reduce((all, mode) => all + plan.modes[mode].processes, 0);
  const waiting = MODES.reduce((all, mode) => all + measured.queues[mode].depth, 0);
  return (
    <section aria-label="Now">
      <dl class="now">
        <Used name="Calls in flight" value={of((each) => each.inFlight)} most={plan.fleetBound} />
        <Used
          name="Calls a second"
          value={of((each) => each.callsPerSecond)}
          most={plan.allowed.callsPerSecond}
        />
        <Used
          name="Tokens a second"
          value={of((each) => each.tokensPerSecond)}
          most={plan.allowed.tokensPerSecond}
        />
        <Used name="Processes" value={Math.round(of((each) => each.processes))} most={ceiling} />
        <Used name="Chunks waiting" value={waiting} />
        <Used name="Refused a second" value={of((each) => each.refusedPerSecond)} />
      </dl>
    </section>
  );
}

function Used({ name, value, most }: { name: string; value: number; most?: number | undefined }) {
  const part = most === undefined || most === 0 ? 0 : Math.min(1, value / most);
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{amount(value)}</strong>
        {most !== undefined && <span> of {amount(most)}</span>}
        {most !== undefined && (
          <span class="meter" aria-hidden="true">
            <span style={{ width: `${part * 100}%` }} />
          </span>
        )}
      </dd>
    </div>
  );
}
