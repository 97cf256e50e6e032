import { useEffect, useRef, useState } from 'preact/hooks';
import type { ImportsApi } from '../api.ts';
import { download, exportTrouble, prepareExport } from '../export-file.ts';
import type { ImportView } from '../import-view.ts';

/** The file again, with its summaries: all rows, or those that failed. */
export function ExportButtons({ api, view }: { api: ImportsApi; view: ImportView }) {
  const { importId, rows } = view;
  const [preparing, setPreparing] = useState<'all' | 'failed' | undefined>(undefined);
  const [trouble, setTrouble] = useState<string | undefined>(undefined);
  const abort = useRef<AbortController | undefined>(undefined);
  useEffect(() => () => abort.current?.abort(), []);

  const make = async (which: 'all' | 'failed') => {
    abort.current?.abort();
    const mine = new AbortController();
    abort.current = mine;
    setPreparing(which);
    setTrouble(undefined);
    try {
      const only = which === 'failed' ? which : undefined;
      download(await prepareExport(api, importId, { only, signal: mine.signal }));
      setPreparing(undefined);
    } catch (error) {
      if (mine.signal.aborted) return;
      setPreparing(undefined);
      setTrouble(exportTrouble(error));
    }
  };

  return (
    <>
      <button type="button" disabled={preparing !== undefined} onClick={() => void make('all')}>
        {preparing === 'all' ? 'Preparing…' : 'Export'}
      </button>
      {rows.failed > 0 && (
        <button
          type="button"
          disabled={preparing !== undefined}
          onClick={() => void make('failed')}
        >
          {preparing === 'failed' ? 'Preparing…' : 'Export failed'}
        </button>
      )}
      <p class={trouble === undefined ? 'for-readers' : 'refused'} role="status">
        {trouble ??
          (preparing === undefined ? '' : 'The export is being prepared. It downloads by itself.')}
      </p>
    </>
  );
}
