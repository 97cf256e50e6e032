import { useCallback, useEffect, useMemo } from 'preact/hooks';
import type { Config } from '../shell/config.ts';
import { DropTarget } from '../shell/drop-target.tsx';
import type { Dropped } from '../shell/dropped-files.ts';
import { Offline } from '../shell/offline.tsx';
import { presence } from '../shell/presence.ts';
import { sendForm } from '../shell/send-form.ts';
import { useStore } from '../shell/store.ts';
import { Top } from '../shell/top.tsx';
import { useLeaveWarning } from '../shell/use-leave-warning.ts';
import { createImportsApi } from './api.ts';
import { ImportPage } from './import/import-page.tsx';
import { createImportList } from './list/import-list.ts';
import { ImportsPage } from './list/imports-page.tsx';
import { createTransfers } from './transfers.ts';
import { useIntake } from './use-intake.ts';
import { useRoute } from './use-route.ts';

export function App({ config }: { config: Config }) {
  const api = useMemo(() => createImportsApi(config.api, config.session), [config]);
  const transfers = useMemo(() => createTransfers(api, sendForm), [api]);
  const [{ importId, rows, of }, go] = useRoute();
  const list = useMemo(() => createImportList(api, presence, of), [api, of]);
  const intake = useIntake(transfers, config.imports.maxBytes, (created) => {
    const [only] = created;
    go(created.length === 1 && only !== undefined ? { importId: only } : {});
    list.look();
  });
  useStore(transfers);
  useLeaveWarning(transfers.sending);
  useEffect(() => {
    if (importId === undefined) document.title = 'Imports · Glimpse';
  }, [importId]);

  const drop = useCallback(
    ({ files }: Dropped<File>) => {
      // What went wrong is told there.
      go({});
      void intake.take(files);
    },
    [intake.take, go],
  );

  return (
    <>
      <Top
        home="/"
        here="imports"
        session={config.session}
        dashboards={config.dashboards !== undefined}
      />
      <Offline />
      {importId === undefined ? (
        <ImportsPage list={list} of={of} transfers={transfers} intake={intake} go={go} />
      ) : (
        <ImportPage
          key={importId}
          api={api}
          transfers={transfers}
          importId={importId}
          filter={rows}
          go={go}
        />
      )}
      <DropTarget takes onDrop={drop}>
        Drop to import
      </DropTarget>
    </>
  );
}
