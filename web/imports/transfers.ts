import { ApiError } from '../shell/api-error.ts';
import type { Sending } from '../shell/send-form.ts';
import { createStore, type Store } from '../shell/store.ts';
import type { ImportsApi, NewImport } from './api.ts';

// The files that this page has: those it sends, and those it could send again.

/** Never changed: another state is another object. */
export interface Transfer {
  readonly file: File;
  readonly wanted: NewImport;
  readonly bytes: number;
  readonly sent: number;
  readonly state: 'sending' | 'sent' | 'failed';
  /** Why it failed, in words. */
  readonly trouble: string | undefined;
}

export interface TransfersState {
  readonly byImport: ReadonlyMap<string, Transfer>;
}

export interface Transfers extends Pick<Store<TransfersState>, 'state' | 'subscribe'> {
  /**
   * Creates the import and answers its id; the file follows. Rejects with an ApiError.
   *
   * @param instead an import that this one takes the place of: it is cancelled
   */
  begin(file: File, wanted: NewImport, instead?: string): Promise<string>;
  /** Stops the sending, if it is under way, and forgets the file. */
  drop(importId: string): void;
  readonly sending: boolean;
}

export function createTransfers(
  api: Pick<ImportsApi, 'create' | 'act'>,
  send: (sending: Sending<File>) => Promise<void>,
): Transfers {
  const store = createStore<TransfersState>({ byImport: new Map() });
  const aborts = new Map<string, AbortController>();
  const change = (importId: string, changes: Partial<Transfer>) => {
    const before = store.state.byImport.get(importId);
    if (before === undefined) return;
    const byImport = new Map(store.state.byImport).set(importId, { ...before, ...changes });
    store.set({ byImport });
  };

  const begin: Transfers['begin'] = async (file, wanted, instead) => {
    const { importId, form } = await api.create(wanted);
    if (instead !== undefined) {
      // One that stays is an import nobody started: no reason to trouble anybody.
      void api.act(instead, 'cancel').catch(() => {});
      drop(instead);
    }
    const abort = new AbortController();
    aborts.set(importId, abort);
    const transfer: Transfer = {
      file,
      wanted,
      bytes: file.size,
      sent: 0,
      state: 'sending',
      trouble: undefined,
    };
    store.set({ byImport: new Map(store.state.byImport).set(importId, transfer) });
    void send({
      form,
      file,
      signal: abort.signal,
      onProgress: (sent) => change(importId, { sent: Math.min(sent, file.size) }),
    }).then(
      () => change(importId, { state: 'sent', sent: file.size }),
      (error: unknown) => change(importId, { state: 'failed', trouble: troubleOf(error) }),
    );
    return importId;
  };

  const drop = (importId: string) => {
    aborts.get(importId)?.abort();
    aborts.delete(importId);
    const byImport = new Map(store.state.byImport);
    if (byImport.delete(importId)) store.set({ byImport });
  };

  return {
    begin,
    drop,
    subscribe: store.subscribe,
    get state() {
      return store.state;
    },
    get sending() {
      return [...store.state.byImport.values()].some(({ state }) => state === 'sending');
    },
  };
}

/** What went wrong with a sending, by the storage's status and code. */
export function troubleOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  const { status, code } = { status: 0, code: '', ...Object(error) };
  if (code === 'unreadable') {
    return 'The file cannot be read any more: it was moved, changed or deleted. Choose it again.';
  }
  if (status === 0) return 'The connection broke. Check the network, then send it again.';
  if (code === 'EntityTooLarge') return 'The file is larger than can be taken. Split it.';
  if (status === 403) return 'The permission to upload ran out. Send it again to get a new one.';
  if (status === 408 || status === 429 || status >= 500) {
    return 'The storage is busy. Send it again in a minute.';
  }
  return 'The storage does not take this file. Whoever runs this site can tell why.';
}
