import { useEffect } from 'preact/hooks';
import { useStore } from '../shell/store.ts';
import { Trouble } from '../shell/trouble.tsx';
import { Chart } from './chart.tsx';
import type { DashboardView } from './dashboard-view.ts';
import { Markdown } from './markdown.tsx';
import { type DashboardsWatch, RANGES } from './watch-dashboards.ts';

/** CloudWatch's dashboards of the template, of what was measured on this machine. */
export function DashboardsPage({ watch }: { watch: DashboardsWatch }) {
  const { dashboards, minutes, error } = useStore(watch);
  useEffect(() => watch.start(), [watch]);
  return (
    <main class="dashboards">
      <h1>Dashboards</h1>
      <div class="intro">
        <p class="quiet">
          The template’s own, as CloudWatch draws them, of what was measured here since the start. A
          point is a minute; the last one is not over.
        </p>
        <fieldset class="ranges">
          <legend class="for-readers">Time shown</legend>
          {RANGES.map((range) => (
            <button
              key={range}
              type="button"
              aria-pressed={range === minutes}
              onClick={() => watch.choose(range)}
            >
              {range < 60 ? `${range} min` : `${range / 60} h`}
            </button>
          ))}
        </fieldset>
      </div>
      {error !== undefined && <Trouble error={error} onRetry={watch.look} />}
      {dashboards === undefined && error === undefined && <p class="quiet">Reading…</p>}
      {dashboards?.map((dashboard) => (
        <Dashboard key={dashboard.name} dashboard={dashboard} />
      ))}
    </main>
  );
}

function Dashboard({ dashboard: { name, widgets } }: { dashboard: DashboardView }) {
  return (
    <section class="dashboard" aria-label={name}>
      {widgets.map((widget) => {
        const key = `${widget.x} ${widget.y}`;
        return widget.kind === 'text' ? (
          <div key={key} class="words">
            <Markdown text={widget.markdown} />
          </div>
        ) : (
          <Chart key={key} chart={widget} />
        );
      })}
    </section>
  );
}
