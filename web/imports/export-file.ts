import { ApiError } from '../shell/api-error.ts';
import type { ImportsApi } from './api.ts';

const LEAST_MS = 300;
const MOST_MS = 10_000;

/**
 * Asks for the file until it is made, and answers where it is. Rejects as the signal says, or with an
 * ApiError.
 */
export async function prepareExport(
  api: Pick<ImportsApi, 'exported'>,
  importId: string,
  { only, signal }: { only?: 'failed' | undefined; signal: AbortSignal },
): Promise<string> {
  for (;;) {
    signal.throwIfAborted();
    const told = await api.exported(importId, only);
    signal.throwIfAborted();
    if ('url' in told) return told.url;
    const wait = Math.min(MOST_MS, Math.max(LEAST_MS, told.retryAfterMs));
    await new Promise((done) => setTimeout(done, wait));
  }
}

/** Has the browser fetch it as its own download, however large it is. */
export function download(url: string): void {
  const link = document.createElement('a');
  link.href = url;
  link.download = '';
  link.rel = 'noreferrer';
  link.click();
}

export function exportTrouble(error: unknown): string {
  return error instanceof ApiError && error.status > 0 && error.status < 500
    ? error.message
    : 'The export could not be made just now. Try again.';
}
