import { useStore } from '../shell/store.ts';
import type { Session } from './session.ts';

/** Who it is, and the way out. */
export function SignedIn({ session }: { session: Session }) {
  const { who } = useStore(session);
  return (
    <div class="signed-in">
      {who !== undefined && (
        <span class="who" title={`Signed in as ${who}`}>
          {who}
        </span>
      )}
      <button type="button" class="quiet" onClick={() => void session.signOut()}>
        Sign out
      </button>
    </div>
  );
}

/** What waits goes on once somebody has signed in, in a window beside; nothing is lost meanwhile. */
export function SignInAgain({ session }: { session: Session }) {
  const { ended, refused } = useStore(session);
  if (!ended && !refused) return null;
  return (
    <div role="alert" class="sign-in-again">
      <p>
        {ended
          ? 'You have been signed out. What is on this page stays, and goes on once you are back.'
          : 'Your sign-in is not accepted here. Sign in again, or sign out to be somebody else.'}
      </p>
      <button type="button" onClick={session.signInAgain}>
        Sign in again
      </button>
    </div>
  );
}
