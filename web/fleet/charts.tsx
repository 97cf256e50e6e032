import { Chart, type ChartLine } from './chart.tsx';
import { type DepthSample, depthsAt } from './depth-history.ts';
import { type FleetView, MODES, mostChunks, type SeriesName } from './fleet-view.ts';
import { MODE_TITLES } from './in-words.ts';

/** The last ten minutes, each against what it may be at most. */
export function Charts({ view, depths }: { view: FleetView; depths: readonly DepthSample[] }) {
  const { plan, measured } = view;
  const { times } = measured.series;
  const linesOf = (name: SeriesName, bound?: { label: string; value: number }): ChartLine[] => [
    ...MODES.map((mode) => ({
      look: mode,
      label: MODE_TITLES[mode],
      values: measured.series[mode][name],
    })),
    ...(bound === undefined
      ? []
      : [{ look: 'bound' as const, label: bound.label, values: times.map(() => bound.value) }]),
  ];
  const ceiling = mostChunks(plan);
  const waiting: ChartLine[] = [
    ...MODES.map((mode) => ({
      look: mode,
      label: MODE_TITLES[mode],
      values: depthsAt(depths, times, mode),
    })),
    { look: 'bound', label: 'Taken at once, at most', values: times.map(() => ceiling) },
  ];
  const { callsPerSecond, tokensPerSecond } = plan.allowed;
  return (
    <section class="charts" aria-label="The last ten minutes">
      <Chart
        title="Calls in flight"
        times={times}
        lines={linesOf('inFlight', { label: 'Fleet bound', value: plan.fleetBound })}
      />
      <Chart
        title="Calls a second"
        times={times}
        lines={linesOf('callsPerSecond', { label: 'Allowance', value: callsPerSecond })}
      />
      <Chart
        title="Tokens a second"
        times={times}
        lines={linesOf(
          'tokensPerSecond',
          tokensPerSecond === undefined
            ? undefined
            : { label: 'Allowance', value: tokensPerSecond },
        )}
      />
      <Chart title="Chunks waiting, since this page is open" times={times} lines={waiting} />
      <Chart title="Refused a second" times={times} lines={linesOf('refusedPerSecond')} />
      <Chart
        title="Rows that give way to other callers"
        times={times}
        lines={linesOf('yielding')}
      />
    </section>
  );
}
