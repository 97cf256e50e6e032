import type { SignIn } from '../shell/config.ts';
import { createSession, readTokens, type Session, type Tokens } from './session.ts';

// Kept for a tab, and gone with it.
const TOKENS = 'glimpse-tokens';
/** Somebody has signed out: the issuer may still know them, and is not to let them in without a word. */
const LEFT = 'glimpse-signed-out';
export const PENDING = 'glimpse-sign-in';
/** By which a window that signed in again tells the page that waits. */
export const CHANNEL = 'glimpse-sign-in';

export function keepTokens(tokens: Tokens): void {
  sessionStorage.setItem(TOKENS, JSON.stringify(tokens));
  sessionStorage.removeItem(LEFT);
}

/** Most of the time there are tokens, and the way to the issuer is not needed. */
const loadIssuer = () => import('./issuer.ts');

/** The session of this tab. Where there is none the browser goes to sign in, and this never answers. */
export async function openSession(signIn: SignIn): Promise<Session> {
  const tokens = readTokens(sessionStorage.getItem(TOKENS));
  if (tokens === undefined) {
    const asked = sessionStorage.getItem(LEFT) === null ? {} : { prompt: 'login' };
    await goAndSignIn(signIn, { returnTo: here(), beside: false, ...asked });
    return await new Promise<never>(() => {});
  }
  const session = createSession(tokens, {
    refresh: async (old) => (await loadIssuer()).refresh(signIn, old),
    keep: keepTokens,
    openWindow: () => {
      open('/signin.html?beside', '_blank', 'popup,width=520,height=640');
    },
    async leave(old) {
      sessionStorage.removeItem(TOKENS);
      sessionStorage.setItem(LEFT, '');
      const { signOutAddress } = await loadIssuer();
      location.assign(await signOutAddress(signIn, old));
    },
    now: Date.now,
  });
  new BroadcastChannel(CHANNEL).addEventListener('message', ({ data }) => {
    const fresh = readTokens(String(data));
    // Of the windows of somebody each waits for itself; one that does not wait keeps what it has.
    if (fresh !== undefined && session.state.ended) session.resume(fresh);
  });
  return session;
}

/** Remembers what is begun, and leaves the page. */
export async function goAndSignIn(
  signIn: SignIn,
  how: { returnTo: string; beside: boolean; prompt?: string },
): Promise<void> {
  const { beginSignIn } = await loadIssuer();
  const { address, pending } = await beginSignIn(signIn, how);
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  location.replace(address);
}

const here = () => location.pathname + location.search + location.hash;
