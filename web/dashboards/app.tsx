import { useMemo } from 'preact/hooks';
import { Offline } from '../shell/offline.tsx';
import { presence } from '../shell/presence.ts';
import { Top } from '../shell/top.tsx';
import { DashboardsPage } from './dashboards-page.tsx';
import { createDashboardsWatch } from './watch-dashboards.ts';

export function App({ path }: { path: string }) {
  const watch = useMemo(() => createDashboardsWatch(path, presence), [path]);
  return (
    <>
      <Top home="/" here="dashboards" session={undefined} dashboards />
      <Offline />
      <DashboardsPage watch={watch} />
    </>
  );
}
