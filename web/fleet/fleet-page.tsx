import { useEffect } from 'preact/hooks';
import { useStore } from '../shell/store.ts';
import { Trouble } from '../shell/trouble.tsx';
import { Charts } from './charts.tsx';
import { DiagnosisPanel } from './diagnosis-panel.tsx';
import { wasUsed } from './fleet-view.ts';
import { ModesTable } from './modes-table.tsx';
import { Now } from './now.tsx';
import { PlanTable } from './plan-table.tsx';
import type { FleetWatch } from './watch-fleet.ts';

/** What limits the fleet, from what, and what it was planned to be. */
export function FleetPage({ watch }: { watch: FleetWatch }) {
  const { view, depths, error } = useStore(watch);
  useEffect(() => watch.start(), [watch]);
  return (
    <main class="fleet">
      <h1>Fleet</h1>
      {error !== undefined && <Trouble error={error} onRetry={watch.look} />}
      {view === undefined && error === undefined && <p class="quiet">Looking at the fleet…</p>}
      {view !== undefined && (
        <>
          <DiagnosisPanel view={view} />
          <Now view={view} />
          {wasUsed(view) || view.diagnosis.code !== 'idle' ? (
            <Charts view={view} depths={depths} />
          ) : (
            <div class="empty">
              <h2>Nothing was called in the last ten minutes</h2>
              <p>
                Once an <a href="/imports.html">import</a> runs, there is to see here how much of
                the account it uses, and what it waits for.
              </p>
            </div>
          )}
          <ModesTable view={view} />
          <PlanTable plan={view.plan} />
        </>
      )}
    </main>
  );
}
