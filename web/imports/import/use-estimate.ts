import { useEffect, useState } from 'preact/hooks';
import { ApiError } from '../../shell/api-error.ts';
import type { ImportsApi, Wishes } from '../api.ts';
import type { Estimate, ImportView } from '../import-view.ts';

/** Milliseconds of rest before what was changed is asked about. */
const REST_MS = 250;

export interface Estimated {
  /** The last that came; of something else while `pending`. */
  readonly estimate: Estimate | undefined;
  readonly pending: boolean;
  readonly error: ApiError | undefined;
  again(): void;
}

/** What it will cost with these wishes, asked again when they change. */
export function useEstimate(
  api: ImportsApi,
  { importId, estimate: known }: ImportView,
  wishes: Wishes | undefined,
): Estimated {
  const { maxCostUsd: _, ...asked } = wishes ?? {};
  const key = wishes === undefined ? '' : JSON.stringify(asked);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<Omit<Estimated, 'again'>>({
    estimate: known,
    pending: known === undefined,
    error: undefined,
  });
  // With nothing changed it is what the import itself says.
  const given = key === '{}' ? known : undefined;
  useEffect(() => {
    if (key === '') return;
    if (given !== undefined) {
      setState({ estimate: given, pending: false, error: undefined });
      return;
    }
    const abort = new AbortController();
    setState(({ estimate }) => ({ estimate, pending: true, error: undefined }));
    const timer = setTimeout(async () => {
      try {
        const estimate = await api.estimate(importId, asked, abort.signal);
        if (!abort.signal.aborted) setState({ estimate, pending: false, error: undefined });
      } catch (error) {
        if (abort.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setState({ estimate: undefined, pending: false, error });
      }
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [api, importId, key, turn, given?.costUsd]);
  const shown = given === undefined ? state : { estimate: given, pending: false, error: undefined };
  return { ...shown, again: () => setTurn(turn + 1) };
}
