import { amount } from '../shell/amounts.ts';
import type { FleetView, Rates } from './fleet-view.ts';
import { MODES, measuredSeconds, mostChunks } from './fleet-view.ts';

/** The figures that say how much of everything is used. */
export function Now({ view }: { view: FleetView }) {
  const { plan, measured } = view;
  const isMeasured = measuredSeconds(view) > 0;
  const of = (read: (rates: Rates) => number) =>
    isMeasured ? MODES.reduce((all, mode) => all + read(measured[mode]), 0) : undefined;
  const ceiling = MODES.reduce((all, mode) => all + plan.modes[mode].processes, 0);
  const chunks = (read: (queue: Queue) => number) =>
    MODES.reduce((all, mode) => all + read(measured.queues[mode]), 0);
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
        <Used name="Processes" value={of((each) => each.processes)} most={ceiling} isWhole />
        <Used
          name="Chunks under way or held back"
          value={chunks(({ inFlight }) => inFlight)}
          most={mostChunks(plan)}
        />
        <Used name="Chunks waiting" value={chunks(({ depth }) => depth)} />
        <Used name="Rows that give way" value={of(({ waiting }) => waiting.yield)} />
        <Used name="Refused a second" value={of((each) => each.refusedPerSecond)} />
      </dl>
      {isMeasured && (
        <p class="quiet">
          Means of the last {amount(measuredSeconds(view))} s; chunks as they are now, with those
          that stay hidden for some minutes after their worker has ended.
        </p>
      )}
    </section>
  );
}

type Queue = FleetView['measured']['queues']['bulk'];

interface UsedProps {
  name: string;
  /** Undefined where it is not known yet. */
  value: number | undefined;
  most?: number | undefined;
  isWhole?: boolean;
}

function Used({ name, value, most, isWhole = false }: UsedProps) {
  const part = most === undefined || most === 0 ? 0 : Math.min(1, (value ?? 0) / most);
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>{value === undefined ? '–' : amount(isWhole ? Math.round(value) : value)}</strong>
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
