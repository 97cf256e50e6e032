import { useMemo } from 'preact/hooks';
import type { Config } from '../shell/config.ts';
import { Offline } from '../shell/offline.tsx';
import { presence } from '../shell/presence.ts';
import { Top } from '../shell/top.tsx';
import { FleetPage } from './fleet-page.tsx';
import { createFleetWatch } from './watch-fleet.ts';

export function App({ config }: { config: Config }) {
  const watch = useMemo(() => createFleetWatch(config.api, config.session, presence), [config]);
  return (
    <>
      <Top
        home="/"
        here="fleet"
        session={config.session}
        dashboards={config.dashboards !== undefined}
      />
      <Offline />
      <FleetPage watch={watch} />
    </>
  );
}
