import { fields, number, optional, text } from '../shell/read-json.ts';
import { createStore, type Store } from '../shell/store.ts';

/** What an issuer gave somebody. */
export interface Tokens {
  /** For the API. */
  readonly accessToken: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
  readonly refreshToken?: string;
  readonly idToken?: string;
  /** The name of whose they are. */
  readonly who?: string;
}

export interface SessionState {
  readonly who: string | undefined;
  /** Somebody has to sign in again before what waits can go on. */
  readonly ended: boolean;
  /** The API takes none of their tokens, not even one that was just renewed. */
  readonly refused: boolean;
}

/** Somebody who is signed in. */
export interface Session extends Pick<Store<SessionState>, 'state' | 'subscribe'> {
  /**
   * A token to send. @param refused the one that the API did not take: another is got, if need be by
   * waiting until somebody has signed in again, and what was typed stays meanwhile.
   */
  token(refused?: string): Promise<string>;
  /** @param accepted whether the API took the token, and else the one that it was renewed to. */
  answered(accepted: boolean): void;
  /** Opens a window in which to sign in again. */
  signInAgain(): void;
  signOut(): Promise<void>;
}

/** What the session needs of its surroundings. */
export interface Surroundings {
  refresh(tokens: Tokens): Promise<Tokens>;
  /** Keeps them for as long as the tab is open. */
  keep(tokens: Tokens): void;
  openWindow(): void;
  leave(tokens: Tokens): Promise<void>;
  now(): number;
}

/** A token that ends sooner than this is not used any more, in milliseconds. */
const MARGIN = 30_000;

export interface OpenSession extends Session {
  /** Somebody has signed in again, in another window. */
  resume(tokens: Tokens): void;
}

export function createSession(given: Tokens, around: Surroundings): OpenSession {
  let tokens = given;
  let renewing: Promise<void> | undefined;
  let resumed: (() => void) | undefined;
  const store = createStore<SessionState>({
    who: given.who,
    ended: false,
    refused: false,
  });

  const take = (fresh: Tokens): void => {
    tokens = fresh;
    around.keep(fresh);
    store.set({ who: fresh.who, ended: false });
  };

  const renew = async (): Promise<void> => {
    try {
      take(await around.refresh(tokens));
    } catch {
      const back = new Promise<void>((done) => {
        resumed = done;
      });
      store.set({ ended: true });
      await back;
    }
  };

  return {
    subscribe: store.subscribe,
    get state() {
      return store.state;
    },
    async token(refused) {
      const old = tokens.expiresAt - MARGIN <= around.now();
      if (old || refused === tokens.accessToken) {
        // One for all that wait.
        renewing ??= renew().finally(() => {
          renewing = undefined;
        });
        await renewing;
      }
      return tokens.accessToken;
    },
    answered(accepted) {
      if (store.state.refused === accepted) store.set({ refused: !accepted });
    },
    resume(fresh) {
      take(fresh);
      store.set({ refused: false });
      resumed?.();
      resumed = undefined;
    },
    signInAgain: around.openWindow,
    signOut: () => around.leave(tokens),
  };
}

export function readTokens(stored: string | null): Tokens | undefined {
  if (stored === null) return undefined;
  try {
    const told = fields(JSON.parse(stored));
    const refreshToken = optional(told.refreshToken, text);
    const idToken = optional(told.idToken, text);
    const who = optional(told.who, text);
    return {
      accessToken: text(told.accessToken),
      expiresAt: number(told.expiresAt),
      ...(refreshToken === undefined ? {} : { refreshToken }),
      ...(idToken === undefined ? {} : { idToken }),
      ...(who === undefined ? {} : { who }),
    };
  } catch {
    return undefined;
  }
}
