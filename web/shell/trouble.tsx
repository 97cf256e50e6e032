import { useEffect } from 'preact/hooks';
import type { ApiError } from './api-error.ts';

/** Says what went wrong and what can be done; tries again by itself when the network is back. */
export function Trouble({ error, onRetry }: { error: ApiError; onRetry: () => void }) {
  useEffect(() => {
    addEventListener('online', onRetry);
    return () => removeEventListener('online', onRetry);
  }, [onRetry]);
  const busy = error.status === 429 || error.status >= 500;
  return (
    <div class="trouble" role="alert">
      <p>
        {error.status === 0
          ? 'Glimpse cannot be reached.'
          : busy
            ? 'Glimpse could not answer just now.'
            : error.message}
      </p>
      <button type="button" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
